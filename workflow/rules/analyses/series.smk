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
        "Each row is a series: the seeds and checkpoints of one training. 'first' "
        "and 'mean' are the means over seeds at the first and at the last "
        "checkpoint. 'interval' is half the width of a 95 % confidence interval "
        "over examples. 'deviation' is the standard deviation over seeds, averaged "
        "over checkpoints; 'final deviation' is that at the last checkpoint. 'snr' "
        "is the signal-to-noise ratio. 'tau' is Kendall's tau with the training "
        "step. 'monotonicity' is tau, with the opposite sign if lower is better. "
        "'leaves chance' is the first step from which the best accuracy is "
        "significantly above chance. It compares with the best of as many random "
        "guessers as there are prompts, seeds and checkpoints.",
        most_rows=100,
    ),
]
SERIES_FIGURES = [
    ShownFigure(
        "series_curves",
        "How do scores develop?",
        "Each panel shows one score on one task. Accuracy is at the top. A "
        "continuous score, such as the probability of the correct answer, is at "
        "the bottom. Lines show the mean over seeds, and bands its 95 % confidence "
        "interval over examples. With several seeds, boxes show the quartiles over "
        "seeds, and whiskers the range. Up to 60 checkpoints are equally spaced on "
        "the axis; with more, the axis is logarithmic. Each model is shown with its "
        "largest number of shots. The figure has at most 24 panels.",
    ),
    ShownFigure(
        "series_noise",
        "How certain are scores?",
        "All scores are at the last checkpoint. Left: accuracy with its 95 % "
        "confidence interval over examples, and the chance level if it is known. "
        "Right (only with several seeds): the signal-to-noise ratio of accuracy "
        "and of a continuous score. A low ratio means that differences between "
        "models are noisy. With few seeds, the standard deviation over seeds is "
        "uncertain. With five seeds, its 95 % confidence interval reaches from 0.6 "
        "to 2.9 times the estimate.",
    ),
]
TABLES += SERIES
FIGURES += SERIES_FIGURES


rule series:
    """The variance of scores in a series, and their development during training."""
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
