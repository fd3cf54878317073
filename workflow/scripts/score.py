"""Score every prompt of one (model, task), for each number of shots."""

import time
from contextlib import nullcontext
from pathlib import Path

from script_log import STARTED, logged, progress

with logged(snakemake) as log:
    import warnings

    import torch

    from abovechance.core.files import alone
    from abovechance.core.settings import Setting
    from abovechance.core.tables import read_table
    from abovechance.scoring.accelerators import reserved, visible_accelerators
    from abovechance.scoring.cells import Cell, InProcess, score_cells
    from abovechance.scoring.ledgers import Ledger
    from abovechance.scoring.models import memory_needed
    from abovechance.scoring.weights import Weights

    # the cache's name in newer versions of transformers; pyproject.toml excludes those without the old one
    warnings.filterwarnings("ignore", "`?past_key_values`? is deprecated", FutureWarning)
    torch.set_num_threads(snakemake.threads)
    wildcards, params, files = snakemake.wildcards, snakemake.params, snakemake.input
    weights = Weights.read(Path(files.weights))
    task, evaluation = read_table(files.task), read_table(files.evaluation_set)
    cells = {
        Path(output): Cell(
            Setting(wildcards.model, wildcards.task, shots), task, evaluation, read_table(prompts)
        )
        for shots, prompts, output in zip(params.shots, files.prompts, snakemake.output.scores, strict=True)
    }
    if params.null:
        cells = {path: cell.without_inputs() for path, cell in cells.items()}

    def in_process(weights_file, precision):
        return InProcess(Weights.read(Path(weights_file)), precision, params.special_tokens, params.products)

    if weights.server is None:
        backend = in_process(files.weights, params.precision)
        memory = memory_needed(weights, params.precision)
    else:
        from abovechance.servers.scorer import Served

        local = in_process(files.compared, params.compared_precision) if files.compared else None
        backend = Served(weights, params.special_tokens, local)
        memory = memory_needed(local.weights, local.precision) if local else 0
    lock = reserved(memory) if memory and torch.backends.cuda.is_built() else nullcontext(())
    report, (folder, *_) = progress(log), {path.parent for path in cells}
    began_waiting = time.monotonic()
    with alone(folder, report), lock as accelerators:
        since = STARTED + time.monotonic() - began_waiting  # waiting costs nothing
        if memory and not torch.cuda.is_available():
            if visible_accelerators():
                report("the installed torch cannot use this machine's GPU: scoring on the processor")
            accelerators = ()
        score_cells(
            cells,
            backend,
            report,
            leave_out_too_long=params.too_long == "leave_out",
            spend=Ledger.of_job(Path(params.ledger), snakemake.threads, len(accelerators), since).add,
        )
