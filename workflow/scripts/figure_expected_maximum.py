"""Draw the expected best accuracy by number of prompts, for one model."""

from pathlib import Path

from job import logged

from abovechance import figures, style
from abovechance.archive import read_table

with logged(snakemake):
    accuracy = read_table(Path(snakemake.input.accuracy))
    numbers = figures.expected_maximum_numbers(accuracy[accuracy["model"] == snakemake.wildcards.model])
    style.save(figures.expected_maximum(numbers), numbers, Path(snakemake.output.png).with_suffix(""))
