"""Draw what PVI says of right and wrong predictions, of hard and easy examples, and of models."""

from script_log import logged

from abovechance.core.tables import read_table, read_tables
from abovechance.pvi import examples
from abovechance.pvi.pairs import MODELS
from abovechance.pvi.runs import tails
from abovechance.shown import pvi, style

with logged(snakemake):
    files = snakemake.input
    densities = pvi.density_numbers(read_tables(files.densities), read_tables(files.settings))
    ends = pvi.tail_numbers(tails(read_tables(files.prompts)))
    tasks = dict(zip(snakemake.params.tasks, map(read_table, files.tasks), strict=True))
    annotated = examples.annotated(read_tables(files.examples), examples.inputs_of(tasks))
    agreed = pvi.annotation_numbers(annotated)
    figures = [
        ("pvi_densities", pvi.densities(densities), densities),
        ("pvi_tails", pvi.tails(ends), ends),
        ("pvi_annotations", pvi.annotators(agreed), agreed),
    ]
    if snakemake.params.several:
        pairs = read_table(files.pairs)
        pairs = pairs[pairs["between"] == MODELS]
        figures.append(("pvi_models", pvi.models(pairs), pairs))
    style.save_all(figures, snakemake.output)
