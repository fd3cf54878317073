"""Draw ROC and precision-recall curves of both baselines as predictors."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.chance.agreement import (
    NEEDED,
    OF_GUESSERS,
    agreement,
    curves,
    most_prompts,
    with_ranks,
)
from abovechance.core.tables import read_columns
from abovechance.shown import style
from abovechance.shown.roc import agreement_curves

with logged(snakemake):
    outcomes = most_prompts(read_columns(snakemake.input.outcomes, NEEDED))
    guessers = most_prompts(read_columns(snakemake.input.guessers, OF_GUESSERS))
    parts = {"prompts": curves(outcomes), "guessers": curves(with_ranks(guessers))}
    numbers = pd.concat([part.assign(source=name) for name, part in parts.items()], ignore_index=True)
    figure = agreement_curves(numbers, agreement(outcomes, []))
    style.save(figure, numbers, Path(snakemake.output.png).with_suffix(""))
