"""Verdicts and the expected maximum."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from abovechance import BestOf, RandomBaseline, compat
from abovechance.chance.best_of import is_above
from abovechance.chance.best_prompt import SELECTED
from abovechance.chance.expected_maximum import CURVE, expected_maximum, expected_maximum_curve, greatest
from abovechance.chance.multiplicity import with_adjusted
from abovechance.chance.study import VERDICT_COUNTS, VERDICTS, Verdicts, _climbed, judge, verdict_counts
from abovechance.chance.verdicts import (
    JUDGED,
    Verdict,
    is_uneven,
    position_of,
    ranked,
    verdicts,
    with_left_out,
)
from abovechance.core.errors import InputError
from abovechance.core.settings import Setting
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown.tables import readable


def predictions(correct: np.ndarray, chance: float = 0.5, task: str = "t") -> pd.DataFrame:
    prompts, examples = correct.shape
    return pd.DataFrame(
        {
            "model": "m",
            "task": task,
            "shots": 1,
            "prompt": np.repeat(range(prompts), examples),
            "example": np.tile([f"e{i}" for i in range(examples)], prompts),
            "correct": correct.ravel(),
            "tie": False,
            "chance": chance,
        }
    )


def with_correct(*counts: int, examples: int = 20) -> pd.DataFrame:
    return predictions(np.array([[i < count for i in range(examples)] for count in counts]))


def accuracy_of(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([accuracy_by_prompt(part) for _, part in table.groupby("task", sort=False)])


def judged(table: pd.DataFrame) -> pd.Series:
    return verdicts(accuracy_of(table)).iloc[0]


def test_a_verdict_holds_the_best_prompt_both_baselines_and_both_tails():
    verdict_rows = judged(with_correct(9, 13, 13, 10))
    baseline = RandomBaseline.from_chance(0.5, 20)
    assert (verdict_rows["best_prompt"], verdict_rows["best_accuracy"]) == (1, 0.65)  # the first on ties
    assert (verdict_rows["examples"], verdict_rows["prompts"]) == (20, 4)
    assert verdict_rows["standard_baseline"] == 0.5
    assert verdict_rows["maximum_baseline"] == pytest.approx(baseline.maximum(4))
    assert verdict_rows["standard_tail"] == pytest.approx(baseline.tail(13))
    assert verdict_rows["maximum_tail"] == pytest.approx(baseline.tail(13, 4))
    assert verdict_rows["position"] == "above"  # 0.613 would be expected


def test_the_best_of_many_is_judged_by_how_many_were_tried():
    accuracy = accuracy_by_prompt(with_correct(13))
    table = verdicts(accuracy, prompts_tried=50).iloc[0]
    assert table["prompts"] == 50
    assert table["maximum_baseline"] == pytest.approx(RandomBaseline.from_chance(0.5, 20).maximum(50))
    assert table["position"] == "between"
    several = verdicts(accuracy_by_prompt(with_correct(13, 12)), prompts_tried=50).iloc[0]
    assert several.equals(table)
    with pytest.raises(ValueError, match="the results have 2 prompts, but the number of prompts tried is 1"):
        verdicts(accuracy_by_prompt(with_correct(13, 12)), prompts_tried=1)


def test_a_verdict_on_one_number_is_that_of_its_baseline():
    verdict = Verdict.from_accuracy(0.65, RandomBaseline.from_chance(0.5, 20), prompts=4)
    assert (verdict.position, verdict.examples, verdict.prompts) == ("above", 20, 4)
    assert verdict.maximum_tail == pytest.approx(RandomBaseline.from_chance(0.5, 20).tail(13, 4))
    html = verdict._repr_html_()
    assert "<td style='text-align:left'>above</td>" in html
    for name in ("accuracy", "examples", "prompts"):
        assert f">{name}<" in html
    assert "note" not in html
    with pytest.raises(ValueError, match="accuracy is 65"):
        Verdict.from_accuracy(65, RandomBaseline.from_chance(0.5, 20), prompts=4)


def test_guessers_have_the_verdict_above_as_often_as_it_is_said():
    baseline = RandomBaseline.from_chance(0.5, 16)
    verdict = Verdict.from_accuracy(0.75, baseline, prompts=12)
    best = np.random.default_rng(0).binomial(16, 0.5, (100_000, 12)).max(axis=1) / 16
    assert verdict.guessing_above == pytest.approx((best > baseline.maximum(12)).mean(), abs=0.005)
    assert verdict.position == "above"
    assert verdict.maximum_tail > 0.3  # being above is no test


def test_a_rounded_accuracy_is_the_nearest_number_and_all_that_round_to_it():
    baseline = RandomBaseline.from_chance(0.5, 1000)
    verdict = Verdict.from_accuracy("0.54", baseline, prompts=50)
    assert (verdict.possible[0].accuracy, verdict.possible[1].accuracy) == (0.535, 0.545)
    assert verdict.judgement["position"] == "between to above"
    assert verdict.maximum_tail == pytest.approx(baseline.tail(540, 50))
    assert ">note<" in verdict._repr_html_()
    assert "535 to 545 correct answers out of 1000" in verdict._repr_html_()
    assert (
        Verdict.from_accuracy("0,667", RandomBaseline.from_chance(0.5, 30), 5).accuracy == 0.667
    )  # as it was given
    assert Verdict.from_accuracy(0.54, baseline, prompts=50).possible is None  # a float that is 540 / 1000
    assert Verdict.from_accuracy(
        0.667, RandomBaseline.from_chance(0.5, 30), 5
    ).standard_tail == pytest.approx(RandomBaseline.from_chance(0.5, 30).tail(20))


def test_prompts_on_other_examples_are_compared_by_their_standardized_scores():
    lucky, good = predictions(np.arange(10)[None] < 8), predictions(np.arange(200)[None] < 150)
    table = pd.concat([lucky, good.assign(prompt=1)])
    by_name = verdicts(accuracy_by_prompt(table)).iloc[0]
    assert (by_name["best_prompt"], by_name["best_accuracy"], by_name["examples"]) == (1, 0.75, 200)
    assert by_name["position"] == "above"
    several = BestOf(
        [RandomBaseline.from_chance(0.5, 10), RandomBaseline.from_chance(0.5, 200)], standardized=True
    )
    assert by_name["maximum_tail"] == pytest.approx(several.tail(50 / 50**0.5))
    assert by_name["maximum_baseline"] == pytest.approx(0.5 + several.maximum * 50**0.5 / 200)


def test_power_is_kept_where_some_prompts_have_few_examples():
    """Of 10 prompts, one is better than chance; the others guess, half of them on 10 examples only."""
    generator = np.random.default_rng(0)
    sizes = np.array([200] * 5 + [10] * 5)
    baselines = [RandomBaseline.from_chance(0.5, int(size)) for size in sizes]
    several = BestOf(baselines, standardized=True)
    correct = generator.binomial(sizes, np.array([0.65, *[0.5] * 9]), (300, 10))
    scores = (correct - sizes / 2) / np.sqrt(sizes / 4)
    assert np.mean(several.tail(scores.max(axis=1)) <= 0.05) > 0.9
    raw = BestOf(baselines)
    assert np.mean(raw.tail((correct / sizes).max(axis=1)) <= 0.05) < 0.2


@pytest.mark.parametrize(("shots", "differs"), [(3, False), (2, True)])
def test_lacking_ones_own_demonstrations_is_no_other_set_of_examples(shots, differs):
    parts = [predictions(np.arange(n)[None] < 7).assign(prompt=n, shots=shots) for n in (10, 12, 13)]
    accuracy = accuracy_by_prompt(pd.concat(parts))
    assert is_uneven(accuracy) == differs
    assert ranked(accuracy)["prompt"].tolist() == [10, 12, 13]
    table = verdicts(accuracy).iloc[0]
    plain = BestOf([RandomBaseline.from_chance(0.5, n) for n in (10, 12, 13)])
    assert (table["maximum_tail"] == pytest.approx(plain.tail(0.7))) != differs


def test_prompts_on_examples_of_another_chance_differ():
    parts = [
        predictions(np.arange(10)[None] < 7, chance).assign(prompt=n) for n, chance in enumerate((0.5, 0.2))
    ]
    accuracy = accuracy_by_prompt(pd.concat(parts))
    assert is_uneven(accuracy)
    table = verdicts(accuracy).iloc[0]
    assert (table["best_prompt"], table["standard_baseline"]) == (1, 0.2)


@pytest.mark.parametrize(("best", "position"), [(9, "below"), (10, "below"), (12, "between"), (13, "above")])
def test_verdicts_are_below_between_above_and_equality_is_not_above(best, position):
    assert judged(with_correct(best, 3, 4, 5))["position"] == position


def test_settings_of_which_all_prompts_were_left_out_have_no_verdict():
    table = verdicts(accuracy_by_prompt(with_correct(9, 13)))
    left_out = pd.DataFrame(
        {"model": "m", "task": ["u", "t"], "shots": 1, "prompts": [5, 3], "left_out": [5, 1]}
    )
    result = with_left_out(table, left_out)
    assert result.columns.tolist() == [*table.columns, "left_out"]
    assert result["task"].tolist() == ["u", "t"]
    assert result["left_out"].tolist() == [5, 1]
    assert result["prompts"].tolist() == [0, 2]
    assert result["examples"].tolist() == [0, 20]
    assert result["best_prompt"].isna().tolist() == result["position"].isna().tolist() == [True, False]
    assert str(result["best_prompt"].dtype) == "Int64"
    assert result["maximum_tail"][1] == table["maximum_tail"][0]


def test_an_example_that_others_lack_altogether_makes_prompts_differ():
    few, more = predictions(np.arange(9)[None] < 7), predictions(np.arange(10)[None] < 7)
    more.loc[9, "chance"] = 0.25
    parts = [part.assign(prompt=number, shots=0) for number, part in enumerate((few, more))]
    assert is_uneven(accuracy_by_prompt(pd.concat(parts)))


def test_a_baseline_equal_up_to_rounding_is_not_exceeded():
    assert not is_above(0.1 + 0.2, 0.3)
    assert position_of(is_above(0.1 + 0.2, 0.1), is_above(0.1 + 0.2, 0.3)) == "between"


def test_counts_say_how_many_results_the_standard_baseline_misleads_about():
    parts = [with_correct(n, 3, 4, 5).assign(task=f"t{n}") for n in (9, 12, 13, 16)]
    table = pd.concat(parts, ignore_index=True)
    judged_ones = with_adjusted(verdicts(accuracy_of(table)))
    total = verdict_counts(judged_ones).iloc[-1]
    assert total[["settings", "below", "between", "above", "above_standard"]].tolist() == [4, 1, 1, 2, 3]
    assert total["share_between"] == pytest.approx(1 / 3)
    assert total["above_by_guessing"] == pytest.approx(judged_ones["guessing_above"].sum())
    assert total["tail_at_most_0.05"] == (judged_ones["maximum_tail"] <= 0.05).sum() == 1
    assert total["adjusted_at_most_0.05"] == (judged_ones["bh_tail"] <= 0.05).sum() == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_the_expected_maximum_is_the_mean_over_all_subsets(values):
    expected = [np.mean([max(s) for s in combinations(values, t)]) for t in range(1, len(values) + 1)]
    assert expected_maximum(np.array(values)) == pytest.approx(expected, abs=1e-12)


def test_the_expected_maximum_of_many_values_ends_at_the_greatest():
    values = np.random.default_rng(0).random(200)
    figure = expected_maximum(values)
    assert figure[0] == pytest.approx(values.mean())
    assert figure[-1] == pytest.approx(values.max())
    assert np.all(np.diff(figure) >= -1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_the_greatest_of_all_draws_has_this_mean_and_deviation(values):
    for repetition in (False, True):
        mean, deviation = greatest(np.array(values), repetition)
        for candidates in range(1, len(values) + 1):
            sample = product(values, repeat=candidates) if repetition else combinations(values, candidates)
            maxima = [max(subset) for subset in sample]
            assert mean[candidates - 1] == pytest.approx(np.mean(maxima), abs=1e-12)
            assert deviation[candidates - 1] == pytest.approx(np.std(maxima), abs=1e-7)


def test_the_curve_has_both_ways_of_drawing():
    accuracy = accuracy_by_prompt(with_correct(9, 13, 12, 10))
    curve = expected_maximum_curve(accuracy)
    assert (curve["expected_with_repetition"] <= curve["expected_accuracy"] + 1e-12).all()
    assert curve["deviation"].iloc[-1] == pytest.approx(0)
    assert curve["deviation_with_repetition"].iloc[-1] > 0.01


def test_the_curve_of_prompts_on_other_examples_is_that_of_standardized_scores():
    """With accuracies on the best prompt's examples that correspond to them."""
    corrects, chances = (17, 11, 9), (0.5, 0.1, 0.2)
    parts = [
        predictions(np.arange(30)[None] < correct, chance).assign(prompt=number, shots=0)
        for number, (correct, chance) in enumerate(zip(corrects, chances, strict=True))
    ]
    table = pd.concat(parts)
    curve = expected_maximum_curve(accuracy_by_prompt(table))
    assert curve.columns.tolist() == list(CURVE)
    assert curve["prompts"].tolist() == [1, 2, 3]
    guessers = [RandomBaseline.from_chance(chance, 30) for chance in chances]
    z = [(k - 30 * p) / np.sqrt(30 * p * (1 - p)) for k, p in zip(corrects, chances, strict=True)]
    unit = np.sqrt(30 * 0.1 * 0.9)  # of prompt 1, which is the best one
    assert np.argmax(z) == 1
    for t in (1, 2, 3):
        expected = np.mean([max(chosen) for chosen in combinations(z, t)])
        row = curve.iloc[t - 1]
        assert row["expected_accuracy"] == pytest.approx((3 + unit * expected) / 30)
        deviation = np.std([max(chosen) for chosen in combinations(z, t)])
        assert row["deviation"] == pytest.approx(unit * deviation / 30, abs=1e-9)
        several = BestOf(guessers[:t], standardized=True)
        assert row["maximum_baseline"] == pytest.approx((3 + unit * several.maximum) / 30)
        assert row["maximum_tail"] == pytest.approx(several.tail(expected))
        assert row["standard_baseline"] == pytest.approx(0.1)
        with_repetition = np.mean([max(chosen) for chosen in product(z, repeat=t)])
        assert row["expected_with_repetition"] == pytest.approx((3 + unit * with_repetition) / 30)


