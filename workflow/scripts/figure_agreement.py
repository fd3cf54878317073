"""Draw ROC and precision-recall curves of both baselines as predictors."""

from pathlib import Path

from script_log import logged

from abovechance.chance.agreement import agreement, curves, most_prompts
from abovechance.core.tables import read_table
from abovechance.shown import style
from abovechance.shown.roc import agreement_curves

with logged(snakemake):
    outcomes = most_prompts(read_table(Path(snakemake.input.outcomes)))
    numbers = curves(outcomes)
    figure = agreement_curves(numbers, agreement(outcomes, []))
    style.save(figure, numbers, Path(snakemake.output.png).with_suffix(""))
