"""Write the tables that show the same model in two precisions."""

from script_log import logged

from abovechance.chance.precisions import (
    PRECISION_SETTINGS,
    PRECISION_SUMMARY,
    precision_settings,
    precision_summary,
)
from abovechance.core.tables import read_table, read_tables
from abovechance.shown.tables import write_all

with logged(snakemake):
    verdicts = read_table(snakemake.input.verdicts)
    accuracy = read_tables(snakemake.input.accuracy)
    settings = precision_settings(verdicts, accuracy, snakemake.params.pairs)
    summary = precision_summary(settings)
    write_all([(PRECISION_SUMMARY, summary), (PRECISION_SETTINGS, settings)], snakemake.output)
