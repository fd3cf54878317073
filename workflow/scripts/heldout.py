"""Write what the best prompt on validation reaches on held-out test."""

from pathlib import Path

from script_log import logged

from abovechance.chance.heldout import all_outcomes
from abovechance.core.tables import read_parts, write_table

with logged(snakemake):
    facts = {"seed": snakemake.params.seed, **snakemake.params.heldout}
    table = all_outcomes(read_parts(Path(snakemake.input.predictions)), **facts)
    write_table(table, "outcomes", Path(snakemake.output[0]), facts)
