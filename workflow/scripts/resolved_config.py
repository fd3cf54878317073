"""Write the resolved config, and delete the results of an earlier one."""

from pathlib import Path

from script_log import logged

from abovechance.core.files import write_text
from abovechance.results.outdated import delete_outdated
from abovechance.study.config_file import text_of

with logged(snakemake):
    config = Path(snakemake.output[0])
    results, inputs = (map(Path, files) for files in (snakemake.params.results, snakemake.params.inputs))
    for path in delete_outdated(config.parent, results, inputs):
        print(f"{path}: is of an earlier config, and deleted")
    write_text(text_of(snakemake.params.config), config)
