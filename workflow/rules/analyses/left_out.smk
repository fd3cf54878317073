"""The prompts that were left out since they are longer than a model's context.

in:  scores/, whose metadata say it
out: left_out.parquet, which verdicts carry, and its table
"""

TABLES += catalogue.LEFT_OUT


rule left_out:
    """How many prompts of each setting were left out."""
    input:
        scores=SCORES[DRAWN],
    output:
        left_out=f"{RESULTS}/left_out.parquet",
        tables=reported_tables(
            catalogue.LEFT_OUT, "Verdicts", "../../report/left_out.rst"
        ),
    log:
        f"{RESULTS}/logs/left_out.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=SETTINGS,
        code=code_of("left_out.py"),
    script:
        "../../scripts/left_out.py"


BESIDE_VERDICTS["left_out"] = [rules.left_out.output.left_out]
