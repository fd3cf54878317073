"""Write how much of each setting's best accuracy is luck."""

from script_log import logged

from abovechance.best.study import SELECTION, selected
from abovechance.core.tables import read_parts, read_table
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    params = snakemake.params
    tasks = zip(params.tasks, map(read_table, snakemake.input.tasks), strict=True)
    table = selected(read_parts(snakemake.input.predictions), clusters_of(dict(tasks)), params.seed)
    SELECTION.write(table, snakemake.output[0], {"seed": params.seed})
