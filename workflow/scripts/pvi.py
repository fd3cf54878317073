"""Write the PVI of every example under every prompt of a model, and what follows for prompts and examples."""

from pathlib import Path

from script_log import logged

from abovechance.core.settings import Setting, setting_of
from abovechance.core.tables import read_parts, read_table
from abovechance.information import densities, examples, overview, pairs, runs
from abovechance.information.table import PVI, labels_of, of_scores
from abovechance.scoring.store import without_left_out

with logged(snakemake):
    files, params, made = snakemake.input, snakemake.params, snakemake.output
    facts = {"over": params.over}
    tasks = dict(zip(params.tasks, map(read_table, map(Path, files.tasks)), strict=True))
    both = zip(files.scores, files.null_scores, strict=True)
    scores = dict(zip(map(Setting._make, params.settings), both, strict=True))
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
            own, null = without_left_out(*map(Path, scores[setting]))
            if own.empty:
                continue
            pvi = of_scores(own, null, tasks[setting.task], predictions, params.over)
            write(setting.label(pvi))
            of_setting = overview.of_setting(pvi, clusters[setting.task], params.over)
            found["settings"].append(setting.label(of_setting))
            found["prompts"].append(setting.label(runs.of_setting(pvi)))
            found["examples"].append(setting.label(examples.of_setting(pvi)))
            found["densities"].append(setting.label(densities.of_setting(pvi)))
            named = {(setting.shots, prompt): values for prompt, values in pairs.series(pvi).items()}
            series.setdefault(setting.task, {}).update(named)
            last[setting.task] = setting
    for task, own in series.items():
        found["pairs"].append(pairs.of_model(own, last[task], clusters[task], labels[task], params.nested))
    for what, schema in schemas.items():
        schema.write(schema.together(found[what]), Path(made[what]), facts)
