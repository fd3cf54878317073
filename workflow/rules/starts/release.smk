"""Predictions that others published, in place of scores.

in:  a release (a folder or zip file) and the tasks it is about
out: predictions/ and accuracy/, mended; release/, as it is, and what does not hold;
     where it is asked for likelihoods/; of each model
"""

from abovechance.published.release import Release

RELEASE = or_exit(Release, Path(STUDY["release"]))
or_exit(RELEASE.check_named, STUDY["pairs"], STUDY["illustrated"], CONFIG_FILES)
MODELS, TASKS, shots = map(sorted, map(set, zip(*RELEASE.settings)))
SHOTS = dict.fromkeys(TASKS, shots)
RELEASED = f"{RESULTS}/release/released/{{model_file}}.parquet"
RELEASED_ACCURACY = f"{RESULTS}/release/accuracy/{{model_file}}.parquet"
TASK_TABLES = []  # what clusters there are is not known
GUESSED_TASKS = expand(f"{RESULTS}/release/tasks/{{task}}.parquet", task=TASKS)
PROMPTS_OF_SETTINGS = []
FEATURES = [f"{RESULTS}/example_features.parquet"]
FACTS |= {"release"}


include: "../by_model.smk"


INPUTS = [STUDY["release"]]
KEPT += [
    f"{RESULTS}/release/examples.parquet",
    of_all_models(RELEASED),
    of_all_models(RELEASED_ACCURACY),
    f"{RESULTS}/release/audit.parquet",
]


rule released_examples:
    """The examples that the ids in the release refer to."""
    input:
        source=bigbench_source(),
    output:
        examples=f"{RESULTS}/release/examples.parquet",
    log:
        f"{RESULTS}/logs/release/examples.log",
    priority: 100
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        pinned=None if "bigbench" in STUDY else DOWNLOADS["bigbench"],
        state=state_of(bigbench_folders(TASKS)),
        code=code_of("released_examples.py"),
    script:
        "../../scripts/released_examples.py"


rule released_tasks:
    """The tasks as guessers see them: examples with the same id have all their choices."""
    input:
        release=STUDY["release"],
        source=bigbench_source(),
    output:
        GUESSED_TASKS,
    log:
        f"{RESULTS}/logs/release/tasks.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        pinned=None if "bigbench" in STUDY else DOWNLOADS["bigbench"],
        state=state_of([STUDY["release"], *bigbench_folders(TASKS)]),
        code=code_of("released_tasks.py"),
    script:
        "../../scripts/released_tasks.py"


rule released_features:
    """Features of the examples in the release."""
    input:
        source=bigbench_source(),
    output:
        FEATURES,
    log:
        f"{RESULTS}/logs/example_features.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=TASKS,
        pinned=None if "bigbench" in STUDY else DOWNLOADS["bigbench"],
        state=state_of(bigbench_folders(TASKS)),
        code=code_of("released_features.py"),
    script:
        "../../scripts/released_features.py"


rule release:
    """The predictions as released and as corrected, and the audit of the release."""
    input:
        release=STUDY["release"],
        examples=rules.released_examples.output.examples,
    output:
        released=of_all_models(RELEASED),
        released_accuracy=of_all_models(RELEASED_ACCURACY),
        predictions=of_all_models(PREDICTIONS),
        accuracy=of_all_models(ACCURACY),
        audit=f"{RESULTS}/release/audit.parquet",
    log:
        f"{RESULTS}/logs/release/release.log",
    benchmark:
        f"{RESULTS}/benchmarks/release.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        models=lambda wildcards: MODELS,  # names may have braces
        state=state_of([STUDY["release"]]),
        code=code_of("release.py"),
    script:
        "../../scripts/release.py"


rule released_likelihoods:
    """The log-likelihoods of correct answers, from the losses in the release."""
    input:
        released=RELEASED,
    output:
        LIKELIHOODS,
    log:
        f"{RESULTS}/logs/likelihoods/{{model_file}}.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("released_likelihoods.py"),
    script:
        "../../scripts/released_likelihoods.py"
