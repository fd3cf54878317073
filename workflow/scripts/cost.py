"""Write what scoring will cost, and how long it takes on which machine."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    import yaml

    from abovechance.core.files import write_text
    from abovechance.core.tables import read_table
    from abovechance.scoring.cost import ESTIMATE, MACHINES, estimate, on_machines
    from abovechance.scoring.ledgers import SPENT
    from abovechance.scoring.reader import Reader
    from abovechance.shown.tables import write_all
    from abovechance.study.config import COUNTED_KEYS

    files, params = snakemake.input, snakemake.params
    counted = dict(zip(map(tuple, params.settings), map(read_table, files.counts), strict=True))
    models = dict(zip(params.models, map(Reader.read, map(Path, files.readers)), strict=True))
    needed = estimate(counted, models)
    spent = SPENT.together(map(read_table, params.spent))
    config = {key: params.config[key] for key in COUNTED_KEYS if key in params.config}
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    write_text(text, Path(snakemake.output.config))
    machines = on_machines(needed, params.limits, spent, params.threads)
    write_all([(ESTIMATE, needed), (MACHINES, machines)], snakemake.output.tables)
