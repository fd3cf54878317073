"""Write which simple guessers each setting's best prompt beats."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting
from abovechance.core.tables import read_parts, read_table
from abovechance.ladder.climbing import LADDER
from abovechance.ladder.study import ladders
from abovechance.results.predictions import predict

with logged(snakemake):
    params, files = snakemake.params, snakemake.input
    settings = [*map(Setting._make, params.settings)]
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    paths = dict(zip(settings, map(Path, files.get("prompts") or []), strict=True))
    prompts = {(setting.task, setting.shots): read_table(path) for setting, path in paths.items()}
    null_files = dict(zip(settings, map(Path, files.null_scores), strict=False))
    evaluated = dict(zip(params.tasks, map(Path, files.evaluation_sets), strict=False))

    def null_predictions(setting):
        """Return the predictions of null-target prompts, if the study has them."""
        if setting not in null_files:
            return None
        from abovechance.scoring.store import read_requested  # not part of an installation without scoring

        task, evaluation = tasks[setting.task], read_table(evaluated[setting.task])
        scores = read_requested(null_files[setting], task, evaluation, paths[setting])
        return predict(scores, task, params.normalization)

    table = ladders(read_parts(files.predictions), tasks, prompts, params.seed, null_predictions)
    LADDER.write(table, snakemake.output[0], {"seed": params.seed})
