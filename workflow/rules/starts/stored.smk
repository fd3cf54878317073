"""Scores that a study has stored, in place of its models: the analyses once more, on any machine.

in:  the folder of that study, or what an archive has of it, and its config
out: predictions/ and accuracy/ of each model
"""

from abovechance.study.config_file import check_stored

SCORED = STUDY["stored"]
MODELS, TASKS = [*STUDY["models"]], [*STUDY["tasks"]]
SHOTS = {task: entry["shots"] for task, entry in STUDY["tasks"].items()}
FACTS |= {"tasks", "scores"}


include: "../by_model.smk"
include: "../scoring/accuracy.smk"


INPUTS = [*TASK_TABLES]
for kind in KINDS:
    INPUTS += SCORES[kind] * (
        kind not in (TRAINING, TRAINING_NULL)
    )  # prompts are there
or_exit(check_exist, INPUTS, CONFIG_FILES)
or_exit(check_stored, STUDY, CONFIG_FILES)
