"""Take over the predictions of other tools, and write their accuracies."""

from pathlib import Path

from script_log import logged

from abovechance.core.tables import read_made_from
from abovechance.results.accuracy import writing_results
from abovechance.results.imported import read_imported
from abovechance.results.predictions import PREDICTIONS

with logged(snakemake):
    source, models = Path(snakemake.input.predictions), snakemake.params.models
    predictions, accuracy = (
        dict(zip(models, map(Path, snakemake.output[name]), strict=True))
        for name in ("predictions", "accuracy")
    )
    facts = read_made_from(source)
    made_from = {
        "predictions": source.name,
        "prompt_names": facts.get("prompts", {}),
        "metrics": facts.get("metrics", {}),
    }
    with writing_results(predictions, accuracy, made_from) as write:
        for rows in read_imported(source):
            write(rows[list(PREDICTIONS.columns)])
