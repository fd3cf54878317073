"""Write which examples of a task tell models apart, and what fewer of them cost."""

from script_log import logged

import pandas as pd

from abovechance.core.tables import read_parts, read_table
from abovechance.items.features import EXAMPLE_FEATURES
from abovechance.items.matrices import matrices
from abovechance.items.of_task import TABLES, Study, analyse

with logged(snakemake):
    files, params = snakemake.input, snakemake.params
    task = params.task
    parts = [
        rows for path in files.predictions for rows in read_parts(path) if str(rows["task"].iloc[0]) == task
    ]
    predictions = pd.concat(parts, ignore_index=True).astype({"example": str})
    tables = [read_table(path) for path in files.features]
    features = tables[0][tables[0]["task"] == task] if tables else EXAMPLE_FEATURES.together([])
    (matrix,) = matrices(predictions.rename(columns={"correct": "score"}))
    analysis = analyse(
        matrix,
        predictions.groupby("example")["chance"].mean().to_dict(),
        features,
        Study(
            groups=params.groups,
            series=params.series,
            examples=tuple(params.options["examples"]),
            repeats=params.options["repeats"],
            replays=params.options["replays"],
            seed=params.seed,
        ),
    )
    for schema in TABLES:
        schema.write(analysis[schema.name], snakemake.output[schema.name], {})
