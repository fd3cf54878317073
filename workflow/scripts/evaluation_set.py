"""Write which examples of a task are evaluated."""

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.study.prompts import EVALUATION_SETS, evaluation_set

with logged(snakemake):
    facts = {"seed": snakemake.params.seed, "max_examples": snakemake.params.max_examples}
    table = evaluation_set(read_table(snakemake.input.task), snakemake.params.name, **facts)
    EVALUATION_SETS.write(table, snakemake.output.table, facts)