@pytest.mark.parametrize("chances", [(0.5,) * 4, (0.5, 0.1, 0.3, 0.25)])
def test_the_curve_ends_where_the_verdict_stands(chances):
    parts = [
        predictions(np.arange(20)[None] < correct, chance).assign(prompt=number, shots=0)
        for number, (correct, chance) in enumerate(zip((13, 9, 12, 10), chances, strict=True))
    ]
    table = pd.concat(parts)
    last, result = expected_maximum_curve(accuracy_by_prompt(table)).iloc[-1], judged(table)
    assert result["best_prompt"] == (1 if chances[1] == 0.1 else 0)
    assert last["expected_accuracy"] == pytest.approx(result["best_accuracy"])
    for column in ("standard_baseline", "maximum_baseline", "standard_tail", "maximum_tail"):
        assert last[column] == pytest.approx(result[column])


@pytest.mark.thorough
@given(st.integers(1, 60), st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.9]), st.integers(1, 10**9))
def test_guessing_is_above_as_often_as_its_scores_are_judged_above(examples, chance, prompts):
    baseline = RandomBaseline.from_chance(chance, examples)
    several = BestOf([baseline], [prompts])
    judged = [Verdict.from_accuracy(k / examples, baseline, prompts) for k in range(examples + 1)]
    above = [k for k, verdict in enumerate(judged) if verdict.position == "above"]
    expected = baseline.tail(above[0], prompts) if above else 0.0
    assert [verdict.guessing_above for verdict in judged] == pytest.approx([expected] * len(judged))
    assert all(k / examples > several.maximum for k in above)


