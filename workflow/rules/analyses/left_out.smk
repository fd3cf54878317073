"""The prompts that were left out since they are longer than a model's context.

needs: scores
before: verdicts
question: Is the best score better than chance?
in:  scores/, whose metadata say it
out: left_out.parquet, which verdicts carry, and its table
"""

LEFT_OUT = [
    ShownTable(
        "left_out",
        "Prompts that were left out",
        "Prompts that are longer than the model's context are left out. For each "
        "setting, the table shows the number of drawn prompts, the number of "
        "prompts that were left out, and the number of tokens of the longest "
        "prompt. Prompts that are left out do not count as tried. A setting "
        "without a remaining prompt has no verdict.",
    )
]
TABLES += LEFT_OUT


rule left_out:
    """How many prompts of each setting were left out."""
    input:
        scores=SCORES[DRAWN],
    output:
        left_out=f"{RESULTS}/left_out.parquet",
        tables=reported_tables(LEFT_OUT, "Verdicts", "../../report/left_out.rst"),
    log:
        f"{RESULTS}/logs/left_out.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        settings=SETTINGS,
        state=lambda wildcards: stored_state(),
        code=code_of("left_out.py"),
    script:
        "../../scripts/left_out.py"


BESIDE_VERDICTS["left_out"] = [rules.left_out.output.left_out]
