"""Write the table of how accurate models are behind demonstrations that are hard for them."""

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.pvi.hard_demonstrations import PVI_DEMONSTRATIONS
from abovechance.shown.tables import write_all

with logged(snakemake):
    write_all([(PVI_DEMONSTRATIONS, read_tables(snakemake.input))], snakemake.output)
