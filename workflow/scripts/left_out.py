"""Write how many prompts of each setting were left out since they are longer than the model's context."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.core.settings import Setting
from abovechance.scoring.store import LEFT_OUT, left_out
from abovechance.shown.tables import write_all

with logged(snakemake):
    settings = map(Setting._make, snakemake.params.settings)
    rows = [
        setting._asdict() | left_out(Path(path))
        for setting, path in zip(settings, snakemake.input.scores, strict=True)
    ]
    table = pd.DataFrame(rows)
    LEFT_OUT.write(table, snakemake.output.left_out, {})
    write_all([(LEFT_OUT, table[table["left_out"] > 0])], snakemake.output.tables)
