"""Write what scoring will cost, and how long it takes on which machine."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    import pandas as pd
    import yaml

    from abovechance.core.files import read_csv, write_csv, write_text
    from abovechance.core.tables import read_table
    from abovechance.scoring.cost import estimate, on_machines
    from abovechance.scoring.ledgers import SPENT
    from abovechance.scoring.reader import Reader
    from abovechance.study.config import COUNTED_KEYS

    files, params = snakemake.input, snakemake.params
    counted = dict(zip(map(tuple, params.settings), map(read_table, map(Path, files.counts)), strict=True))
    models = dict(zip(params.models, map(Reader.read, map(Path, files.readers)), strict=True))
    needed = estimate(counted, models)
    spent = pd.concat([pd.DataFrame(columns=SPENT), *map(read_csv, params.spent)])
    config = {key: params.config[key] for key in COUNTED_KEYS if key in params.config}
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    write_text(text, Path(snakemake.output.config))
    write_csv(needed, Path(snakemake.output.estimate))
    write_csv(on_machines(needed, params.given, spent, params.threads), Path(snakemake.output.machines))
