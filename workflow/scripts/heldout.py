"""Write what the best prompt on validation reaches on held-out test."""

from pathlib import Path

from job import logged

from abovechance.archive import read_parts, write_table
from abovechance.heldout import all_outcomes

with logged(snakemake):
    facts = {"seed": snakemake.params.seed, **snakemake.params.heldout}
    table = all_outcomes(read_parts(Path(snakemake.input.predictions)), **facts)
    write_table(table, "outcomes", Path(snakemake.output[0]), facts)
