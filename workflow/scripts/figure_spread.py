"""Draw the accuracies of all prompts with both baselines."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table, read_tables
from abovechance.shown import style
from abovechance.shown.spread import spread, spread_numbers

with logged(snakemake):
    verdicts = read_table(snakemake.input.verdicts)
    numbers = spread_numbers(read_tables(snakemake.input.accuracy), verdicts)
    style.save(spread(numbers), numbers, Path(snakemake.output.png).with_suffix(""))
