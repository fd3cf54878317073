"""A study that scores models on tasks.

in:  tasks, models, shots and prompts of the config
out: predictions/ and accuracy/ of each model, from scores/
"""

MODELS, TASKS = [*STUDY["models"]], [*STUDY["tasks"]]
SHOTS = {task: entry["shots"] for task, entry in STUDY["tasks"].items()}
SCORED = RESULTS
ASKED = ["tasks", *dict.fromkeys(kind.examples for kind in KINDS)]
FACTS |= {"tasks", "scores"}


wildcard_constraints:
    task="|".join(map(re.escape, TASKS)),
    model="|".join(map(re.escape, MODELS)),
    shots=r"\d+",
    weights=r"[A-Za-z0-9_.-]+",


include: "../by_model.smk"
include: "../scoring/sources.smk"
include: "../scoring/tasks.smk"
include: "../scoring/hardest.smk"
include: "../scoring/demands.smk"
include: "../scoring/weights.smk"
include: "../scoring/training.smk"
include: "../scoring/accuracy.smk"
include: "../scoring/scores.smk"
include: "../scoring/cost.smk"


FETCHED += [
    f"{WEIGHTS}/{weights}/weights.json"
    for weights, model in MODEL_OF_WEIGHTS.items()
    if not trained(model)
]
INPUTS = [
    entry["source"]
    for entry in STUDY["tasks"].values()
    if entry["source"] not in NO_FILES
]
SCORING_JOBS = scoring_jobs()
KEPT += [
    *SCORES.values(),
    SPENT,
    expand(f"{RESULTS}/{{table}}/{{task}}.parquet", table=ASKED, task=TASKS),
    [
        f"{RESULTS}/prompts/{task}/{shots}-shot.parquet"
        for task in TASKS
        for shots in SHOTS[task]
    ],
    [
        HARDEST_PROMPTS.format(model=model, task=task, shots=shots)
        for model, task, shots in SETTINGS * (HARDEST in KINDS)
    ],
]
