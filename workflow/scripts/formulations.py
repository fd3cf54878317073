"""Write whether formulations of tasks agree over models, and draw it."""

from script_log import logged

from abovechance.core.tables import read_table, read_tables
from abovechance.shown import style
from abovechance.shown.tables import write_all
from abovechance.shown.variance import formulation_numbers, formulations_of_tasks
from abovechance.variance.formulations import FORMULATION_SERIES, FORMULATIONS, agreement, change

with logged(snakemake):
    params, outputs = snakemake.params, list(snakemake.output)
    scores = read_tables(snakemake.input.scores)
    evaluations = read_table(snakemake.input.evaluations)
    tables = [
        (FORMULATIONS, agreement(scores, params.formulations)),
        (FORMULATION_SERIES, change(evaluations, params.formulations)),
    ]
    write_all(tables, [path for path in outputs if "/tables/" in path])
    numbers = formulation_numbers(scores, params.formulations, params.series)
    pictures = [path for path in outputs if "/figures/" in path]
    style.save_all([("formulations", formulations_of_tasks(numbers), numbers)], pictures)
