"""Write the tables that show the same model in two precisions."""

from script_log import logged

from abovechance.core.files import read_csv
from abovechance.core.tables import read_tables
from abovechance.shown.tables import precision_settings, precision_summary, write_all

with logged(snakemake):
    verdicts = read_csv(snakemake.input.verdicts)
    accuracy = read_tables(snakemake.input.accuracy)
    settings = precision_settings(verdicts, accuracy, snakemake.params.pairs)
    summary = precision_summary(settings)
    write_all({"precision_summary": summary, "precision_settings": settings}, snakemake.output)
