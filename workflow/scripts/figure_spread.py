"""Draw the accuracies of all prompts with both baselines."""

from pathlib import Path

import pandas as pd
from job import logged

from abovechance import figures, style
from abovechance.archive import read_table

with logged(snakemake):
    verdicts = pd.read_csv(snakemake.input.verdicts[0])
    numbers = figures.spread_numbers(read_table(Path(snakemake.input.accuracy)), verdicts)
    style.save(figures.spread(numbers), numbers, Path(snakemake.output.png).with_suffix(""))
