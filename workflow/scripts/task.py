"""Write one task as a table."""

from pathlib import Path

from script_log import logged

from abovechance.study.bigbench import read_bigbench
from abovechance.study.downloads import check_sha256
from abovechance.study.everyday import everyday_task
from abovechance.study.formats import apply_format
from abovechance.study.invented import invented_task
from abovechance.study.own_tasks import read_own
from abovechance.study.task_sources import BIGBENCH, EVERYDAY, INVENTED
from abovechance.study.tasks import TASKS

with logged(snakemake):
    origin, form = snakemake.params.origin, snakemake.params.format
    source = Path(snakemake.input.get("source") or origin)
    makers = {INVENTED: invented_task, EVERYDAY: everyday_task}
    if origin in makers:
        table = makers[origin]()
    elif origin == BIGBENCH:
        if snakemake.params.pinned:
            check_sha256(source, snakemake.params.pinned)
        table = read_bigbench(source, snakemake.params.name)
    else:
        table = read_own(source)
    table = apply_format(table, form, f"task '{snakemake.wildcards.task}'")
    TASKS.write(table, snakemake.output.table, {"source": source.name, "format": form})
