"""Conclusions as people read them: each sentence as a whole."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

from abovechance.chance.conclusion import in_words, with_conclusions
from abovechance.chance.multiplicity import with_adjusted
from abovechance.chance.permutation import null_distribution
from abovechance.chance.published_scores import judge_scores
from abovechance.core.p_values import probability


def table(**columns):
    rows = {"maximum_tail": 0.2, "position": "above", "prompts": 20, "guessing_above": 0.5}
    return pd.DataFrame(rows | columns)


def words_of(noun="setting", **columns):
    return in_words(with_conclusions(with_adjusted(table(**columns))), noun)


def test_a_single_setting():
    for tail, words in (
        (0.01, "is better than chance (p = 0.01"),
        (0.05, "is better than chance (p = 0.05"),
        (0.2, "is not shown to be better than chance (p = 0.20"),
    ):
        assert words_of(maximum_tail=[tail]) == [f"The best score {words} against the best of 20 guessers)."]
    unclear = words_of(maximum_tail=[0.01], randomization_tail=[0.2])
    assert unclear == [
        "The best score is not clearly better than chance (p = 0.01 against the best of 20 guessers; p = "
        "0.20 in the randomization test: label frequencies alone may explain the accuracy)."
    ]


def test_several_settings():
    assert words_of(maximum_tail=[0.001, 0.04, 0.2], position=["above", "between", "below"]) == [
        "1 of the 3 settings is better than chance.",
        "The best prompt is above the standard random baseline in 2 of them, and above the maximum random "
        "baseline in 1. Guessing alone would be above the maximum random baseline in about 1.5.",
        "2 settings have p <= 0.05 without correction. After the Benjamini-Hochberg correction for 3 "
        "comparisons, 1 has p <= 0.05.",
    ]
    assert words_of(noun="score", maximum_tail=[0.001, 0.002, 0.2], position=["above", "above", "below"]) == [
        "2 of the 3 scores are better than chance.",
        "The best prompt is above the standard random baseline in 2 of them, and above the maximum random "
        "baseline in 2. Guessing alone would be above the maximum random baseline in about 1.5.",
        "2 scores have p <= 0.05 without correction. After the Benjamini-Hochberg correction for 3 "
        "comparisons, 2 have p <= 0.05.",
    ]
    assert words_of(maximum_tail=[0.2, 0.3], position=["between to above", "below"]) == [
        "None of the 2 settings is shown to be better than chance.",
        "The best prompt is above the standard random baseline in 1 of them, and above the maximum random "
        "baseline in none (in 1 more, it depends on rounding). Guessing alone would be above the "
        "maximum random baseline in about 1.0.",
        "No settings have p <= 0.05 without correction. After the Benjamini-Hochberg correction for 2 "
        "comparisons, none has p <= 0.05.",
    ]
    single = words_of(maximum_tail=[0.02, 0.3], position=["above", "above"])
    assert single[2].startswith("1 setting has p <= 0.05 without correction.")
    at_the_level = words_of(maximum_tail=[0.05, 0.05])
    assert at_the_level[2].startswith("2 settings have p <= 0.05 without correction.")


@pytest.mark.parametrize(
    ("tails", "sentences"),
    [
        (
            [0.01, 0.2, 0.2],
            ["test, 1 setting has p <= 0.05 without correction, and 1 after correction."],
        ),
        (
            [0.05, 0.05, np.nan],
            [
                "test, 2 settings have p <= 0.05 without correction, and 2 after correction.",
                "The randomization test has no power in 1 setting.",
            ],
        ),
        (
            [0.3, np.nan, np.nan],
            [
                "test, no settings have p <= 0.05 without correction, and none after correction.",
                "The randomization test has no power in 2 settings.",
            ],
        ),
    ],
)
def test_the_randomization_test(tails, sentences):
    unclear = words_of(maximum_tail=[0.001] * 3, randomization_tail=tails)
    start = "The randomization test keeps label frequencies and the dependence between prompts. In this "
    assert unclear[3:] == [start + sentences[0], *sentences[1:]]


def test_how_many_are_unclear():
    words = words_of(maximum_tail=[0.001] * 3, randomization_tail=[0.001, 0.9, 0.9])
    assert words[0] == "1 of the 3 settings is better than chance; 2 are unclear."
    words = words_of(maximum_tail=[0.001] * 3, randomization_tail=[0.001, 0.001, 0.9])
    assert words[0] == "2 of the 3 settings are better than chance; 1 is unclear."


def test_conclusions_keep_the_rows_of_a_table():
    concluded = with_conclusions(table(maximum_tail=[0.01, 0.2]).set_axis([7, 3]))
    assert concluded["better_than_chance"].to_dict() == {7: "yes", 3: "no"}
    # both levels of the randomization test count
    exactly = with_conclusions(table(maximum_tail=[0.05], randomization_tail=[0.05]))
    assert exactly["better_than_chance"].tolist() == ["yes"]
    # a rounded accuracy: the adjusted values of both ends
    ends = [np.array([0.01, 0.04]), np.array([0.01, 0.06])]
    rounded = with_conclusions(with_adjusted(table(maximum_tail=[0.01, 0.05])), ends)
    assert rounded["better_than_chance"].tolist() == ["yes", "unclear"]
    assert rounded["reason"][1] == "the accuracy is rounded, so adjusted p is between 0.04 and 0.06"
    between = table(maximum_tail=[0.2], position=["below to between"], randomization_tail=[0.01])
    assert with_conclusions(between)["better_than_chance"].tolist() == ["unclear"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0099999, "1.0e-02"),
        (0.01, "0.01"),
        (0.05, "0.05"),
        (0.0501, "0.0501"),
        (0.0504, "0.0504"),
        (0.0506, "0.051"),
        (0.05004, "0.0501"),
        (0.050000001, "0.0501"),
        (0.5, "0.50"),
        (1.0, "1.00"),
        (1.3e-7, "1.3e-07"),
    ],
)
def test_probabilities(value, text):
    assert probability(value) == text


SINGLE = "By chance, it would score 0.500 on average."


@pytest.mark.parametrize(
    ("predictions", "gold", "options", "sentences"),
    [
        (
            "aabb",
            "aabb",
            {},
            ["accuracy: 1.000.", SINGLE, "This is not shown to be better than chance (p = 0.17; exact)."],
        ),
        (
            "aaabbb",
            "aaabbb",
            {},
            ["accuracy: 1.000.", SINGLE, "This is better than chance (p = 0.05; exact)."],
        ),
        (
            "aabbab",
            "aabbab",
            {"strata": [0, 0, 0, 0, 1, 2]},
            [
                "accuracy: 1.000.",
                "By chance, it would score 0.667 on average.",
                "This is not shown to be better than chance (p = 0.17; exact, within 3 strata).",
                "The test leaves out 2 examples (33.3%), because the gold answer cannot change.",
            ],
        ),
        (
            ["aabb", "abab"],
            "aabb",
            {},
            [
                "accuracy: 1.000 (candidate x\\x1b, the best of 2).",
                "By chance, this candidate would score 0.500 on average, and the best of 2 0.667 (95 %: "
                "0.500 to 1.000).",
                "This is not shown to be better than chance (p = 0.33 for the best of 2, 0.17 for a single "
                "try; all permutations of the gold answers).",
            ],
        ),
        (
            "aabb" * 5,
            "aabb" * 5,
            {"tries": 2},
            [
                "accuracy: 1.000.",
                "By chance, it would score 0.500 on average, and the best of 2 0.563 (95 %: 0.400 to 0.700).",
                "This is better than chance (p = 1.1e-05 for the best of 2, 5.4e-06 for a single try; "
                "exact).",
                "The results contain 1 of 2 tries. The others are assumed to be independent, and to score by "
                "chance as this candidate does.",
            ],
        ),
    ],
)
def test_what_a_metric_comes_to(predictions, gold, options, sentences):
    rows = list(predictions) if isinstance(predictions, str) else [list(row) for row in predictions]
    result = null_distribution("accuracy", rows, list(gold), **options)
    assert result.sentences(["x\x1b", "y"][: len(result.values)]) == sentences


def test_random_permutations_are_counted_in_words():
    result = null_distribution("accuracy", [list("aabb") * 5, list("abab") * 5], list("aabb") * 5, draws=1000)
    assert result.sentences(["x", "y"])[2].endswith("; 1,000 random permutations of the gold answers).")


def test_examples_whose_gold_answer_cannot_move_count_in_the_exact_distribution():
    """Two strata are permuted by brute force; three examples are alone, of which two are correct."""
    predictions, gold = list("aabbab" + "abc"), list("abbaab" + "abd")
    strata = [0, 0, 0, 1, 1, 1, 2, 3, 4]
    values = []
    for first, second in product(permutations(gold[:3]), permutations(gold[3:6])):
        permuted = [*first, *second, *gold[6:]]
        values.append(np.mean([p == g for p, g in zip(predictions, permuted, strict=True)]))
    result = null_distribution("accuracy", predictions, gold, strata=strata)
    assert result.method == "exact"
    assert result.fixed == pytest.approx(1 / 3)
    for value, weight in zip(result.distribution.values, result.distribution.weights, strict=True):
        assert weight == pytest.approx(np.mean(np.isclose(values, value)))
    assert result.distribution.mean == pytest.approx(np.mean(values)) == result.expected
    assert result.p == pytest.approx(np.mean(np.array(values) >= result.observed - 1e-9))


def test_examples_alone_draw_one_of_their_choices():
    """The only one of its stratum has a gold answer that is one of its own three choices."""
    predictions, gold = list("aab" + "c"), list("aba" + "c")
    choices = [list("ab")] * 3 + [list("cde")]
    values = [
        np.mean([p == g for p, g in zip(predictions, [*permuted, choice], strict=True)])
        for permuted, choice in product(permutations(gold[:3]), "cde")
    ]
    result = null_distribution("accuracy", predictions, gold, strata=[0, 0, 0, 1], choices=choices)
    assert (result.method, result.fixed) == ("exact", 0)
    for value, weight in zip(result.distribution.values, result.distribution.weights, strict=True):
        assert weight == pytest.approx(np.mean(np.isclose(values, value)))
    assert result.p == pytest.approx(np.mean(np.array(values) >= result.observed - 1e-9))


def test_texts_of_one_type_change_places():
    """Yes and no with each other, numbers with numbers, and all other texts: 2 x 2 x 2 permutations."""
    predictions = ["yes", "No", "3", "1,000", "x", "y"]
    gold = ["no", "YES", "3", "1,000", "x", "z"]
    result = null_distribution("exact_match", predictions, gold)
    assert (result.strata, result.observed) == (3, 0.5)
    assert sorted(result.distribution.values * 6) == pytest.approx([0, 1, 2, 3])
    for text in ("true", "False "):
        assert null_distribution("exact_match", ["yes", "no", "3", "4"], ["no", text, "3", "4"]).strata == 2


def test_a_p_value_too_small_for_a_number_is_not_zero():
    labels = [label for label in "abc" for _ in range(300)]
    (*_, last) = null_distribution("accuracy", labels, labels).sentences(["it"])
    assert last == "This is better than chance (p < 1e-300; exact)."


def test_a_rounding_error_is_no_expected_value():
    result = null_distribution("kendall", np.arange(5.0), [3.0, 1.0, 4.0, 0.0, 2.0])
    for expected in (-8.7e-18, -5e-6):  # by rounding, and by random permutations
        assert "it would score 0.000 on average" in " ".join(
            replace(result, values=np.array([0.187]), expected=expected).sentences(["it"])
        )


def test_a_small_error_has_digits():
    result = null_distribution("mae", [0.0, 1.0, 0.0, 1.0], [0.00016, 1.0, 0.0, 1.0])
    assert result.sentences(["it"])[0] == "mae: 0.0000400."


def luck(*rows):
    names = ["best_accuracy", "examples", "chance", "prompts", "digits", "mean_accuracy", "second_accuracy"]
    return judge_scores(pd.DataFrame(rows, columns=names))


def test_what_luck_explains():
    verdicts = luck((0.6, 100, 0.25, 20, 2, 0.5, np.nan))
    share = verdicts.table["luck_over_mean"].iloc[0]
    assumption = "This assumes that prompts answer independently; if they answer alike, luck explains less."
    assert verdicts.noun == "score"
    assert verdicts.remarks == (f"Luck explains {share:.0%} of the lead over the mean score.", assumption)
    several = luck(
        (0.6, 100, 0.25, 1, 2, 0.5, 0.58),  # of a single prompt, nothing is known
        (0.6, 100, 0.25, 20, 2, 0.5, 0.58),
        (0.7, 100, 0.25, 20, 2, 0.5, 0.6),
        (0.6, 100, 0.25, 20, 2, 0.6, 0.6),
    )
    mean, second = (several.table[name] for name in ("luck_over_mean", "luck_over_second"))
    assert mean.isna().tolist() == second.isna().tolist() == [True, False, False, True]
    assert mean[1] > mean[2] > 0
    assert several.remarks == (
        f"Luck explains {mean.min():.0%} to {mean.max():.0%} of the lead over the mean score "
        f"(2 leads; median: {mean.median():.0%}).",
        f"Luck explains {second.min():.0%} to {second.max():.0%} of the lead over the second-best score "
        f"(2 leads; median: {second.median():.0%}).",
        assumption,
    )
