"""Write which models are better than which."""

from pathlib import Path

from script_log import logged

from abovechance.compare.study import of_study, responses_of_study
from abovechance.core.tables import read_table
from abovechance.shown.tables import write_all
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    clusters = clusters_of(tasks)
    compared = {model: (name, seed) for model, (name, seed) in params.compared.items()}
    responses = responses_of_study(map(Path, files.predictions), clusters, compared)
    write_all(of_study(responses), snakemake.output)
