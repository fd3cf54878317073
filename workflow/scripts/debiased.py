"""Write the debiased accuracy on validation examples, and the accuracy on test examples."""

from script_log import logged

from abovechance.best.heldout import DEBIASED, heldout_estimates
from abovechance.core.tables import read_parts, read_table
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    params = snakemake.params
    tasks = zip(params.tasks, map(read_table, snakemake.input.tasks), strict=True)
    facts = {
        "seed": params.seed,
        "validation": params.heldout["validation"],
        "prompt_counts": params.heldout["prompt_counts"],
    }
    predictions = read_parts(snakemake.input.predictions)
    table = heldout_estimates(predictions, clusters_of(dict(tasks)), **facts)
    DEBIASED.write(table, snakemake.output[0], facts)
