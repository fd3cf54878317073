"""Draw what the random baselines are where."""

from script_log import logged

from abovechance.shown import style
from abovechance.shown.baselines import drawn

with logged(snakemake):
    style.save_all(drawn(), snakemake.output)
