"""Draw the paper's figures of the released predictions."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.published import figures
from abovechance.published.release import Release
from abovechance.shown import style

with logged(snakemake):
    accuracy = read_tables(snakemake.input.accuracy)
    outcomes = Release(Path(snakemake.input.release)).outcomes()
    if outcomes.empty:
        outcomes = read_tables(snakemake.input.outcomes)
    params = snakemake.params
    style.save_all(figures.draw(accuracy, outcomes, params.illustrated, params.pairs), snakemake.output)
