"""Write the tables of what PVI says of settings, prompts and examples."""

from script_log import logged

import pandas as pd

from abovechance.core.settings import SETTING
from abovechance.core.tables import read_table, read_tables
from abovechance.pvi import examples, overview, pairs, runs
from abovechance.pvi.table import labels_of
from abovechance.shown.tables import write_all
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    files = snakemake.input
    tasks = dict(zip(snakemake.params.tasks, map(read_table, files.tasks), strict=True))
    inputs = examples.inputs_of(tasks)
    clusters = clusters_of(tasks)
    labels = {name: labels_of(task) for name, task in tasks.items()}
    example_tables, prompts = read_tables(files.examples), read_tables(files.prompts)
    compared = [
        read_tables(files.pairs),
        pairs.of_models(examples.of_models(example_tables), clusters, labels),
    ]
    comparisons = pd.concat([table for table in compared if len(table)] or compared[:1], ignore_index=True)
    of_settings = read_tables(files.settings)
    of_sets = {name: name.removeprefix("sets_") for name in of_settings if name.startswith("sets_")}
    tables = [
        (overview.SHOWN, of_settings[[*overview.SHOWN.columns]]),
        (runs.TAILS, runs.tails(prompts)),
        (pairs.CONSISTENCY, pairs.consistency(comparisons)),
        (pairs.PVI_PAIRS, comparisons),
        (overview.EXEMPLAR_SETS, of_settings[[*SETTING, "prompts", *of_sets]].rename(columns=of_sets)),
        (runs.ANOVA, runs.anova(prompts, snakemake.params.nested)),
        (examples.HARDEST, examples.hardest(example_tables, inputs)),
        (examples.MISLABELLED, examples.mislabelled(example_tables, inputs)),
        (examples.ANNOTATIONS, examples.by_agreement(example_tables, inputs)),
    ]
    write_all(tables, snakemake.output)