def test_near_the_top_what_is_shown_is_what_is_decided():
    """220 guessers on four examples: one of them has all correct, all but surely."""
    verdict = Verdict.from_accuracy("1", RandomBaseline.from_chance(0.5, 4), 220)
    assert verdict.position == "above"
    assert verdict.guessing_above == pytest.approx(1, abs=1e-5)
    readable_table = readable(pd.DataFrame([verdict.judgement]), JUDGED).iloc[0]
    assert readable_table["maximum baseline"] == "0.9999998"
    assert readable_table["maximum tail"] == "1.00"
    near = readable(pd.DataFrame({"accuracy": [0.636, 0.5], "maximum_baseline": [0.63621, 0.5]}), JUDGED)
    assert near["maximum baseline"].tolist() == ["0.6362", "0.500"]


def test_a_tie_between_two_numbers_has_both_verdicts():
    baseline = RandomBaseline.from_chance(0.5, 100)
    verdict = Verdict.from_accuracy("0.625", baseline, 100)
    assert [end.correct for end in verdict.possible] == [62, 63]
    assert verdict.judgement["position"] == "between to above"
    assert verdict.note.startswith(
        "no number of correct answers out of 100 gives this accuracy; 62 and 63 are nearest; "
        "maximum tails 0.65 to 0.45"
    )


