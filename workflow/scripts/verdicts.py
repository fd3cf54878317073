"""Write one verdict a setting."""

from pathlib import Path

from job import logged

from abovechance.archive import read_table, write_csv
from abovechance.verdicts import verdicts

with logged(snakemake):
    write_csv(verdicts(read_table(Path(snakemake.input.accuracy))), Path(snakemake.output[0]))
