"""What a study shows: every table and figure by name, with what the report says of it.

The workflow's rules make what is listed, the report shows it in the order of the lists, and a job that
writes other names than these is an error. Light, since each job of a study reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from abovechance.core.files import file_name

TABLE_SUFFIXES = ("parquet", "csv", "md", "tex")
FIGURE_SUFFIXES = ("pdf", "png", "csv")


@dataclass(frozen=True)
class ShownTable:
    """A table: its file, and if it is a section of the report, what is shown there.

    Attributes
    ----------
    title, text
        The heading and the text above the table; without a heading, the report does not show it.
    most_rows
        The number of rows in the report, if not all are shown.
    hidden
        Columns that the report does not show.
    """

    name: str
    title: str = ""
    text: str = ""
    most_rows: int | None = None
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShownFigure:
    """A figure: its files' name, its heading and its caption."""

    name: str
    title: str
    caption: str


VERDICTS = [ShownTable("verdicts"), ShownTable("verdict_counts")]
LEFT_OUT = [
    ShownTable(
        "left_out",
        "Prompts that were left out",
        "Prompts longer than the model's context: how many of the prompts that were drawn, and the tokens of "
        "the longest. They are not among the prompts tried; a setting of which all were left out has no "
        "verdict.",
    )
]
HELDOUT = [
    *(ShownTable(f"heldout_by_{by}") for by in ("prompts", "model", "task")),
    ShownTable(
        "heldout_difference",
        "Which baseline foresees held-out results better",
        "Of choices from the most prompts: the share of decisions that were right (accuracy), and the areas "
        "under the ROC curve of the decision and of the tail probability as a score. Splits of one setting, "
        "and settings of one task, are not independent, so the 95 % interval of the difference is from "
        "resampling tasks; with fewer than five tasks there is none.",
    ),
]
PRECISION = [
    ShownTable(
        "precision_summary",
        "The same model in two precisions",
        "How many settings are above the standard baseline, and how many of these between the two "
        "baselines, in the first and in the second precision, and how many verdicts are the same. Task by "
        "task: tables/precision_settings.csv.",
    ),
    ShownTable("precision_settings"),
]
MODELS = [
    ShownTable(
        "two_models",
        "Is one model better than the other?",
        "The difference of mean accuracies on the same examples and prompts, the better model first, with "
        "its 95 % interval and p-value, also adjusted for the number of tasks. The column about states what "
        "this holds for. Detectable: the smallest true difference that is found with a probability of 80 %. "
        "Needed: the number of examples that would find a difference of this size.",
        hidden=("conclusion",),
    ),
    ShownTable(
        "models",
        "Which models differ?",
        "Mean accuracy over prompts and tasks, each task counted alike, on the same examples and prompts. "
        "The column about states what this holds for. The true rank is between rank low and rank high, with "
        "95 % confidence for all models at once. Models that share a letter (groups) cannot be "
        "distinguished. Best: the share of draws in which the model is the best. Task by task: "
        "tables/model_ranks.csv; every pair with its difference, interval and tests: tables/model_pairs.csv.",
    ),
    ShownTable("model_ranks"),
    ShownTable("model_pairs"),
]
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
SEEDS = [
    ShownTable(
        "seeds",
        "Where do answers vary?",
        "Whether a single answer is right, at the last checkpoint: the share of its variance that is between "
        "seeds, between prompts, between examples, and what these do together (the last row has the noise in "
        "it). Deviation: what each adds to the mean of all answers, were its seeds, prompts or examples "
        "drawn anew.",
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
FORMULATIONS = [
    ShownTable(
        "formulations",
        "Do formulations of a task agree?",
        "Pearson's r, over all models and checkpoints, of scores on the same examples behind the same "
        "demonstrations in two formulations; the mean of each; and how many models score higher in each. "
        "Models of one training are no independent ones, so r says how the two develop together.",
    ),
    ShownTable(
        "formulation_series",
        "What does a formulation change?",
        "The mean over seeds at the first and at the last checkpoint, the standard deviation over seeds "
        "(averaged over checkpoints, and at the last one), the signal-to-noise ratio and monotonicity of "
        "each formulation.",
    ),
]
FORMULATIONS_FIGURE = ShownFigure(
    "formulations",
    "Formulations of a task",
    "Each dot is a model, with its score in the one formulation and in the other; darker blue are later "
    "checkpoints, orange models of no series. The line: where both are the same. r is Pearson's, of so many "
    "models.",
)
SPREAD = ShownFigure(
    "spread",
    "The spread of prompts",
    "Each small dot is a prompt; the large one is the best. Dashed: the standard random baseline. Solid: the "
    "maximum random baseline, the mean of what the best of as many guessers reaches. A best prompt under it "
    "is what luck alone gives; one above it may be, too. Stars say that as many guessers seldom do as well: "
    "* with a probability of at most 0.05, ** of at most 0.01; a ring, that they do more often. Where a "
    "panel has more than 60 settings, only best prompts are shown, in their order.",
)
AGREEMENT = ShownFigure(
    "agreement",
    "Which baseline foresees held-out results",
    "Does being above a baseline on the validation split foresee that the chosen prompt is above the "
    "standard baseline on the held-out test split? Marks: the decision to be above. Coloured lines: "
    "its tail probability as a score. Dotted lines and hollow marks: the same of random guessers in place of "
    "prompts. What a validation part has, the test part lacks, so guessers who do well on one do badly on "
    "the other: they, and not the thin diagonal, are the reference.",
)


PVI = [
    ShownTable(
        "pvi",
        "How much inputs tell about answers",
        "Pointwise V-usable information (PVI) is by how many bits an example's input makes its answer "
        "likelier; its mean over examples is the information that inputs have for this model, with its 95 % "
        "interval from low to high. Below 0, the input misleads. Ties of a right and a wrong choice are "
        "wrong predictions. Then the mean PVI of right and of wrong "
        "predictions; the share of negative ones; the threshold that divides right from wrong best, and how "
        "much it tells apart (0.5 is nothing). Probabilities of answers are over the vocabulary, or over the "
        "choices.",
    ),
    ShownTable(
        "pvi_tails",
        "Accuracy on the hardest and easiest examples",
        "Of the examples with the lowest and highest PVI, fifths and halves, mean over exemplar sets. PVI"
        " contains the answer's probability, so that low PVI is low accuracy partly by definition, and a "
        "model that likes one answer is right on its examples: the columns that begin with other order the "
        "examples of each label by their PVI under the other exemplar sets, which has neither in it.",
    ),
    ShownTable(
        "pvi_consistency",
        "Are the same examples hard again?",
        "Pearson's r of the PVI of the same examples under two exemplar sets, two numbers of shots, and "
        "for two models: mean, median, and how many are above 0.6 and below 0.3. Within: the mean r when "
        "each label's mean is taken away; a model that likes one answer finds all examples of the others "
        "hard, which makes r large, and negative between prompts behind which it likes another one. Each r "
        "with its interval: tables/pvi_pairs.csv.",
    ),
    ShownTable("pvi_pairs"),
    ShownTable(
        "pvi_exemplar_sets",
        "Do exemplar sets differ?",
        "Whether the mean PVI of the same examples differs between prompts, by an analysis of variance of "
        "repeated measures: the share of the variation within examples that is between prompts, F with its "
        "degrees of freedom between and within (Greenhouse and Geisser's), and p.",
    ),
    ShownTable(
        "pvi_anova",
        "Do exemplar sets differ? As the paper asks",
        "An analysis of variance of the mean PVI of right predictions, one number for each exemplar set and "
        "number of shots. With so few numbers a difference is seldom found, and that none is found says "
        "little; the table above asks all examples.",
    ),
    ShownTable(
        "pvi_hardest",
        "The hardest examples of each label",
        "Those whose inputs tell the models least, or mislead them most: mean PVI over models, exemplar sets "
        "and numbers of shots.",
        most_rows=60,
    ),
    ShownTable(
        "pvi_mislabelled",
        "Examples whose labels may be wrong",
        "The input speaks for another answer than the label, by so many bits more (margin, mean over "
        "settings); first those of which it does so most beyond the median of their label. Weak models are "
        "wrong more often than labels: where most examples of a label are listed (of label), models like "
        "another answer, and nothing is said of the labels.",
        most_rows=20,
    ),
    ShownTable(
        "pvi_annotations",
        "Do annotators find the same examples hard?",
        "Pearson's r of PVI and the variation ratio, the share of annotators who did not answer as most did; "
        "below 0 where models find hard what people do.",
    ),
]
HARD_DEMONSTRATIONS = [
    ShownTable(
        "pvi_demonstrations",
        "Are hard examples better demonstrations?",
        "Accuracy behind demonstrations of each label drawn from all examples, and from the fifth that is "
        "hardest for the model; the spread is the standard deviation over prompts. The difference has its 95 "
        "% interval by examples, for these prompts: other prompts of either kind differ by their spread.",
    ),
]
PVI_FIGURES = [
    ShownFigure(
        "pvi_densities",
        "PVI of right and wrong predictions",
        "Densities of the PVI of all prompts and examples with the most shots: filled where the "
        "prediction is right, a line where it is wrong. Dashed: the PVI that divides them best.",
    ),
    ShownFigure(
        "pvi_tails",
        "Accuracy on hard and easy examples",
        "Examples by their PVI, from the lowest fifth to the highest: accuracy, mean over exemplar sets. "
        "Dotted and hollow: each label's examples by the PVI of the other exemplar sets, which contains "
        "neither the answer's probability nor that a model likes one answer.",
    ),
    ShownFigure(
        "pvi_annotations",
        "PVI and how far annotators agree",
        "Each small dot is an example: the share of annotators who did not answer as most did, and its mean "
        "PVI with the most shots. Large: the means of examples with the same share, with 95 % intervals.",
    ),
]
PVI_MODELS = ShownFigure(
    "pvi_models",
    "Do models find the same examples hard?",
    "Pearson's r of the mean PVI of the same examples for two models, with the most shots.",
)


# what is found of the examples of each task
OF_ITEMS = (
    *("item_tasks", "item_list", "item_associations", "item_fit", "item_pruning"),
    *("smaller_benchmarks", "adaptive"),
)
ITEMS = [
    ShownTable(
        "items",
        "Which examples tell models and prompts apart?",
        "Each model, number of shots and prompt is a row of responses, each example an item. Difficulty is "
        "the mean score, alpha Cronbach's; constant items tell nothing, and negative ones are failed more "
        "often by better rows (half of the items are, if none has to do with the others). Discrimination is"
        " Pearson's r of an item with the rest of the items; halves, how much it is the same in two random "
        "halves of the rows, and best and rest, in the best fifth and the others. By answer: the share of "
        "the variance of discrimination that goes with which answer is right. Where it is large, rows "
        "differ in the answer that they like, and not in what they know; in the balanced discrimination "
        "each answer counts alike. Prompts of one model are no independent rows. Item by item: "
        "tables/item_list.csv.",
    ),
    ShownTable("item_list"),
    ShownTable(
        "item_negative",
        "Examples that better prompts fail more often",
        "The lowest of each task, then the next, as far as both random halves of the rows say so. Often the"
        " gold answer is wrong, but all examples of an answer that better rows like less are negative, too:"
        " look at balanced. Suggested, where PVI was measured: the answer that the input speaks for.",
        most_rows=40,
    ),
    ShownTable(
        "item_associations",
        "What goes with discrimination?",
        "Of answers and subtasks the share of its variance between them (epsilon squared, 0 on average where "
        "they have nothing to do with it), of numbers Spearman's r; p by permutation.",
        most_rows=60,
    ),
    ShownTable(
        "item_fit",
        "Do item response models foresee responses?",
        "A tenth of the responses is held out. Log loss in nats, less is better, and how often the likelier "
        "response is the right one: of the mean, of a row's and an item's mean, of both together, and of the "
        "two-parameter model with one and two abilities.",
        most_rows=40,
    ),
    ShownTable(
        "item_pruning",
        "Does it help to take the worst items away?",
        "A fifth of the items, those that discriminate least in other rows, is taken away: the change of the "
        "held-out rows' mean score, and whether it is outside of what 95 % of as many random items change; "
        "their mean standard error before and after, and after random removal; and the deviation between "
        "rows. A smaller error than after random removal, but not than before, is no gain; a mean that "
        "changes makes scores another benchmark's. All steps: tables/item_pruning_steps.csv.",
        most_rows=60,
    ),
    ShownTable("item_pruning_steps"),
    ShownTable(
        "smaller_benchmarks",
        "What do smaller benchmarks cost?",
        "Held-out rows evaluated on a few examples, that were chosen by other rows: the mean error of their"
        " scores; its bias; the standard error, how far estimates spread over choices of examples, which "
        "says nothing of bias: a model that is fitted to other models is sure of what it gets wrong; "
        "Kendall's tau-b with the order by all examples; how many pairs are turned round (those that are "
        "found equal count half), of all, of prompts of one model (within), and of the best fifth. Held out "
        "are random rows, whose models are also among the others; the best rows; and new models, which is "
        "what such a benchmark is for (of two or three, one at a time, so that all pairs are within). Mean "
        "over the tasks that have all sizes; task by task: tables/smaller_benchmarks_by_task.csv.",
        most_rows=100,
    ),
    ShownTable("smaller_benchmarks_by_task"),
    ShownTable(
        "adaptive",
        "How many examples does a decision take?",
        "Stored responses of models that the fitted model does not know (of one model: of prompts) are "
        "replayed one by one until the decision is sure, with an error of at most 0.05: at random; at "
        "random, assisted by the fitted model, which is right whatever that is worth; and by information, "
        "which is right where the fitted model is. Share: of the examples; wrong: how often the decision is "
        "another one than that of all examples, and below which share that is with 95 %.",
    ),
    ShownTable("adaptive_by_task"),
]
ITEM_FIGURES = [
    ShownFigure(
        "items",
        "Difficulty and discrimination",
        "Each dot is an example: its mean score, and Pearson's r with the rest of the examples. Below the "
        "line, better rows fail it more often. Colours are right answers, where few have most examples. At "
        "most 24 tasks.",
    ),
    ShownFigure(
        "item_halves",
        "Is discrimination the same again?",
        "Blue: an example's discrimination in one random half of the rows, and in the other. Orange: in the "
        "best fifth of the rows, by that in the rest. On the line it is the same.",
    ),
    ShownFigure(
        "smaller_benchmarks",
        "What fewer examples cost",
        "Of held-out rows evaluated on so many examples: the mean error of a score; the standard error, how"
        " far estimates spread with the choice of examples; how many pairs of rows are turned round, of all"
        " and of the best fifth (one that is found equal counts half). Dashed: random subsets, all over and "
        "by layers of difficulty. Columns: which rows are held out; for a new model, the last one counts.",
    ),
    ShownFigure(
        "adaptive",
        "How many examples a decision takes",
        "The share of examples that are evaluated until the decision is sure with an error of at most 5 %, "
        "on stored responses; beside it how often it is another one than that of all examples.",
    ),
]


def item_pruning(what: str) -> ShownFigure:
    """The figure of what pruning does to held-out scores: their mean, error or monotonicity."""
    words = {
        "mean": "the mean score",
        "error": "the standard error, by that of all examples",
        "monotonicity": "the monotonicity over checkpoints",
    }
    return ShownFigure(
        f"item_pruning_{what}",
        f"Without the examples that discriminate least: {words[what].split(',')[0]}",
        f"What becomes of {words[what]} of held-out rows where ever more examples are taken away, those "
        "first that discriminate least in the other rows. Bands: 95 % of as many at random.",
    )


def expected_maximum(model: str) -> ShownFigure:
    """The figure of one model's expected best accuracies."""
    return ShownFigure(
        f"expected_maximum_{file_name(model)}",
        f"The best of ever more prompts: {model}",
        "Above: the expected accuracy of the best of as many prompts as the axis says (coloured), and "
        "both baselines. Below: the probability that guessing reaches it, for one guesser (dashed) and "
        "for the best of as many guessers (solid); the thin line marks 0.05.",
    )