@pytest.mark.parametrize("score", [np.nan, [0.5, np.nan]])
def test_a_score_that_is_no_number_is_refused(score):
    several = BestOf([RandomBaseline.from_chance(0.5, 10)], [3])
    for ask in (several.tail, several.cdf, several.pmf, several.exceeded, several.log_below):
        with pytest.raises(ValueError, match="score is nan"):
            ask(score)


def test_infinite_scores_are_beyond_all_others():
    for standardized in (False, True):
        several = BestOf(
            [RandomBaseline.from_chance(0.5, 10), RandomBaseline.from_chance(0.25, 5)],
            standardized=standardized,
        )
        assert (several.tail(-np.inf), several.tail(np.inf)) == (1, 0)
        assert (several.cdf(-np.inf), several.cdf(np.inf)) == (0, 1)
        assert (several.pmf(np.inf), several.exceeded(-np.inf)) == (0, 1)


@pytest.mark.parametrize("alpha", [-1, 0, 1, 2, np.nan, [0.05, 2]])
def test_an_alpha_that_is_no_probability_is_refused(alpha):
    with pytest.raises(ValueError, match="between 0 and 1, both excluded"):
        RandomBaseline.from_chance(0.5, 10).critical(alpha)


@pytest.mark.parametrize("accuracy", [np.nan, np.inf, -np.inf, "0.5", None])
def test_the_other_packages_functions_refuse_what_is_no_number(accuracy):
    with pytest.raises((ValueError, TypeError)):
        compat.max_random_p_value(accuracy, 100, 0.5, 10)
    with pytest.raises((ValueError, TypeError)):
        RandomBaseline.from_chance(0.5, 10).pmf(np.nan)


