"""How much scores vary over seeds and checkpoints of one training.

needs: series
after: series_scores
in:  EVALUATIONS
out: a table of measures, and figures of how scores develop and vary
"""

SERIES = [
    ShownTable(
        "series",
        "How much do scores vary?",
        "Of the seeds and checkpoints of one training: the mean over seeds at the first and last checkpoint; "
        "half the width of a 95 % interval over examples, averaged over models; the standard deviation over "
        "seeds, averaged over checkpoints, and at the last one; the signal-to-noise ratio of the mean and "
        "that; Kendall's tau with the order of training, and monotonicity, its sign turned for losses; the "
        "step from which on the best accuracy is told from that of as many random guessers as prompts, seeds "
        "and checkpoints were looked at.",
        most_rows=100,
    ),
]
SERIES_FIGURES = [
    ShownFigure(
        "series_curves",
        "How scores develop",
        "A panel for each task and score, accuracy above, and below it a score that says more than right "
        "or wrong, such as the probability of the correct answer among the choices: the mean over seeds with "
        "its 95 % interval over examples (band), and where there are several seeds, boxes from one quartile "
        "of these to the other with whiskers to all, or bars. Checkpoints stand side by side, whatever the "
        "steps between them. At most 24 panels, of the first tasks.",
    ),
    ShownFigure(
        "series_noise",
        "How sure scores are, and how much of them is noise",
        "Of the last checkpoint and the tasks of the figure above: accuracy with its 95 % interval over "
        "examples, and the chance of one guess where it is known. Beside it, where there are several seeds: "
        "the mean over seeds by their standard deviation, of accuracy and of a score that says more; the "
        "further right, the less of a difference between models is the seed's. With few seeds a standard "
        "deviation is rough: that of five has a 95 % interval from 0.6 to 2.9 times it.",
    ),
]
TABLES += SERIES
OF_REPORT["series"] = table_file("series")
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
