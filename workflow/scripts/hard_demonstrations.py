"""Write how accurate a model is behind demonstrations that are hard for it, and behind others."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import read_made_from, read_parts, read_table
from abovechance.pvi.hard_demonstrations import PVI_DEMONSTRATIONS, compared
from abovechance.results.predictions import predict
from abovechance.scoring.store import read_requested

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    evaluated = dict(zip(params.tasks, map(read_table, files.evaluation_sets), strict=True))
    paths = zip(map(Path, files.scores), map(Path, files.prompts), strict=True)
    scored = dict(zip(map(Setting._make, params.settings), paths, strict=True))
    tables = []
    for predictions_part in read_parts(files.predictions):
        setting = setting_of(predictions_part)
        task = tasks[setting.task]
        path, prompts = scored[setting]
        scores = read_requested(path, task, evaluated[setting.task], prompts)
        hardest = predict(scores, task, params.normalization)
        # without hard ones, all prompts on training examples were left out
        if not hardest.empty and read_made_from(prompts)["hardest"]:
            tables.append(
                setting.label(compared(predictions_part, hardest, task.set_index("example")["cluster"]))
            )
    table = PVI_DEMONSTRATIONS.together(tables)
    PVI_DEMONSTRATIONS.write(table, snakemake.output[0], {"normalization": params.normalization})
