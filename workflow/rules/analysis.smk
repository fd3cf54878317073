"""What the predictions say.

in:  predictions.parquet and accuracy.parquet, from scores or from a release
out: verdicts.csv, heldout/outcomes.parquet and tables/
"""

TABLE_NAMES = [
    "verdicts",
    "verdict_counts",
    "heldout_by_prompts",
    "heldout_by_model",
    "heldout_by_task",
]
PRECISION_TABLES = ["precision_summary", "precision_settings"]
ALL_TABLES = (
    TABLE_NAMES
    + (PUBLISHED_TABLES if RELEASE else [])
    + (PRECISION_TABLES if PRECISION_PAIRS else [])
)
TABLES = expand(
    f"{RESULTS}/tables/{{name}}.{{suffix}}",
    name=ALL_TABLES,
    suffix=["csv", "md", "tex"],
)


rule verdicts:
    """Each setting's best prompt beside both baselines."""
    input:
        accuracy=ACCURACY,
        # others tell what was right, and not always what was predicted
        randomization=f"{RESULTS}/randomization.parquet" if SCORED else [],
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
        code=code_of("verdicts.py"),
    script:
        "../scripts/verdicts.py"


rule heldout:
    """What the best prompt on validation reaches on held-out test, in many splits."""
    input:
        predictions=PREDICTIONS,
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
        code=code_of("heldout.py"),
    script:
        "../scripts/heldout.py"


rule tables:
    """The tables that people read."""
    input:
        verdicts=rules.verdicts.output,
        outcomes=rules.heldout.output,
    output:
        expand(
            f"{RESULTS}/tables/{{name}}.{{suffix}}",
            name=TABLE_NAMES,
            suffix=["csv", "md", "tex"],
        ),
    log:
        f"{RESULTS}/logs/tables.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code_of("tables.py"),
    script:
        "../scripts/tables.py"


rule precision_tables:
    """The same model in two precisions, side by side."""
    input:
        verdicts=rules.verdicts.output,
        accuracy=ACCURACY,
    output:
        expand(
            f"{RESULTS}/tables/{{name}}.{{suffix}}",
            name=PRECISION_TABLES,
            suffix=["csv", "md", "tex"],
        ),
    log:
        f"{RESULTS}/logs/precision_tables.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        pairs=PRECISION_PAIRS,
        code=code_of("precision_tables.py"),
    script:
        "../scripts/precision_tables.py"
