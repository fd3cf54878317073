"""Draw all results of a base model and of the one that was tuned from it."""

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.published import figures
from abovechance.shown import style

with logged(snakemake):
    accuracy = read_tables(snakemake.input.accuracy)
    base, tuned = snakemake.wildcards.model, snakemake.params.tuned
    style.save_all(figures.draw_pair(accuracy, base, tuned), snakemake.output)
