"""Write the tables of which examples tell models apart, and of what fewer of them cost."""

from script_log import logged

import pandas as pd

from abovechance.core.tables import read_table, read_tables
from abovechance.items import of_task, summary
from abovechance.items.features import EXAMPLE_FEATURES
from abovechance.shown.tables import write_all

with logged(snakemake):
    files = snakemake.input
    items, steps = read_tables(files.item_list), read_tables(files.item_pruning)
    costs, adaptive = read_tables(files.smaller_benchmarks), read_tables(files.adaptive)
    features = EXAMPLE_FEATURES.together(map(read_table, files.features))
    mislabelled = pd.concat([pd.DataFrame(), *map(read_table, files.mislabelled)])
    tables = [
        (summary.TASKS, read_tables(files.item_tasks)),
        (of_task.ITEMS, items),
        (summary.NEGATIVE, summary.negative(items, features, mislabelled)),
        (of_task.ITEM_ASSOCIATIONS, read_tables(files.item_associations)),
        (of_task.ITEM_FIT, read_tables(files.item_fit)),
        (summary.PRUNING, summary.pruned(steps)),
        (summary.STEPS, steps),
        (summary.SMALLER_BENCHMARKS, summary.smaller(costs)),
        (summary.BY_TASK, costs),
        (summary.DECISIONS, summary.adaptive(adaptive)),
        (summary.DECISIONS_BY_TASK, adaptive),
    ]
    write_all(tables, snakemake.output)
