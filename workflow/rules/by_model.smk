"""Files that are made model by model, so that no job reads all predictions of a study.

The checkpoints of one training share a file, since they are many, and small beside what a job takes to begin.

in:  MODELS of the start
out: the wildcard ``model_file``, a model or a training by a name that files can have, and what is named by it
"""

PREDICTIONS = f"{RESULTS}/predictions/{{model_file}}.parquet"
ACCURACY = f"{RESULTS}/accuracy/{{model_file}}.parquet"
LIKELIHOODS = f"{RESULTS}/likelihoods/{{model_file}}.parquet"
MODELS_OF_FILE = {}
for model in MODELS:
    training = training_of(model, STUDY.get("models", {}).get(model, {}))
    MODELS_OF_FILE.setdefault(file_name(training), []).append(model)
# models whose pictures are drawn: of a training the last checkpoint, of a series the first seed
DRAWN_MODELS = {
    file_name(model): model for model in shown_of(MODELS, STUDY.get("models", {}))
}
COMPARED = compared_as(MODELS, STUDY.get("models", {}))
FACTS |= {"predictions", *["several models"] * (len(COMPARED) > 1)}
# in the order in which tables have them
SETTINGS = [
    (model, task, shots) for model in MODELS for task in TASKS for shots in SHOTS[task]
]


wildcard_constraints:
    model_file="|".join(map(re.escape, MODELS_OF_FILE)),
    drawn_model="|".join(map(re.escape, DRAWN_MODELS)),


def of_all_models(pattern):
    """The files of all models, in the models' order."""
    return expand(pattern, model_file=MODELS_OF_FILE)


KEPT += [*of_all_models(PREDICTIONS), *of_all_models(ACCURACY)]
OF_REPORT["predictions"] = of_all_models(PREDICTIONS)


def file_of(model):
    """The wildcard of the file that a model's results are in."""
    return next(file for file, models in MODELS_OF_FILE.items() if model in models)


def models_of(wildcards):
    return MODELS_OF_FILE[wildcards.model_file]


def settings_of(wildcards):
    """The settings of a file's models."""
    return [setting for setting in SETTINGS if setting[0] in models_of(wildcards)]


def scores_files(kind, settings):
    """The scores files of settings, of one kind of prompts."""
    return [
        f"{SCORED}/{kind.scores}/{model}/{task}/{shots}-shot.parquet"
        for model, task, shots in settings
    ]


def scores_of(kind):
    """Gives the scores files of a model's settings, of one kind of prompts."""
    return lambda wildcards: scores_files(kind, settings_of(wildcards))


def prompts_of_settings(wildcards):
    """The prompts of a file's settings, which its scores are checked against."""
    return [
        f"{SCORED}/prompts/{task}/{shots}-shot.parquet"
        for _, task, shots in settings_of(wildcards)
    ]


include: "likelihoods.smk"
