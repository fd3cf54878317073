"""Write what scoring has cost."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    from abovechance.core.files import write_csv
    from abovechance.scoring.ledgers import spent

    listed = snakemake.params.ledgers
    ledgers = {(model, task, kind): Path(path) for model, task, kind, path in listed}
    write_csv(spent(ledgers), Path(snakemake.output[0]))
