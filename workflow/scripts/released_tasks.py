"""Write the tasks of a release as its predictions have them."""

from pathlib import Path

from script_log import logged

from abovechance.published.pools import pooled_task
from abovechance.published.release import Release
from abovechance.study.bigbench import read_bigbench_tasks
from abovechance.study.downloads import check_sha256
from abovechance.study.tasks import TASKS

with logged(snakemake):
    source = Path(snakemake.input.source)
    if snakemake.params.pinned:
        check_sha256(source, snakemake.params.pinned)
    release = Release(Path(snakemake.input.release))
    tasks = read_bigbench_tasks(source, snakemake.params.tasks)
    for (name, task), path in zip(tasks.items(), snakemake.output, strict=True):
        TASKS.write(pooled_task(task, release.sample(name)), path, {"source": source.name})
