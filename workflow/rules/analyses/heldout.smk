"""What the best prompt on validation reaches on held-out test.

in:  predictions.parquet
out: heldout/outcomes.parquet, heldout/guessers.parquet and their tables
"""

TABLES += catalogue.HELDOUT


rule heldout:
    """What the best prompt on validation reaches on held-out test, in many splits."""
    input:
        predictions=PREDICTIONS,
    output:
        OUTCOMES,
    log:
        f"{RESULTS}/logs/heldout.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=STUDY["heldout"],
        code=code_of("heldout.py"),
    script:
        "../../scripts/heldout.py"


rule heldout_guessers:
    """The same with random guessers in place of prompts: what no skill gives."""
    input:
        predictions=PREDICTIONS,
    output:
        GUESSERS,
    log:
        f"{RESULTS}/logs/heldout_guessers.log",
    benchmark:
        f"{RESULTS}/benchmarks/heldout_guessers.tsv"
    conda:
        "../../../envs/analysis.yaml"
    params:
        seed=STUDY["seed"],
        heldout=STUDY["heldout"],
        code=code_of("heldout_guessers.py"),
    script:
        "../../scripts/heldout_guessers.py"


rule heldout_tables:
    """How well each baseline foresees held-out results."""
    input:
        outcomes=OUTCOMES,
        guessers=GUESSERS,
    output:
        table_files(catalogue.HELDOUT),
    log:
        f"{RESULTS}/logs/heldout_tables.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("heldout_tables.py"),
    script:
        "../../scripts/heldout_tables.py"
