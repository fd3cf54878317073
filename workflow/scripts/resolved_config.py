"""Write the resolved config, and delete the results of an earlier one."""

from pathlib import Path

from script_log import logged

from abovechance.core.files import write_text
from abovechance.study.config_file import text_of

with logged(snakemake):
    for path in map(Path, snakemake.params.outdated):
        print(f"{path}: is of an earlier config, and deleted")
        path.unlink(missing_ok=True)
    write_text(text_of(snakemake.params.config), Path(snakemake.output[0]))
