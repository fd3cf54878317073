"""Quantize a model's weights."""

from pathlib import Path

from script_log import logged

from abovechance.scoring.weights import Weights, quantize

with logged(snakemake):
    output = Path(snakemake.output[0])
    quantize(Weights.read(Path(snakemake.input.weights[0])), output.parent).write(output)
