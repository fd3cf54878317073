"""Write the tables that show the same model in two precisions."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.core.tables import read_table
from abovechance.shown.tables import precision_settings, precision_summary, write

with logged(snakemake):
    settings = precision_settings(
        pd.read_csv(snakemake.input.verdicts[0]),
        read_table(Path(snakemake.input.accuracy)),
        snakemake.params.pairs,
    )
    folder = Path(snakemake.output[0]).parent
    write(precision_summary(settings), folder / "precision_summary")
    write(settings, folder / "precision_settings")
