"""Write which examples every prompt of the study gets right, and the prompts' accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.results.accuracy import writing_results
from abovechance.results.predictions import predict

with logged(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    facts = {"normalization": params.normalization}
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    nothing = (
        "all prompts of all settings are longer than their model's context; right would be fewer shots, "
        "shorter examples or another model"
    )
    with writing_results(Path(output.predictions), Path(output.accuracy), facts, nothing=nothing) as write:
        for setting, path in zip(map(Setting._make, params.settings), files.scores, strict=True):
            predictions = predict(read_table(Path(path)), tasks[setting.task], **facts)
            if not predictions.empty:  # else all its prompts were left out
                write(setting.label(predictions))
