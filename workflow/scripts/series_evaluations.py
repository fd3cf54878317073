"""Write the scores of a study's series as evaluations of seeds and checkpoints."""

from script_log import logged

from abovechance.core.tables import read_tables
from abovechance.variance.evaluations import EVALUATIONS
from abovechance.variance.study import evaluations

with logged(snakemake):
    table = evaluations(read_tables(snakemake.input), snakemake.params.series)
    EVALUATIONS.write(table, snakemake.output[0], {})
