"""Write which examples every prompt of a model gets right, and the prompts' accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting
from abovechance.core.tables import read_made_from, read_table
from abovechance.results.accuracy import writing_results
from abovechance.results.predictions import predict
from abovechance.scoring.stored import made_from

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    predictions, accuracy = ({params.model: Path(path)} for path in snakemake.output)
    facts = {"normalization": params.normalization}
    told = {"name": params.model, **facts, **made_from(map(read_made_from, map(Path, files.scores)))}
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    with writing_results(predictions, accuracy, told) as write:
        for setting, path in zip(map(Setting._make, params.settings), files.scores, strict=True):
            found = predict(read_table(Path(path)), tasks[setting.task], **facts)
            if not found.empty:  # else all its prompts were left out
                write(setting.label(found))
