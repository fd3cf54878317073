"""Write the scores of evaluations that others ran."""

from pathlib import Path

from script_log import logged

from abovechance.variance.evaluations import (
    EVALUATIONS,
    check_finite,
    with_chances,
    with_groups,
)
from abovechance.variance.results_files import read_evaluations

with logged(snakemake):
    params = snakemake.params
    table = read_evaluations([Path(params.source)])
    check_finite(table)
    table = with_chances(table, params.chances, f"{params.place}: key 'chances")
    table = with_groups(table, params.groups, f"{params.place}: key 'groups")
    EVALUATIONS.write(table, snakemake.output[0], {"source": Path(params.source).name})
