"""Write what the best of random guessers on validation reaches on held-out test."""

from pathlib import Path

from script_log import logged

from abovechance.chance.heldout import GUESSERS, guessed_outcomes
from abovechance.core.tables import read_parts

with logged(snakemake):
    predictions = Path(snakemake.input.predictions)
    facts = {
        "seed": snakemake.params.seed,
        "sets": snakemake.params.sets,
        **snakemake.params.heldout,
    }
    table = guessed_outcomes(lambda: read_parts(predictions), **facts)
    GUESSERS.write(table, snakemake.output[0], facts)
