"""Write the resolved config."""

from pathlib import Path

from script_log import logged

import yaml

from abovechance.core.files import write_text

with logged(snakemake):
    text = yaml.safe_dump(snakemake.params.config, sort_keys=False, allow_unicode=True)
    write_text(text, Path(snakemake.output[0]))
