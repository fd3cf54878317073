"""Write what the best prompt on validation reaches on held-out test."""

from script_log import logged

from abovechance.chance.heldout import OUTCOMES, all_outcomes
from abovechance.core.tables import read_parts

with logged(snakemake):
    facts = {"seed": snakemake.params.seed, **snakemake.params.heldout}
    table = all_outcomes(read_parts(snakemake.input.predictions), **facts)
    OUTCOMES.write(table, snakemake.output[0], facts)
