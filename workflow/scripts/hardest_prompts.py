"""Write prompts whose demonstrations are hard for a model."""

import sys
from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.pvi.hard_demonstrations import hardest_of_labels
from abovechance.pvi.table import of_scores
from abovechance.results.predictions import predict
from abovechance.scoring.store import both_scored
from abovechance.study.formats import shared_labels
from abovechance.study.prompts import BALANCED, PROMPTS, draw_prompts

with logged(snakemake) as log:
    files, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    task = read_table(files.task)
    training = read_table(files.training_set)
    paths = (map(Path, group) for group in (files.scores, files.null_scores, files.prompts))
    tables = [both_scored(*scored, task, training) for scored in zip(*paths, strict=True)]
    pvi = [
        of_scores(scores, null, task, predict(scores, task), params.over)
        for scores, null in tables
        if not scores.empty
    ]
    labels = shared_labels(task, f"task '{wildcards.task}'", "balanced demonstrations")
    hard = hardest_of_labels(pvi, least=params.most_shots // len(labels)) if pvi else set()
    if not pvi:
        message = (
            f"{wildcards.model}, {wildcards.task}, {wildcards.shots}-shot: no demonstrations are called "
            "hard, because all prompts on training examples are too long"
        )
        log.info(message)
        print(f"  {message}", file=sys.stderr, flush=True)
    # what is hard may be shown, and none of it is evaluated
    evaluation = training.assign(evaluated=False)
    evaluation["demonstration"] = evaluation["example"].isin(hard) if hard else training["evaluated"]
    shots = int(wildcards.shots)
    table = draw_prompts(task, evaluation, wildcards.task, params.seed, shots, params.prompts, BALANCED)
    PROMPTS.write(table, snakemake.output.table, {"seed": params.seed, "hardest": len(hard)})
