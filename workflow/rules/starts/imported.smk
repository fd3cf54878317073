"""Other tools' results, in place of scores.

in:  a file that `abovechance import` wrote
out: predictions.parquet and accuracy.parquet, and where it is asked for likelihoods.parquet
"""

from abovechance.results.imported import settings_in

IMPORTED = STUDY["predictions"]
MODELS, TASKS, SHOTS = told(settings_in, Path(IMPORTED))
MADE_FROM = [PREDICTIONS]
KEPT = []
ANALYSES = ["verdicts", "heldout", "spread", "agreement", "expected_maximum"]


rule imported:
    """The predictions, and their accuracies."""
    input:
        predictions=IMPORTED,
    output:
        predictions=PREDICTIONS,
        accuracy=ACCURACY,
    log:
        f"{RESULTS}/logs/imported.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        state=state_of([IMPORTED]),
        code=code_of("imported.py"),
    script:
        "../../scripts/imported.py"


rule imported_likelihoods:
    """The log-likelihoods that came with the predictions."""
    input:
        predictions=IMPORTED,
    output:
        LIKELIHOODS,
    log:
        f"{RESULTS}/logs/likelihoods.log",
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("imported_likelihoods.py"),
    script:
        "../../scripts/imported_likelihoods.py"
