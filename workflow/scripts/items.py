"""Write which examples of a task tell models apart, and what fewer of them cost."""

from pathlib import Path

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
        rows
        for path in files.predictions
        for rows in read_parts(Path(path))
        if str(rows["task"].iloc[0]) == task
    ]
    predictions = pd.concat(parts, ignore_index=True).astype({"example": str})
    known = [read_table(Path(path)) for path in files.features]
    features = known[0][known[0]["task"] == task] if known else EXAMPLE_FEATURES.together([])
    (matrix,) = matrices(predictions.rename(columns={"correct": "score"}))
    found = analyse(
        matrix,
        predictions.groupby("example")["chance"].mean().to_dict(),
        features,
        Study(
            groups=params.groups,
            series=params.series,
            examples=tuple(params.asked["examples"]),
            repeats=params.asked["repeats"],
            replays=params.asked["replays"],
            seed=params.seed,
        ),
    )
    for schema in TABLES:
        schema.write(found[schema.name], Path(snakemake.output[schema.name]), {})