@pytest.mark.parametrize("prompts", [220, 420, 520])
def test_all_correct_is_above_any_expected_best_that_is_less(prompts):
    verdict = Verdict.from_accuracy("1", RandomBaseline.from_chance(0.5, 4), prompts)
    assert verdict.maximum_baseline < 1
    assert verdict.position == "above"
    # the best of as many guessers has all correct but in one of very many cases
    assert verdict.guessing_above == pytest.approx(-np.expm1(prompts * np.log(15 / 16)), rel=1e-12)


def test_all_correct_is_not_above_what_nobody_can_miss():
    verdict = Verdict.from_accuracy("1", RandomBaseline.from_chance(1, 4), 3)
    assert (verdict.position, verdict.guessing_above) == ("below", 0)


SETTINGS = pd.DataFrame(
    {
        "model": ["m", "m", "n", "n"],
        "task": ["t", "u", "t", "u"],
        "shots": [0, 0, 0, 4],
        "position": ["above", "below", "between", None],
        "better_than_chance": ["yes", "no", "unclear", None],
        "guessing_above": [0.25, 0.5, 0.125, np.nan],
        "maximum_tail": [0.05, 0.8, 0.01, np.nan],
        "bh_tail": [0.05001, 0.9, 0.05, np.nan],
        "left_out": [0, 1, 0, 20],
    }
)


