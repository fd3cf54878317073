"""Write what scoring has cost."""

from pathlib import Path

from script_log import logged

with logged(snakemake):
    from abovechance.core.files import write_csv
    from abovechance.scoring.cost import spent
    from abovechance.scoring.reader import Reader
    from abovechance.scoring.weights import Weights

    params = snakemake.params
    ledgers = {(model, task, kind): Path(path) for model, task, kind, path in params.ledgers}
    parameters = {
        model: Reader.of(Weights.read(Path(path))).parameters for model, path in params.weights.items()
    }
    write_csv(spent(ledgers, parameters), Path(snakemake.output[0]))
