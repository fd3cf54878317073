"""Files that are made model by model, so that no job reads all predictions of a study.

in:  MODELS of the start
out: the wildcard ``model_file``, a model by a name that files can have
"""

MODEL_OF_FILE = {file_name(model): model for model in MODELS}


wildcard_constraints:
    model_file="|".join(map(re.escape, MODEL_OF_FILE)),


def of_all_models(pattern):
    """The files of all models, in the models' order."""
    return expand(pattern, model_file=MODEL_OF_FILE)


def model_of(wildcards):
    return MODEL_OF_FILE[wildcards.model_file]
