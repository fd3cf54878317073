"""Write the log-likelihoods of all scored choices as one table."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.results.likelihoods import LIKELIHOODS, of_scores

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    with LIKELIHOODS.writing_parts(Path(snakemake.output[0]), {}) as write:
        for setting, path in zip(map(Setting._make, params.settings), files.scores, strict=True):
            write(setting.label(of_scores(read_table(Path(path)), tasks[setting.task])))
