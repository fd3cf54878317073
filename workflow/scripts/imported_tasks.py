"""Write the choices of the examples in imported results, as tasks that guessers read."""

from pathlib import Path

from script_log import logged

from abovechance.results.imported import imported_tasks, read_imported
from abovechance.study.tasks import TASKS

with logged(snakemake):
    source = Path(snakemake.input.predictions)
    tasks = imported_tasks(read_imported(source))
    for name, path in zip(snakemake.params.tasks, snakemake.output, strict=True):
        TASKS.write(tasks[name], path, {"predictions": source.name})
