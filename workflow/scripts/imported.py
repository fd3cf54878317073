"""Take over the predictions of other tools, and write their accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_parts
from abovechance.results.accuracy import ACCURACY, accuracy_by_prompt
from abovechance.results.predictions import PREDICTIONS

with logged(snakemake):
    import pandas as pd

    source, output, accuracy = Path(snakemake.input.predictions), snakemake.output, []
    facts = {"predictions": source.name}
    with PREDICTIONS.writing_parts(Path(output.predictions), facts) as write:
        for predictions in read_parts(source):
            write(predictions)
            accuracy.append(accuracy_by_prompt(predictions))
    ACCURACY.write(pd.concat(accuracy, ignore_index=True), Path(output.accuracy), facts)
