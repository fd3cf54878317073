"""Write and draw which simple guessers the best prompts beat."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table, read_tables
from abovechance.ladder.climbing import LADDER
from abovechance.ladder.study import LADDER_GUESSERS, guesser_counts
from abovechance.shown import style
from abovechance.shown.ladder import ladder_figure, ladder_numbers
from abovechance.shown.tables import write_all

with logged(snakemake):
    ladder = read_tables(snakemake.input.ladder)
    counts = guesser_counts(ladder, read_table(snakemake.input.verdicts))
    write_all([(LADDER_GUESSERS, counts), (LADDER, ladder)], snakemake.output.tables)
    numbers = ladder_numbers(ladder)
    style.save(ladder_figure(numbers), numbers, Path(snakemake.output.figure[0]).with_suffix(""))
