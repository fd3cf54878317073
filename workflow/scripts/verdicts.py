"""Write one verdict a setting."""

from pathlib import Path

from script_log import logged

from abovechance.chance.randomization import for_verdicts
from abovechance.chance.verdicts import verdicts
from abovechance.core.files import write_csv
from abovechance.core.settings import SETTING
from abovechance.core.tables import read_table

with logged(snakemake):
    table = verdicts(read_table(Path(snakemake.input.accuracy)))
    if snakemake.input.randomization:
        tested = for_verdicts(read_table(Path(snakemake.input.randomization)))
        table = table.merge(tested, on=SETTING, how="left")
    write_csv(table, Path(snakemake.output[0]))
