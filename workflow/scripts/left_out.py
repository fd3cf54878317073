"""Write how many prompts of each setting were left out since they are longer than the model's context."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.core.settings import Setting
from abovechance.scoring.store import LEFT_OUT, left_out

with logged(snakemake):
    settings = map(Setting._make, snakemake.params.settings)
    rows = [
        setting._asdict() | left_out(Path(path))
        for setting, path in zip(settings, snakemake.input.scores, strict=True)
    ]
    LEFT_OUT.write(pd.DataFrame(rows), Path(snakemake.output[0]), {})
