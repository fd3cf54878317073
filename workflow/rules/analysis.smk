"""What the scores say.

in:  scores and tasks
out: predictions.parquet, accuracy.parquet, verdicts.csv, heldout/outcomes.parquet and tables/
"""

TABLE_NAMES = [
    "verdicts",
    "verdict_counts",
    "heldout_by_prompts",
    "heldout_by_model",
    "heldout_by_task",
]
TABLES = expand(
    f"{RESULTS}/tables/{{name}}.{{suffix}}",
    name=TABLE_NAMES,
    suffix=["csv", "md", "tex"],
)


rule accuracy:
    """Which examples each prompt gets right, and its accuracy."""
    input:
        tasks=expand(f"{RESULTS}/tasks/{{task}}.parquet", task=TASKS),
        scores=SCORES,
    output:
        predictions=f"{RESULTS}/predictions.parquet",
        accuracy=f"{RESULTS}/accuracy.parquet",
    log:
        f"{RESULTS}/logs/accuracy.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        settings=[
            (model, task, shots)
            for model in MODELS
            for task in TASKS
            for shots in SHOTS
        ],
        tasks=TASKS,
        normalization=STUDY["normalization"],
        code=code_digest("accuracy", "archive"),
    script:
        "../scripts/accuracy.py"


rule verdicts:
    """Each setting's best prompt beside both baselines."""
    input:
        accuracy=rules.accuracy.output.accuracy,
    output:
        report(
            f"{RESULTS}/verdicts.csv",
            caption="../report/verdicts.rst",
            category="Verdicts",
        ),
    log:
        f"{RESULTS}/logs/verdicts.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_digest("verdicts", "archive"),
    script:
        "../scripts/verdicts.py"


rule heldout:
    """What the best prompt on validation reaches on held-out test, in many splits."""
    input:
        predictions=rules.accuracy.output.predictions,
    output:
        f"{RESULTS}/heldout/outcomes.parquet",
    log:
        f"{RESULTS}/logs/heldout.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=STUDY["heldout"],
        code=code_digest("heldout", "archive"),
    script:
        "../scripts/heldout.py"


rule tables:
    """The tables that people read."""
    input:
        verdicts=rules.verdicts.output,
        outcomes=rules.heldout.output,
    output:
        TABLES,
    log:
        f"{RESULTS}/logs/tables.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_digest("tables"),
    script:
        "../scripts/tables.py"
