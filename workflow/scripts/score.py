"""Score every prompt of one (model, task, shots)."""

from pathlib import Path

from job import logged, progress

with logged(snakemake) as log:
    import torch

    from abovechance.archive import read_table
    from abovechance.scoring.accelerators import reserved
    from abovechance.scoring.job import Cell, score_cell
    from abovechance.scoring.models import Weights, memory_needed

    torch.set_num_threads(snakemake.threads)
    wildcards, params = snakemake.wildcards, snakemake.params
    weights = Weights.read(Path(snakemake.input.weights))
    cell = Cell(
        name=f"{wildcards.model}, {wildcards.task}, {wildcards.shots}-shot",
        task=read_table(Path(snakemake.input.task)),
        evaluation=read_table(Path(snakemake.input.evaluation_set)),
        prompts=read_table(Path(snakemake.input.prompts)),
        weights=weights,
        precision=params.precision,
        leave_out_too_long=params.too_long == "leave_out",
    )
    with reserved(memory_needed(weights, params.precision)):
        score_cell(cell, Path(snakemake.output.scores), progress(log))
