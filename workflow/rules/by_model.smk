"""Files that are made model by model, so that no job reads all predictions of a study.

in:  MODELS of the start
out: the wildcard ``model_file``, a model by a name that files can have
"""

MODEL_OF_FILE = {file_name(model): model for model in MODELS}
# in the order in which tables have them
SETTINGS = [
    (model, task, shots) for model in MODELS for task in TASKS for shots in SHOTS[task]
]


wildcard_constraints:
    model_file="|".join(map(re.escape, MODEL_OF_FILE)),


def of_all_models(pattern):
    """The files of all models, in the models' order."""
    return expand(pattern, model_file=MODEL_OF_FILE)


def model_of(wildcards):
    return MODEL_OF_FILE[wildcards.model_file]


def settings_of(wildcards):
    """A model's settings."""
    return [setting for setting in SETTINGS if setting[0] == model_of(wildcards)]


def scores_files(kind, settings):
    """The scores files of settings, of one kind of prompts."""
    return [
        f"{SCORED}/{kind.scores}/{model}/{task}/{shots}-shot.parquet"
        for model, task, shots in settings
    ]


def scores_of(kind):
    """Gives the scores files of a model's settings, of one kind of prompts."""
    return lambda wildcards: scores_files(kind, settings_of(wildcards))
