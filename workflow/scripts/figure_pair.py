"""Draw all results of a base model and of the one that was tuned from it."""

from pathlib import Path

from job import logged

from abovechance import showcase, style
from abovechance.archive import read_table

with logged(snakemake):
    accuracy = read_table(Path(snakemake.input.accuracy))
    for name, figure, numbers in showcase.draw_pair(
        accuracy, snakemake.wildcards.model, snakemake.params.tuned
    ):
        style.save(figure, numbers, Path(snakemake.output[0]).parent / name)
