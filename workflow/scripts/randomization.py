"""Write how probable the prompts' accuracies are when gold answers are drawn anew."""

from script_log import logged

from abovechance.chance.randomization import RANDOMIZATION, randomize
from abovechance.core.tables import read_parts, read_table

with logged(snakemake):
    params = snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, snakemake.input.tasks), strict=True))
    tables = [
        randomize(predictions, tasks[predictions["task"].iloc[0]], params.seed, params.draws)
        for predictions in read_parts(snakemake.input.predictions)
    ]
    facts = {"seed": params.seed, "draws": params.draws}
    RANDOMIZATION.write(RANDOMIZATION.together(tables), snakemake.output[0], facts)
