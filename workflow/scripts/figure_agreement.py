"""Draw ROC and precision-recall curves of both baselines as predictors."""

from pathlib import Path

from job import logged

from abovechance import figures, style
from abovechance.archive import read_table
from abovechance.heldout import agreement, curves, most_prompts

with logged(snakemake):
    outcomes = most_prompts(read_table(Path(snakemake.input.outcomes[0])))
    numbers = curves(outcomes)
    figure = figures.agreement_curves(numbers, agreement(outcomes, []))
    style.save(figure, numbers, Path(snakemake.output.png).with_suffix(""))
