"""Draw the paper's figures of the released predictions."""

from pathlib import Path

from job import logged

from abovechance import showcase, style
from abovechance.archive import read_table
from abovechance.release import Release

with logged(snakemake):
    accuracy = read_table(Path(snakemake.input.accuracy))
    outcomes = Release(Path(snakemake.input.release)).outcomes()
    if outcomes.empty:
        outcomes = read_table(Path(snakemake.input.outcomes[0]))
    params = snakemake.params
    for name, figure, numbers in showcase.draw(accuracy, outcomes, params.illustrated, params.pairs):
        style.save(figure, numbers, Path(snakemake.output[0]).parent / name)
