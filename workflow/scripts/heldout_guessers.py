"""Write what the best of random guessers on validation reaches on held-out test."""

from pathlib import Path

from script_log import logged

from abovechance.chance.heldout import GUESSERS, guessed_outcomes
from abovechance.core.tables import count_parts, read_parts

# A small study's guessers are drawn several times, so that luck shows less.
SETTINGS = 200

with logged(snakemake):
    predictions = Path(snakemake.input.predictions)
    facts = {
        "seed": snakemake.params.seed,
        "sets": max(1, SETTINGS // count_parts(predictions)),
        **snakemake.params.heldout,
    }
    table = guessed_outcomes(lambda: read_parts(predictions), **facts)
    GUESSERS.write(table, Path(snakemake.output[0]), facts)
