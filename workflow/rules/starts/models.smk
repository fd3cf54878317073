"""A study that scores models on tasks.

in:  tasks, models, shots and prompts of the config
out: predictions.parquet and accuracy.parquet, from scores/
"""

MODELS, TASKS, SHOTS = [*STUDY["models"]], [*STUDY["tasks"]], STUDY["shots"]
SETTINGS = [
    (model, task, shots) for model in MODELS for task in TASKS for shots in SHOTS
]
PRECISION_PAIRS = precision_pairs(STUDY["models"])
ANALYSES = [
    "randomization",
    "verdicts",
    "heldout",
    "spread",
    "agreement",
    "expected_maximum",
]
if PRECISION_PAIRS:
    ANALYSES.append("precision")


include: "../scoring/sources.smk"
include: "../scoring/tasks.smk"
include: "../scoring/weights.smk"
include: "../scoring/scores.smk"


MADE_FROM = SCORES
