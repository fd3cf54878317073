"""Which simple guessers each best prompt beats: always the longest choice, always the majority label, and others.

needs: tasks or release or choices
before: verdicts
in:  predictions/, the tasks that guessers read and, if there are some, prompts/ and null_scores/
out: ladder/ of each model, which verdicts carry
"""

from importlib.metadata import entry_points

LADDER = f"{RESULTS}/ladder/{{model_file}}.parquet"
KEPT += of_all_models(LADDER)
# those of a study from stored scores are inputs, and lie elsewhere
KEPT += [file for file in GUESSED_TASKS if file.startswith(f"{RESULTS}/")]
# other ones are another table
GUESSERS_OF_PACKAGES = sorted(
    f"{point.name} = {point.value} ({point.dist.name} {point.dist.version})"
    for point in entry_points(group="abovechance.guessers")
)


rule ladder:
    """The best prompt of each setting, compared with simple guessers."""
    input:
        predictions=PREDICTIONS,
        tasks=GUESSED_TASKS,
        prompts=PROMPTS_OF_SETTINGS,
        evaluation_sets=EVALUATION_SETS if NULL in KINDS else [],
        null_scores=scores_of(NULL) if NULL in KINDS else [],
    output:
        LADDER,
    log:
        f"{RESULTS}/logs/ladder/{{model_file}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/ladder/{{model_file}}.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        tasks=lambda wildcards: TASKS,  # names may have braces
        settings=lambda wildcards: settings_of(wildcards) * bool(PROMPTS_OF_SETTINGS),
        normalization=STUDY.get("normalization", ""),
        seed=STUDY["seed"],
        code=code_of("ladder.py"),
        guessers=GUESSERS_OF_PACKAGES,
    script:
        "../../scripts/ladder.py"


BESIDE_VERDICTS["ladder"] = of_all_models(LADDER)
