"""Write the resolved config."""

from pathlib import Path

from script_log import logged

from abovechance.core.files import write_text
from abovechance.study.config_file import text_of

with logged(snakemake):
    write_text(text_of(snakemake.params.config), Path(snakemake.output[0]))
