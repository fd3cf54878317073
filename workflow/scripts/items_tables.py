"""Write the tables of which examples tell models apart, and of what fewer of them cost."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.core.files import read_csv
from abovechance.core.tables import read_table, read_tables
from abovechance.items import summary
from abovechance.items.features import EXAMPLE_FEATURES
from abovechance.shown.tables import write_all

with logged(snakemake):
    files = snakemake.input
    items, steps = read_tables(files.item_list), read_tables(files.item_pruning)
    costs, adaptive = read_tables(files.smaller_benchmarks), read_tables(files.adaptive)
    features = EXAMPLE_FEATURES.together(map(read_table, map(Path, files.features)))
    mislabelled = pd.concat([pd.DataFrame(), *map(read_csv, files.mislabelled)])
    tables = {
        "items": read_tables(files.item_tasks),
        "item_list": items,
        "item_negative": summary.negative(items, features, mislabelled),
        "item_associations": read_tables(files.item_associations),
        "item_fit": read_tables(files.item_fit),
        "item_pruning": summary.pruned(steps),
        "item_pruning_steps": steps,
        "smaller_benchmarks": summary.smaller(costs),
        "smaller_benchmarks_by_task": costs,
        "adaptive": summary.adaptive(adaptive),
        "adaptive_by_task": adaptive,
    }
    write_all(tables, snakemake.output)
