"""Write the settings of which prompts were left out as a table that people read."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.shown.tables import write_all

with logged(snakemake):
    table = read_table(Path(snakemake.input[0]))
    write_all({"left_out": table[table["left_out"] > 0]}, snakemake.output)
