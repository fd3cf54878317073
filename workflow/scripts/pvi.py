"""Write the PVI of every example under every prompt of a model, and what follows for prompts and examples."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import read_parts, read_table
from abovechance.pvi import densities, examples, overview, pairs, runs
from abovechance.pvi.table import PVI, labels_of, of_scores
from abovechance.scoring.store import both_scored
from abovechance.study.clusters import clusters_of

with logged(snakemake):
    files, params, outputs = snakemake.input, snakemake.params, snakemake.output
    facts = {"over": params.over}
    tasks = dict(zip(params.tasks, map(read_table, files.tasks), strict=True))
    evaluated = dict(zip(params.tasks, map(read_table, files.evaluation_sets), strict=True))
    paths = (map(Path, group) for group in (files.scores, files.null_scores, files.prompts))
    scored = dict(zip(map(Setting._make, params.settings), zip(*paths, strict=True), strict=True))
    schemas = {
        "settings": overview.PVI_SETTINGS,
        "prompts": runs.PVI_PROMPTS,
        "examples": examples.PVI_EXAMPLES,
        "densities": densities.PVI_DENSITIES,
        "pairs": pairs.PVI_PAIRS,
    }
    tables = {table_name: [] for table_name in schemas}
    clusters = clusters_of(tasks)
    labels = {name: labels_of(task) for name, task in tasks.items()}
    series, last = {}, {}
    with PVI.writing_parts(outputs.pvi, facts) as write:
        for predictions in read_parts(files.predictions):
            setting = setting_of(predictions)
            task = tasks[setting.task]
            logprobs, null = both_scored(*scored[setting], task, evaluated[setting.task])
            if logprobs.empty:
                continue
            pvi = of_scores(logprobs, null, task, predictions, params.over)
            write(setting.label(pvi))
            summary = overview.summarize_setting(pvi, clusters[setting.task], params.over)
            tables["settings"].append(setting.label(summary))
            tables["prompts"].append(setting.label(runs.summarize_prompts(pvi)))
            tables["examples"].append(setting.label(examples.summarize_examples(pvi)))
            tables["densities"].append(setting.label(densities.estimate_densities(pvi)))
            named = {(setting.shots, prompt): values for prompt, values in pairs.series(pvi).items()}
            series.setdefault(setting.task, {}).update(named)
            last[setting.task] = setting
    for task, logprobs in series.items():
        tables["pairs"].append(
            pairs.of_model(logprobs, last[task], clusters[task], labels[task], params.nested)
        )
    for table_name, schema in schemas.items():
        schema.write(schema.together(tables[table_name]), outputs[table_name], facts)