def test_counts_of_verdicts_by_model_and_shots_and_in_total():
    table = verdict_counts(SETTINGS)
    assert {*table} <= {*VERDICT_COUNTS.columns}
    assert table["model"].tolist() == ["m", "n", "n", "total"]
    assert table["shots"].tolist() == ["0", "0", "4", ""]
    expected = {
        "settings": [2, 1, 1, 4],
        "left_out": [0, 0, 1, 1],
        "better_than_chance_yes": [1, 0, 0, 1],
        "better_than_chance_no": [1, 0, 0, 1],
        "better_than_chance_unclear": [0, 1, 0, 1],
        "below": [1, 0, 0, 1],
        "between": [0, 1, 0, 1],
        "above": [1, 0, 0, 1],
        "above_standard": [1, 1, 0, 2],
        "above_by_guessing": [0.75, 0.125, 0, 0.875],
        "tail_at_most_0.05": [1, 1, 0, 2],
        "adjusted_at_most_0.05": [0, 1, 0, 1],
    }
    assert {name: table[name].tolist() for name in expected} == expected
    assert table["share_between"].fillna(-1).tolist() == [0, 1, -1, 0.5]
    assert "left_out" not in verdict_counts(SETTINGS.drop(columns="left_out"))


ALONE = "no simple guesser is better than uniform guessing"


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"beaten_guesser": ["uniform"]}, "No simple guesser is better than uniform guessing here."),
        ({"beaten_guesser": ["position"]}, "It also beats all simple guessers."),
        (
            {"beaten_guesser": ["uniform"], "unbeaten_guesser": ["longest choice"]},
            "But it is not shown to beat the simple guesser 'longest choice'.",
        ),
        ({"beaten_guesser": [None]}, None),
        ({"beaten_guesser": ["uniform"], "better_than_chance": ["no"]}, None),
        ({"beaten_guesser": ["uniform"] * 2}, f"In the settings that are better than chance, {ALONE}."),
        (
            {
                "beaten_guesser": ["position", "position", "uniform"],
                "better_than_chance": ["yes", "yes", "no"],
            },
            "The settings that are better than chance beat all simple guessers.",
        ),
        (
            {"beaten_guesser": ["position", "uniform"], "better_than_chance": ["yes", "no"]},
            "The setting that is better than chance beats all simple guessers.",
        ),
        (
            {"beaten_guesser": ["uniform", "uniform"], "better_than_chance": ["yes", "no"]},
            f"In the setting that is better than chance, {ALONE}.",
        ),
        (
            {"beaten_guesser": ["position", None]},
            "The setting that is better than chance and was compared with simple guessers beats all simple "
            "guessers.",
        ),
        (
            {"beaten_guesser": ["position", "uniform", "uniform"]},
            "The settings that are better than chance beat all simple guessers. In 2 of them, " + ALONE + ".",
        ),
        (
            {"beaten_guesser": ["uniform", None], "unbeaten_guesser": ["a", None]},
            "The setting that is better than chance and was compared with simple guessers is not shown to "
            "beat the simple guesser 'a'.",
        ),
        (
            {"beaten_guesser": ["uniform"] * 3 + ["position"], "unbeaten_guesser": ["a", "b", "b", None]},
            "3 of the 4 settings that are better than chance are not shown to beat all simple guessers (the "
            "first one not beaten is b: 2, a: 1).",
        ),
        (
            {"beaten_guesser": ["uniform", "uniform", None], "unbeaten_guesser": ["a", None, None]},
            "1 of the 2 settings that are better than chance and were compared with simple guessers is not "
            f"shown to beat all simple guessers (the first one not beaten is a: 1). In 1 of them, {ALONE}.",
        ),
        ({"beaten_guesser": [None, None]}, None),
    ],
)
def test_what_is_said_of_simple_guessers(columns, sentence):
    table = pd.DataFrame({"better_than_chance": "yes", "unbeaten_guesser": None} | columns)
    assert _climbed(table) == ([] if sentence is None else [sentence])
    assert _climbed(table.drop(columns="unbeaten_guesser")) == []


def test_the_one_metric_of_all_settings_is_told():
    table = SETTINGS.assign(metric="acc", prompts=5, reason="p = 0.5")[:3]
    assert Verdicts(table).sentences[-1] == "Metric: acc."
    assert "Metric" not in " ".join(Verdicts(table.assign(metric=["a", "b", "a"])).sentences)


