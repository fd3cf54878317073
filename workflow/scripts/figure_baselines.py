"""Draw what the random baselines are where."""

from script_log import logged

from abovechance.shown import style
from abovechance.shown.baselines import all_figures

with logged(snakemake):
    style.save_all(all_figures(), snakemake.output)
