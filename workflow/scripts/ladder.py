"""Write which simple guessers each setting's best prompt beats."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_parts, read_table
from abovechance.ladder.climbing import LADDER, ladders

with logged(snakemake):
    params, files = snakemake.params, snakemake.input
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    prompts = {
        (task, shots): read_table(Path(path))
        for (_, task, shots), path in zip(params.settings, files.get("prompts") or [], strict=True)
    }
    table = ladders(read_parts(Path(files.predictions)), tasks, prompts, params.seed)
    LADDER.write(table, Path(snakemake.output[0]), {"seed": params.seed})
