"""Write the tables that people read."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.core.tables import read_table
from abovechance.shown.tables import heldout_tables, verdict_counts, write

with logged(snakemake):
    verdicts = pd.read_csv(snakemake.input.verdicts[0])
    tables = {
        "verdicts": verdicts,
        "verdict_counts": verdict_counts(verdicts, ["model", "shots"]),
        **heldout_tables(read_table(Path(snakemake.input.outcomes[0]))),
    }
    for name, table in tables.items():
        write(table, Path(snakemake.output[0]).parent / name)
