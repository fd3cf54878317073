"""How much scores vary over seeds and checkpoints of one training.

needs: series
after: series_scores
question: How much do scores vary over seeds and during training?
in:  EVALUATIONS
out: a table of measures, and figures of how scores develop and vary
"""

SERIES = [
    ShownTable(
        "series",
        "How much do scores vary?",
        "The table shows, for the seeds and checkpoints of one training: the mean "
        "over seeds at the first and the last checkpoint, half the width of a 95 "
        "% interval over examples, the standard deviation over seeds (averaged "
        "over checkpoints, and at the last one), the signal-to-noise ratio, "
        "Kendall's tau with the training step, and monotonicity (tau with the "
        "opposite sign if lower is better). Leaves chance is the first step from "
        "which the best accuracy is significantly above the best of as many "
        "random guessers as there are prompts, seeds and checkpoints.",
        most_rows=100,
    ),
]
SERIES_FIGURES = [
    ShownFigure(
        "series_curves",
        "How do scores develop?",
        "Each panel shows one task and score: accuracy at the top, and a "
        "continuous score, such as the probability of the correct answer, at the "
        "bottom. The line is the mean over seeds, and the band its 95 % interval "
        "over examples. If there are several seeds, boxes show the quartiles and "
        "whiskers the range. Checkpoints have equal distances on the axis. The "
        "figure has at most 24 panels.",
    ),
    ShownFigure(
        "series_noise",
        "How certain are scores?",
        "Scores at the last checkpoint. Left: accuracy with its 95 % interval "
        "over examples, and the chance level if it is known. Right, if there are "
        "several seeds: the signal-to-noise ratio, for accuracy and for a "
        "continuous score. With a lower ratio, differences between models are "
        "noisier. With few seeds, the standard deviation is uncertain: with five "
        "seeds, its 95 % interval is from 0.6 to 2.9 times the value.",
    ),
]
TABLES += SERIES
FIGURES += SERIES_FIGURES


rule series:
    """What varies in a series, and how its scores develop."""
    input:
        EVALUATIONS,
    output:
        reported_tables(SERIES, "Variance", "../../report/series.rst"),
        reported_figures(SERIES_FIGURES, "../../report/series.rst"),
    log:
        f"{RESULTS}/logs/series.log",
    localrule: True
    conda:
        "../../../envs/analysis.yaml"
    params:
        code=code_of("series.py"),
    script:
        "../../scripts/series.py"
