"""Write what the best of random guessers on validation reaches on held-out test."""

from pathlib import Path

from script_log import logged

from abovechance.chance.heldout import GUESSERS, guessed_outcomes
from abovechance.core.tables import read_parts, read_table
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    predictions = Path(snakemake.input.predictions)
    params = snakemake.params
    clusters = clusters_of(dict(zip(params.tasks, map(read_table, snakemake.input.tasks), strict=True)))
    facts = {"seed": params.seed, "sets": params.sets, **params.heldout}
    table = guessed_outcomes(lambda: read_parts(predictions), clusters=clusters, **facts)
    GUESSERS.write(table, snakemake.output[0], facts)
