"""Quantize a model's weights."""

from pathlib import Path

from script_log import logged, progress

with logged(snakemake) as log:
    from abovechance.core.files import alone
    from abovechance.scoring.weights import Weights, quantize

    output = Path(snakemake.output.weights[0])
    folder = Path(snakemake.output.get("files", [output.parent])[0])
    with alone(output.parent, progress(log)):
        quantize(Weights.read(Path(snakemake.input.weights)), folder).write(output)
