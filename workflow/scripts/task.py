"""Write one task as a table."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import write_table
from abovechance.study.downloads import check_sha256
from abovechance.study.tasks import read_bigbench, read_own

with logged(snakemake):
    source = Path(snakemake.input.source)
    if not snakemake.params.bigbench:
        table = read_own(source)
    else:
        if snakemake.params.pinned:
            check_sha256(source, snakemake.params.pinned)
        table = read_bigbench(source, snakemake.wildcards.task)
    write_table(table, "tasks", Path(snakemake.output.table), {"source": source.name})
