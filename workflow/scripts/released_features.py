"""Write what the examples of a release are like."""

from pathlib import Path

from script_log import logged

from abovechance.items.features import EXAMPLE_FEATURES, features
from abovechance.study.bigbench import read_bigbench_tasks
from abovechance.study.downloads import check_sha256

with logged(snakemake):
    source = Path(snakemake.input.source)
    if snakemake.params.pinned:
        check_sha256(source, snakemake.params.pinned)
    table = features(read_bigbench_tasks(source, snakemake.params.tasks), numbers_alone=True)
    EXAMPLE_FEATURES.write(table, snakemake.output[0], {"source": source.name})
