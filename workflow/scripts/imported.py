"""Take over the predictions of other tools, and write their accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_parts, write_table, writing_parts
from abovechance.results.accuracy import accuracy_by_prompt

with logged(snakemake):
    import pandas as pd

    source, output, accuracy = Path(snakemake.input.predictions), snakemake.output, []
    facts = {"predictions": source.name}
    with writing_parts("predictions", Path(output.predictions), facts) as write:
        for predictions in read_parts(source):
            write(predictions)
            accuracy.append(accuracy_by_prompt(predictions))
    write_table(pd.concat(accuracy, ignore_index=True), "accuracy", Path(output.accuracy), facts)
