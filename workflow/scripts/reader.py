"""Write how a model reads and how large it is."""

from pathlib import Path

from script_log import logged

from abovechance.scoring.reader import Reader
from abovechance.scoring.weights import Weights

with logged(snakemake, network=True):
    source = snakemake.params.source
    if "hub" in source:
        reader = Reader.from_hub(
            source["hub"], source.get("revision"), source.get("trust_remote_code", False)
        )
    else:
        reader = Reader.from_weights(Weights.read(Path(snakemake.input[0])))
    reader.write(Path(snakemake.output[0]))
