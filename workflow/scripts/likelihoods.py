"""Write the log-likelihoods of all scored choices as one table."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.results.likelihoods import LIKELIHOODS, of_scores
from abovechance.scoring.store import read_requested

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    evaluated = dict(zip(params.tasks, map(read_table, files.evaluation_sets), strict=True))
    with LIKELIHOODS.writing_parts(snakemake.output[0], {}) as write:
        settings = map(Setting._make, params.settings)
        for setting, path, prompts in zip(settings, files.scores, files.prompts, strict=True):
            task = tasks[setting.task]
            scores = read_requested(Path(path), task, evaluated[setting.task], Path(prompts))
            write(setting.label(of_scores(scores, task)))
