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
        "For the seeds and checkpoints of one training: the mean over seeds at the "
        "first and the last checkpoint; half the width of a 95 % interval over "
        "examples; the standard deviation over seeds, averaged over checkpoints and at "
        "the last one; the signal-to-noise ratio; Kendall's tau with the order of "
        "training, and monotonicity (tau with the opposite sign for losses); and the "
        "step from which the best accuracy is above that of as many random guessers as "
        "there are prompts, seeds and checkpoints.",
        most_rows=100,
    ),
]
SERIES_FIGURES = [
    ShownFigure(
        "series_curves",
        "How do scores develop?",
        "One panel per task and score: accuracy above, and a continuous score below, "
        "such as the probability of the correct answer. The line is the mean over "
        "seeds, the band its 95 % interval over examples. With several seeds, boxes "
        "show the quartiles and whiskers the range. Checkpoints are evenly spaced, "
        "whatever the steps between them. At most 24 panels.",
    ),
    ShownFigure(
        "series_noise",
        "How certain are scores?",
        "The last checkpoint, for the tasks of the figure above. Left: accuracy with "
        "its 95 % interval over examples, and chance if it is known. Right, with "
        "several seeds: the mean over seeds against the standard deviation over seeds, "
        "for accuracy and for a continuous score. Further right, more of a difference "
        "between models is noise. With few seeds the standard deviation is rough: with "
        "five, its 95 % interval is from 0.6 to 2.9 times the value.",
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
