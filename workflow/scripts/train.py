"""Train a small model and keep its checkpoints."""

from pathlib import Path

from script_log import logged, progress

with logged(snakemake) as log:
    import torch

    from abovechance.core.files import alone
    from abovechance.training.language_model import train

    torch.set_num_threads(snakemake.threads)
    params, report = snakemake.params, progress(log)
    files = {step: Path(path) for step, path in zip(params.steps, snakemake.output.weights, strict=True)}
    with alone(files[min(files)].parent, report):
        folders = {step: path.parent / "files" for step, path in files.items()}
        trained = train(params.seed, params.width, params.layers, folders, report)
        for step, weights in trained.items():
            weights.write(files[step])
