"""Write one verdict per setting, with what other analyses add to it."""

from pathlib import Path

from script_log import logged

from abovechance.chance.randomization import for_verdicts
from abovechance.chance.verdicts import verdicts
from abovechance.core.files import write_csv
from abovechance.core.settings import SETTING
from abovechance.core.tables import read_table

with logged(snakemake):
    table = verdicts(read_table(Path(snakemake.input.accuracy)))
    for path in snakemake.input.beside:
        table = table.merge(for_verdicts(read_table(Path(path))), on=SETTING, how="left")
    write_csv(table, Path(snakemake.output[0]))
