"""Write how well each baseline foresees held-out results."""

from script_log import logged

from abovechance.chance.agreement import NEEDED, OF_GUESSERS, heldout_tables
from abovechance.core.tables import read_columns
from abovechance.shown.tables import write_all

with logged(snakemake):
    outcomes = read_columns(snakemake.input.outcomes, NEEDED)
    guessers = read_columns(snakemake.input.guessers, OF_GUESSERS)
    write_all(heldout_tables(outcomes, guessers), snakemake.output)
