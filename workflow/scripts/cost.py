"""Write what scoring will cost, and how long it takes on which machine."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    import pandas as pd

    from abovechance.core.files import read_csv, write_csv
    from abovechance.core.tables import read_table
    from abovechance.scoring.cost import SPENT, estimate, on_machines
    from abovechance.scoring.reader import Reader

    files, params = snakemake.input, snakemake.params
    counted = dict(zip(map(tuple, params.settings), map(read_table, map(Path, files.counts)), strict=True))
    models = dict(zip(params.models, map(Reader.read, map(Path, files.readers)), strict=True))
    needed = estimate(counted, models)
    spent = pd.concat([pd.DataFrame(columns=SPENT), *map(read_csv, params.spent)])
    write_csv(needed, Path(snakemake.output.estimate))
    write_csv(on_machines(needed, params.given, spent, params.threads), Path(snakemake.output.machines))
