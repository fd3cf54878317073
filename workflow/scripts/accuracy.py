"""Write which examples every prompt of a model gets right, and the prompts' accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting
from abovechance.core.tables import read_made_from, read_table
from abovechance.results.accuracy import writing_results
from abovechance.results.predictions import predict
from abovechance.scoring.store import read_requested
from abovechance.scoring.stored import made_from

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    settings = [*map(Setting._make, params.settings)]
    models = dict.fromkeys(setting.model for setting in settings)
    predictions, accuracy = (dict.fromkeys(models, Path(path)) for path in snakemake.output)
    facts = {"normalization": params.normalization}
    record = {**facts, "models": []}
    for model in models:
        setting_scores = zip(settings, files.scores, strict=True)
        scored_with = [read_made_from(path) for setting, path in setting_scores if setting.model == model]
        record["models"].append({"name": model, **made_from(scored_with)})
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    evaluated = dict(zip(params.tasks, map(read_table, files.evaluation_sets), strict=True))
    with writing_results(predictions, accuracy, record) as write:
        for setting, path, prompts in zip(settings, files.scores, files.prompts, strict=True):
            task = tasks[setting.task]
            scores = read_requested(Path(path), task, evaluated[setting.task], Path(prompts))
            predicted = predict(scores, task, **facts)
            if not predicted.empty:  # else all its prompts were left out
                write(setting.label(predicted))
