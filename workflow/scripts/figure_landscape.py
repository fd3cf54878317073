"""Draw what the random baselines are where."""

from pathlib import Path

from abovechance.shown import style
from abovechance.shown.baselines import LANDSCAPES
from logs import logged

with logged(snakemake):
    for name in snakemake.params.names:
        numbers, draw = LANDSCAPES[name]
        plotted = numbers()
        style.save(draw(plotted), plotted, Path(snakemake.output[0]).parent / name)
