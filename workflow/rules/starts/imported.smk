"""Other tools' results, in place of scores.

in:  a file that `abovechance import` wrote
out: predictions/ and accuracy/, and where it is asked for likelihoods/, of each model
"""

from abovechance.results.imported import has_choices, settings_in

IMPORTED = STUDY["predictions"]
MODELS, TASKS, shots = or_exit(settings_in, Path(IMPORTED))
SHOTS = dict.fromkeys(TASKS, shots)
TASK_TABLES, FEATURES = [], []  # what examples are is not known
GUESSED_TASKS = [
    f"{RESULTS}/imported/tasks/{file_name(task)}.parquet" for task in TASKS
]
PROMPTS_OF_SETTINGS = []
FACTS |= {"choices"} if has_choices(Path(IMPORTED)) else set()
INPUTS = [IMPORTED]


include: "../by_model.smk"


rule imported:
    """The predictions, and their accuracies."""
    input:
        predictions=IMPORTED,
    output:
        predictions=of_all_models(PREDICTIONS),
        accuracy=of_all_models(ACCURACY),
    log:
        f"{RESULTS}/logs/imported.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        models=lambda wildcards: MODELS,  # names may have braces
        state=state_of([IMPORTED]),
        code=code_of("imported.py"),
    script:
        "../../scripts/imported.py"


rule imported_tasks:
    """The choices of all examples, as far as the results have them."""
    input:
        predictions=IMPORTED,
    output:
        GUESSED_TASKS,
    log:
        f"{RESULTS}/logs/imported_tasks.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=lambda wildcards: TASKS,  # names may have braces
        state=state_of([IMPORTED]),
        code=code_of("imported_tasks.py"),
    script:
        "../../scripts/imported_tasks.py"


rule imported_likelihoods:
    """The log-likelihoods that came with a model's predictions."""
    input:
        predictions=IMPORTED,
    output:
        LIKELIHOODS,
    log:
        f"{RESULTS}/logs/likelihoods/{{model_file}}.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        models=models_of,
        state=state_of([IMPORTED]),
        code=code_of("imported_likelihoods.py"),
    script:
        "../../scripts/imported_likelihoods.py"
