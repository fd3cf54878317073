"""Write how well each baseline foresees held-out results."""

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.shown.tables import heldout_tables, write_all

with logged(snakemake):
    outcomes, guessers = read_tables(snakemake.input.outcomes), read_tables(snakemake.input.guessers)
    write_all(heldout_tables(outcomes, guessers), snakemake.output)
