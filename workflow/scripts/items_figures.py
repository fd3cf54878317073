"""Draw which examples tell models apart, and what fewer of them cost."""

from script_log import logged

from abovechance.core.tables import read_table, read_tables
from abovechance.shown import items, style

with logged(snakemake):
    files = snakemake.input
    listed = items.item_numbers(read_tables(files.item_list))
    steps = items.pruning_numbers(read_tables(files.item_pruning))
    costs, adaptive = read_table(files.costs), read_table(files.adaptive)
    figures = [
        ("items", items.scatter(listed), listed),
        ("item_halves", items.halves(listed), listed),
        *(
            (f"item_pruning_{measure}", items.pruning(steps, measure), steps)
            for measure in snakemake.params.pruned
        ),
        ("smaller_benchmarks", items.costs(costs), costs),
        ("adaptive", items.adaptive(adaptive), adaptive),
    ]
    style.save_all(figures, snakemake.output)
