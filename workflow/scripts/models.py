"""Write which models are better than which."""

from pathlib import Path

from script_log import logged

from abovechance.compare.study import MODEL_PAIRS, MODEL_RANKS, MODELS, of_study
from abovechance.core.tables import read_table, read_tables
from abovechance.shown.tables import write_all

with logged(snakemake):
    files = snakemake.input
    tasks = dict(zip(snakemake.params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    clusters = {name: task.set_index("example")["cluster"] for name, task in tasks.items()}
    compared = {model: (name, seed) for model, (name, seed) in snakemake.params.compared.items()}
    found = of_study(read_tables(files.answers), clusters, compared)
    tables = [(MODELS, found.overall), (MODEL_RANKS, found.ranks), (MODEL_PAIRS, found.pairs)]
    write_all(tables, snakemake.output)
