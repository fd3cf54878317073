"""Draw what the random baselines are where."""

from pathlib import Path

from script_log import logged

from abovechance.shown import style
from abovechance.shown.baselines import LANDSCAPES

with logged(snakemake):
    for name in snakemake.params.names:
        numbers, draw = LANDSCAPES[name]
        plotted = numbers()
        style.save(draw(plotted), plotted, Path(snakemake.output[0]).parent / name)
