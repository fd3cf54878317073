"""Evaluations that others ran, in place of models: scores of many checkpoints, with no predictions.

in:  files of lm-evaluation-harness: one of them, or a folder or zip file of many
out: EVALUATIONS
"""

from abovechance.study.config import evaluation_files

EVALUATED = evaluation_files(Path(STUDY["evaluations"]))
EVALUATIONS = f"{RESULTS}/evaluations.parquet"
KEPT += [EVALUATIONS]
OF_REPORT["predictions"] = [EVALUATIONS]  # what it was made from
INPUTS = EVALUATED
FACTS |= {"series"}


rule evaluations:
    """The scores of all checkpoints, with the chance of a guess, and groups of tasks."""
    input:
        lambda wildcards: EVALUATED,  # names may have braces
    output:
        EVALUATIONS,
    log:
        f"{RESULTS}/logs/evaluations.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        source=STUDY["evaluations"],
        chances=STUDY["chances"],
        groups=STUDY["groups"],
        place=CONFIG_FILES,
        state=state_of(EVALUATED),
        code=code_of("evaluations.py"),
    script:
        "../../scripts/evaluations.py"