def test_verdicts_have_the_tables_that_belong_to_them():
    """Of settings, their metric, selection, guessers and randomization, in the order of the schema."""
    table = pd.concat([with_correct(12, 17, 9).assign(task=name) for name in ("t", "u")])
    accuracy = accuracy_of(table)
    plain = judge(accuracy)
    assert plain.noun == "setting"
    names = [Setting("m", task, 1) for task in ("t", "u")]
    keys = {"model": "m", "shots": 1}
    selection = pd.DataFrame({**keys, "task": ["u", "t"], **{name: [0.25, 0.5] for name in SELECTED}})
    climbed = pd.DataFrame(
        {**keys, "task": ["u"], "beaten_guesser": ["uniform"], "unbeaten_guesser": ["longest"]}
    )
    tested = pd.DataFrame(
        [
            {
                **keys,
                "task": task,
                "prompt": prompt,
                "statistic": statistic,
                "value": value,
                "adjusted_tail": tail,
                "best_tail": tail,
                "power": 0.9,
                "fixed": 0.125,
            }
            for task, tail in (("t", 0.03), ("u", 0.2))
            for statistic, value in (("accuracy", 0.85), ("macro_f1", 0.75))
            for prompt in range(3)
        ]
    )
    left_out = pd.DataFrame({**keys, "task": ["t", "u", "w"], "left_out": [0, 2, 3], "prompts": [3, 5, 3]})
    result = judge(
        accuracy,
        randomization=tested,
        draws=999,
        left_out=left_out,
        selection=selection,
        climbed=climbed,
        metrics=dict(zip(names, ("acc", "em"), strict=True)),
    ).table
    assert [*result] == [name for name in VERDICTS.columns if name in result]
    assert result["task"].tolist() == ["t", "u", "w"]
    assert result["metric"].fillna("").tolist() == ["acc", "em", ""]
    assert result[next(iter(SELECTED))].tolist()[:2] == [0.5, 0.25]
    assert result["unbeaten_guesser"].fillna("").tolist() == ["", "longest", ""]
    assert result["left_out"].tolist() == [0, 2, 3]
    assert result["randomization_tail"].tolist()[:2] == [0.03, 0.2]
    assert result["randomization_bh_tail"].tolist()[:2] == pytest.approx([0.06, 0.2])
    assert result["best_macro_f1"].tolist()[:2] == [0.75, 0.75]
    assert result["macro_f1_tail"].tolist()[:2] == [0.03, 0.2]
    standard = RandomBaseline.from_chance(0.5, 20).tail(17)
    effective = np.log1p(-0.03) / np.log1p(-standard)
    assert effective > 3
    assert np.isnan(result["effective_prompts"][0])
    few = tested.assign(best_tail=tested["best_tail"].replace(0.03, 0.002))
    (prompts, *_) = judge(accuracy, randomization=few, draws=999).table["effective_prompts"]
    assert prompts == pytest.approx(np.log1p(-0.002) / np.log1p(-standard))
    least = tested.assign(best_tail=1 / 1000)  # the least value of 999 draws
    assert judge(accuracy, randomization=least, draws=999).table["effective_prompts"].isna().all()
    assert result["better_than_chance"].fillna("").tolist() == ["unclear", "unclear", ""]
    assert plain.table["better_than_chance"].tolist() == ["yes", "yes"]
    assert result["maximum_tail"].tolist()[:2] == plain.table["maximum_tail"].tolist()
    of_twenty = judge(accuracy, prompts_tried=20).table
    assert of_twenty["prompts"].tolist() == [20, 20]
    assert of_twenty["maximum_tail"].tolist() == pytest.approx(
        [RandomBaseline.from_chance(0.5, 20).tail(17, 20)] * 2
    )
    assert "unbeaten_guesser" not in judge(accuracy, climbed=climbed[:0]).table
    with pytest.raises(InputError) as error:
        judge(accuracy[:0])
    assert str(error.value) == (
        "all prompts of all settings are longer than their model's context; use fewer shots, shorter "
        "examples or another model"
    )
