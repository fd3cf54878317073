"""Write one task as a table."""

from pathlib import Path

from script_log import logged

from abovechance.study.bigbench import read_bigbench
from abovechance.study.downloads import check_sha256
from abovechance.study.formats import put
from abovechance.study.own_tasks import read_own
from abovechance.study.tasks import TASKS

with logged(snakemake):
    source = Path(snakemake.input.source)
    if not snakemake.params.bigbench:
        table = read_own(source)
    else:
        if snakemake.params.pinned:
            check_sha256(source, snakemake.params.pinned)
        table = read_bigbench(source, snakemake.wildcards.task)
    form = snakemake.params.format
    table = put(table, form, f"task '{snakemake.wildcards.task}'")
    TASKS.write(table, Path(snakemake.output.table), {"source": source.name, "format": form})
