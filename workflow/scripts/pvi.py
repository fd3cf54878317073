"""Write the PVI of every example under every prompt of a model, and what follows for prompts and examples."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import read_parts, read_table
from abovechance.pvi import densities, examples, overview, pairs, runs
from abovechance.pvi.table import PVI, labels_of, of_scores
from abovechance.scoring.store import both_scored

with logged(snakemake):
    files, params, made = snakemake.input, snakemake.params, snakemake.output
    facts = {"over": params.over}
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    evaluated = dict(zip(params.tasks, map(read_table, map(Path, files.evaluation_sets)), strict=True))
    paths = (map(Path, given) for given in (files.scores, files.null_scores, files.prompts))
    scored = dict(zip(map(Setting._make, params.settings), zip(*paths, strict=True), strict=True))
    schemas = {
        "settings": overview.PVI_SETTINGS,
        "prompts": runs.PVI_PROMPTS,
        "examples": examples.PVI_EXAMPLES,
        "densities": densities.PVI_DENSITIES,
        "pairs": pairs.PVI_PAIRS,
    }
    found = {what: [] for what in schemas}
    clusters = {name: task.set_index("example")["cluster"] for name, task in tasks.items()}
    labels = {name: labels_of(task) for name, task in tasks.items()}
    series, last = {}, {}
    with PVI.writing_parts(Path(made.pvi), facts) as write:
        for predictions in read_parts(Path(files.predictions)):
            setting = setting_of(predictions)
            task = tasks[setting.task]
            own, null = both_scored(*scored[setting], task, evaluated[setting.task])
            if own.empty:
                continue
            pvi = of_scores(own, null, task, predictions, params.over)
            write(setting.label(pvi))
            summary = overview.summarize_setting(pvi, clusters[setting.task], params.over)
            found["settings"].append(setting.label(summary))
            found["prompts"].append(setting.label(runs.summarize_prompts(pvi)))
            found["examples"].append(setting.label(examples.summarize_examples(pvi)))
            found["densities"].append(setting.label(densities.estimate_densities(pvi)))
            named = {(setting.shots, prompt): values for prompt, values in pairs.series(pvi).items()}
            series.setdefault(setting.task, {}).update(named)
            last[setting.task] = setting
    for task, own in series.items():
        found["pairs"].append(pairs.of_model(own, last[task], clusters[task], labels[task], params.nested))
    for what, schema in schemas.items():
        schema.write(schema.together(found[what]), Path(made[what]), facts)
