"""Write one verdict a setting."""

from pathlib import Path

from job import logged

from abovechance.accuracy import SETTING
from abovechance.archive import read_table, write_csv
from abovechance.randomization import by_setting
from abovechance.verdicts import verdicts

with logged(snakemake):
    table = verdicts(read_table(Path(snakemake.input.accuracy)))
    if snakemake.input.randomization:
        tested = by_setting(read_table(Path(snakemake.input.randomization)))
        table = table.merge(tested, on=SETTING, how="left")
    write_csv(table, Path(snakemake.output[0]))
