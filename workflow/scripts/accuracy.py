"""Write which examples every prompt of the study gets right, and the prompts' accuracies."""

from pathlib import Path

from job import logged

from abovechance.accuracy import accuracy_by_prompt, predict
from abovechance.archive import read_table, write_table, writing_parts

with logged(snakemake):
    facts = {"normalization": snakemake.params.normalization}
    tasks = {
        name: read_table(Path(path))
        for name, path in zip(snakemake.params.tasks, snakemake.input.tasks, strict=True)
    }
    output = snakemake.output
    with writing_parts("predictions", Path(output.predictions), facts) as write:
        for (model, task, shots), path in zip(snakemake.params.settings, snakemake.input.scores, strict=True):
            predictions = predict(read_table(Path(path)), tasks[task], **facts)
            write(predictions.assign(model=model, task=task, shots=shots))
    accuracy = accuracy_by_prompt(read_table(Path(output.predictions)))
    write_table(accuracy, "accuracy", Path(output.accuracy), facts)
