"""Write where the answers of models with several seeds vary."""

from script_log import logged

import pandas as pd

from abovechance.compare.study import SEEDS, of_seeds
from abovechance.core.tables import read_parts, read_table
from abovechance.shown.tables import write_all
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    trainings = {model: (name, seed) for model, (name, seed) in snakemake.params.trainings.items()}
    parts = [
        rows
        for path in snakemake.input.predictions
        for rows in read_parts(path)
        if str(rows["model"].iloc[0]) in trainings
    ]
    tasks = zip(snakemake.params.tasks, map(read_table, snakemake.input.tasks), strict=True)
    table = of_seeds(pd.concat(parts, ignore_index=True), trainings, clusters_of(dict(tasks)))
    write_all([(SEEDS, table)], snakemake.output)
