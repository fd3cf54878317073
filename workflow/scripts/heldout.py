"""Write what the best prompt on validation reaches on held-out test."""

from script_log import logged

from abovechance.chance.heldout import OUTCOMES, all_outcomes
from abovechance.core.tables import read_parts, read_table
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    params = snakemake.params
    tasks = dict(zip(params.get("tasks", []), map(read_table, snakemake.input.get("tasks", [])), strict=True))
    facts = {"seed": params.seed, **params.heldout}
    predictions = read_parts(snakemake.input.predictions)
    table = all_outcomes(predictions, clusters=clusters_of(tasks), **facts)
    OUTCOMES.write(table, snakemake.output[0], facts)
