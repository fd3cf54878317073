"""Draw the expected best accuracy by number of prompts, of one model."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.shown import style
from abovechance.shown.expected_maximum import expected_maximum, expected_maximum_numbers

with logged(snakemake):
    accuracy = read_table(snakemake.input.accuracy)
    numbers = expected_maximum_numbers(accuracy[accuracy["model"] == snakemake.params.model])
    style.save(expected_maximum(numbers), numbers, Path(snakemake.output.png).with_suffix(""))
