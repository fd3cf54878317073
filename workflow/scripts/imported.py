"""Take over the predictions of other tools, and write their accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.results.accuracy import writing_results
from abovechance.results.imported import read_imported
from abovechance.results.predictions import PREDICTIONS

with logged(snakemake):
    source, output = Path(snakemake.input.predictions), snakemake.output
    facts = {"predictions": source.name}
    with writing_results(Path(output.predictions), Path(output.accuracy), facts) as write:
        for rows in read_imported(source):
            write(rows[list(PREDICTIONS.columns)])
