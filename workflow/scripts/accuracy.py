"""Write which examples every prompt of the study gets right, and the prompts' accuracies."""

from pathlib import Path

from script_log import logged

import pandas as pd

from abovechance.core.tables import read_table
from abovechance.results.accuracy import ACCURACY, accuracy_by_prompt
from abovechance.results.predictions import PREDICTIONS, predict

with logged(snakemake):
    facts = {"normalization": snakemake.params.normalization}
    tasks = {
        name: read_table(Path(path))
        for name, path in zip(snakemake.params.tasks, snakemake.input.tasks, strict=True)
    }
    output, accuracy = snakemake.output, []
    with PREDICTIONS.writing_parts(Path(output.predictions), facts) as write:
        for (model, task, shots), path in zip(snakemake.params.settings, snakemake.input.scores, strict=True):
            predictions = predict(read_table(Path(path)), tasks[task], **facts)
            if predictions.empty:
                continue  # all prompts were left out
            predictions = predictions.assign(model=model, task=task, shots=shots)
            write(predictions)
            accuracy.append(accuracy_by_prompt(predictions))
    ACCURACY.write(pd.concat(accuracy, ignore_index=True), Path(output.accuracy), facts)
