"""Write the PVI of every example under every prompt of a model."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import read_parts, read_table
from abovechance.information.table import PVI, of_scores

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    pairs = zip(files.scores, files.null_scores, strict=True)
    scores = dict(zip(map(Setting._make, params.settings), pairs, strict=True))
    with PVI.writing_parts(Path(snakemake.output[0]), {"over": params.over}) as write:
        for predictions in read_parts(Path(files.predictions)):
            setting = setting_of(predictions)
            found = (read_table(Path(path)) for path in scores[setting])
            write(setting.label(of_scores(*found, tasks[setting.task], predictions, params.over)))
