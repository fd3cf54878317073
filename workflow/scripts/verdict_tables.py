"""Write the verdicts, and how many there are of each, as tables that people read."""

from script_log import logged

from abovechance.core.files import read_csv
from abovechance.shown.tables import verdict_counts, write_all

with logged(snakemake):
    verdicts = read_csv(snakemake.input.verdicts)
    counts = verdict_counts(verdicts, ["model", "shots"])
    write_all({"verdicts": verdicts, "verdict_counts": counts}, snakemake.output)
