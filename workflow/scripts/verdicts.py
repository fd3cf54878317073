"""Write one verdict a setting."""

from pathlib import Path

from job import logged

from abovechance.archive import read_table, write_csv
from abovechance.verdicts import verdicts

with logged(snakemake):
    predictions = read_table(Path(snakemake.input.predictions))
    accuracy = read_table(Path(snakemake.input.accuracy))
    write_csv(verdicts(predictions, accuracy), Path(snakemake.output[0]))
