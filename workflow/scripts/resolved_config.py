"""Write the resolved config."""

from pathlib import Path

import yaml

from abovechance.core.files import write_text
from logs import logged

with logged(snakemake):
    text = yaml.safe_dump(snakemake.params.config, sort_keys=False, allow_unicode=True)
    write_text(text, Path(snakemake.output[0]))
