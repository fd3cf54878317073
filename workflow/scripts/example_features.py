"""Write what the examples of tasks are like."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_table
from abovechance.items.features import EXAMPLE_FEATURES, features

with logged(snakemake):
    files, names = map(Path, snakemake.input.tasks), snakemake.params.tasks
    table = features(dict(zip(names, map(read_table, files), strict=True)))
    EXAMPLE_FEATURES.write(table, snakemake.output[0], {})
