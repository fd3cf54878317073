"""Write what scoring has cost."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    from abovechance.scoring.ledgers import SPENT, spent
    from abovechance.shown.tables import write_all

    listed = snakemake.params.ledgers
    ledgers = {(model, task, kind): Path(path) for model, task, kind, path in listed}
    write_all([(SPENT, spent(ledgers))], snakemake.output)
