"""Write the verdicts, and how many there are of each, as tables that people read."""

from script_log import logged

import pandas as pd

from abovechance.shown.tables import verdict_counts, write_all

with logged(snakemake):
    verdicts = pd.read_csv(snakemake.input.verdicts)
    counts = verdict_counts(verdicts, ["model", "shots"])
    write_all({"verdicts": verdicts, "verdict_counts": counts}, snakemake.output)
