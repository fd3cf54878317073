"""Write how well each baseline foresees held-out results."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.shown.tables import heldout_tables, write_all

with logged(snakemake):
    tables = (read_table(Path(path)) for path in (snakemake.input.outcomes, snakemake.input.guessers))
    write_all(heldout_tables(*tables), snakemake.output)
