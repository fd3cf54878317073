"""Write which examples are scored to find hard ones."""

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.study.prompts import EVALUATION_SETS, training_set

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    task, evaluation = read_table(files.task), read_table(files.evaluation_set)
    table = training_set(task, evaluation, params.name, params.seed, params.examples, params.most_shots)
    facts = {"seed": params.seed, "training_examples": params.examples}
    EVALUATION_SETS.write(table, snakemake.output.table, facts)
