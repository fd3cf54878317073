"""Write what the best prompt on validation reaches on held-out test."""

from pathlib import Path

from script_log import logged

from abovechance.chance.heldout import OUTCOMES, all_outcomes
from abovechance.core.tables import read_parts

with logged(snakemake):
    facts = {"seed": snakemake.params.seed, **snakemake.params.heldout}
    table = all_outcomes(read_parts(Path(snakemake.input.predictions)), **facts)
    OUTCOMES.write(table, Path(snakemake.output[0]), facts)
