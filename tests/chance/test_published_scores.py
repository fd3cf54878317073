"""Published best scores, judged again."""

import numpy as np
import pandas as pd
import pytest
from mpmath import mp, mpf
from scipy import stats

from abovechance import RandomBaseline
from abovechance.chance import published_scores
from abovechance.chance.conclusion import in_words
from abovechance.chance.published_scores import _luck, completed, is_score_table, read_scores
from abovechance.chance.verdicts import Verdict
from abovechance.core.errors import InputError
from tests.conftest import REPOSITORY
from tests.running import run


def judge_scores(scores):
    return published_scores.judge_scores(scores).table


def written(tmp_path, *rows: str, heading="task,best_accuracy,examples,choices,prompts"):
    path = tmp_path / "maxima.csv"
    path.write_text("\n".join([heading, *rows]) + "\n")
    return path


def test_verdicts_are_those_of_the_baselines(tmp_path):
    verdicts_table = judge_scores(
        read_scores(written(tmp_path, "a,0.62,100,2,200", "b,0.7,100,2,200", "c,0.5,100,2,200"))
    )
    baseline = RandomBaseline.from_chance(0.5, 100)
    assert verdicts_table["position"].tolist() == ["between", "above", "below"]
    assert verdicts_table["maximum_baseline"].tolist() == pytest.approx([baseline.maximum(200)] * 3)
    assert verdicts_table["maximum_tail"].tolist() == pytest.approx(baseline.tail([62, 70, 50], 200))
    assert verdicts_table["better_than_chance"].tolist() == ["no", "yes", "no"]
    assert in_words(verdicts_table, "score") == [
        "1 of the 3 scores is better than chance.",
        "The best prompt is above the standard random baseline in 2 of them, and above the maximum random "
        "baseline in 1. Guessing alone would be above the maximum random baseline in about 1.5.",
        "1 score has p <= 0.05 without correction. After the Benjamini-Hochberg correction for 3 "
        "comparisons, 1 has p <= 0.05.",
    ]
    adjusted = ["maximum_tail", "bh_tail", "by_tail", "holm_tail"]
    assert verdicts_table.columns.tolist() == [
        *("task", "best_accuracy", "examples", "prompts", "standard_baseline", "maximum_baseline"),
        *("standard_tail", *adjusted, "guessing_above", "position", "better_than_chance", "reason"),
    ]
    assert in_words(verdicts_table[:1]) == [
        "The best score is not shown to be better than chance "
        "(adjusted p = 1.00 against the best of 200 guessers)."
    ]


def test_two_scores_are_several_and_one_is_not(tmp_path):
    two, first = (
        judge_scores(read_scores(written(tmp_path, *["a,0.62,100,2,200"] * number))) for number in (2, 1)
    )
    assert first["bh_tail"].tolist() == first["maximum_tail"].tolist()
    assert "adjusted" in two["reason"][0]
    assert "adjusted" not in first["reason"][0]
    assert "Benjamini-Hochberg" in in_words(two)[2]


def test_a_rounded_accuracy_is_the_number_of_examples_that_it_stands_for(tmp_path):
    rows = ["a,0.667,30,2,5", "b,0.33,30,2,5", "c,0.62,30,2,5", "d,0.6,30,2,5"]
    verdicts_table = judge_scores(read_scores(written(tmp_path, *rows)))
    tails = [RandomBaseline.from_chance(0.5, 30).tail(correct) for correct in (20, 10, 19, 18)]
    assert verdicts_table["standard_tail"].tolist() == pytest.approx(tails)
    assert verdicts_table["note"].tolist() == [
        "",
        "",
        "no number of correct answers out of 30 gives this accuracy; 19 is nearest",
        "",
    ]


def test_where_rounding_leaves_several_numbers_all_their_verdicts_are_told(tmp_path):
    rows = ["a,0.5,200,2,50", "b,0.57,1000,2,50", "c,0.56,1000,2,1", "d,0.54,1000,2,50"]
    verdicts_table = judge_scores(read_scores(written(tmp_path, *rows)))
    assert verdicts_table["position"].tolist() == ["below to between", "above", "above", "between to above"]
    assert verdicts_table["note"][1].startswith(
        "565 to 575 correct answers out of 1000 round to this accuracy, with maximum tails 0.00"
    )
    baseline = RandomBaseline.from_chance(0.5, 1000)
    assert verdicts_table["maximum_tail"][1] == pytest.approx(baseline.tail(570, 50))
    assert verdicts_table["better_than_chance"].tolist() == ["no", "yes", "yes", "no"]
    assert (
        "the standard random baseline in 3 of them, and above the maximum random baseline in 2 (in 1 more, it"
        " depends on rounding)." in in_words(verdicts_table)[1]
    )


def test_a_rounded_accuracy_of_which_some_numbers_are_significant_is_unclear(tmp_path):
    """56.0 to 57.0 % of 1000: tails of one guesser from 0.00008 to 0.00001; of 500, from 0.04 to 0.005."""
    (row,) = judge_scores(read_scores(written(tmp_path, "a,0.56,1000,2,500"))).to_dict("records")
    assert row["better_than_chance"] == "unclear"
    assert row["reason"].startswith("the accuracy is rounded, so p is between 0.")
    exact = judge_scores(read_scores(written(tmp_path, "a,0.560,1000,2,500"))).iloc[0]
    assert exact["better_than_chance"] in ("yes", "no")
    assert "note" not in exact


@pytest.mark.parametrize("accuracy", ["1", "0"])
def test_all_or_none_correct_is_not_rounded(tmp_path, accuracy):
    row = judge_scores(read_scores(written(tmp_path, f"a,{accuracy},100,2,20"))).iloc[0]
    expected = Verdict.from_accuracy(accuracy, RandomBaseline.from_chance(0.5, 100), 20)
    assert (row["position"], row["better_than_chance"]) == (expected.position, expected.better_than_chance)
    assert row["position"] == ("above" if accuracy == "1" else "below")
    assert "note" not in row


def test_each_source_rounds_in_its_own_way(tmp_path):
    rows = ["one,0.62,100,2,5", "one,0.625,200,2,5", "other,0.6,100,2,5", "other,0.7,100,2,5"]
    scores = read_scores(written(tmp_path, *rows, heading="source,best_accuracy,examples,choices,prompts"))
    assert scores["digits"].tolist() == [3, 3, 1, 1]
    together = [row.split(",", 1)[1] for row in rows]
    scores = read_scores(written(tmp_path, *together, heading="best_accuracy,examples,choices,prompts"))
    assert scores["digits"].tolist() == [3] * 4
    assert scores["written_digits"].tolist() == [2, 3, 1, 1]


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        ("0.7,100,2,187", "0.6667,30,2,187", "0.7 as 0.7000"),
        ("0.70,100,2,187", "0.6667,30,2,187", ""),  # 70 of 100 in any case
        ("0.7,100,2,187", "0.6,30,2,187", ""),
        ("1,100,2,187", "0.6667,30,2,187", ""),
    ],
)
def test_zeros_that_are_not_written_are_told_if_they_matter(first, second, note, tmp_path):
    heading = "best_accuracy,examples,choices,prompts"
    scores = read_scores(written(tmp_path, first, second, heading=heading))
    expected = (
        f"1 score with fewer decimals than others, taken as rounded to as many decimals ({note}); use the "
        "column source to separate scores that were rounded differently"
    )
    assert completed(scores) == (expected if note else "")
    assert "written_digits" not in judge_scores(scores)
    messages = run("check", str(written(tmp_path, first, second, heading=heading))).stderr
    notes = [line for line in messages.splitlines() if not line.startswith("note: the score ")]
    assert notes == ([f"note: {expected}"] if note else [])
    rows = [f"s,{first}", f"s,{second}"]
    of_source = completed(read_scores(written(tmp_path, *rows, heading=f"source,{heading}")))
    assert of_source == expected.partition(";")[0] * bool(note)


def test_a_table_from_a_spreadsheet_is_read(tmp_path):
    path = tmp_path / "maxima.csv"
    text = '"best_accuracy";"examples";"choices";"prompts"\r\n0,667;30;2;5\r\n"0,5";30.0;2;5\r\n;;;\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_scores(path)["best_accuracy"].tolist() == [0.667, 0.5]
    assert judge_scores(read_scores(path))["standard_tail"].tolist() == pytest.approx(
        RandomBaseline.from_chance(0.5, 30).tail([20, 15])
    )


def test_chance_and_choices_may_both_be_columns_and_one_is_given_in_each_row(tmp_path):
    heading = "best_accuracy,examples,choices,chance,prompts"
    scores = read_scores(written(tmp_path, "0.5,10,4,,3", "0.5,10,,0.35,3", heading=heading))
    assert scores["chance"].tolist() == [0.25, 0.35]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "a,63.5,100,2,200",
            r"row 3: best_accuracy is '63.5' \(per cent\?\); expected a number from 0 to 1",
        ),
        ("a,1.01,100,2,200", r"row 3: best_accuracy is '1.01' \(per cent\?\); expected"),
        ("a,100,100,2,200", r"row 3: best_accuracy is '100' \(per cent\?\); expected"),
        ("a,100.5,100,2,200", "row 3: best_accuracy is '100.5'; expected"),
        ("a,-0.1,100,2,200", "row 3: best_accuracy is '-0.1'; expected"),
        ("a,62%,100,2,200", r"row 3: best_accuracy is '62%' \(per cent\?\); expected"),
        ("a,0.5,100,0,200", "row 3: choices is '0'; expected a whole number from 1 to"),
        ("a,0.5,100,2,1000000000000001", "row 3: prompts is '1000000000000001'; expected"),
        ("a,high,100,2,200", "row 3: best_accuracy is 'high'; expected a number from 0 to 1"),
        ("a,not reported,100,2,200", "row 3: best_accuracy is 'not reported'; expected a number from 0"),
        ("a,0.5,0,2,200", "row 3: examples is '0'; expected a whole number from 1 to"),
        ("a,0.5,10.5,2,200", "row 3: examples is '10.5'; expected a whole number"),
        ("a,0.5,100,,200", "row 3: has neither chance nor choices"),
        ("a,0.5,100,2,", "row 3: prompts is ''; expected a whole number from 1 to"),
    ],
)
def test_a_wrong_value_is_told_with_its_row_and_what_would_be_right(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_scores(written(tmp_path, "a,0.5,100,2,200", row))


def test_all_and_none_correct_and_as_many_prompts_as_are_counted_are_read(tmp_path):
    scores = read_scores(written(tmp_path, "a,0,10000000,1,1000000000000000", "b,1,1,2,1"))
    assert scores["best_accuracy"].tolist() == [0, 1]
    assert scores["prompts"].tolist() == [10**15, 1]


def test_chance_beside_choices_and_no_chance_are_refused(tmp_path):
    heading = "best_accuracy,examples,choices,chance,prompts"
    with pytest.raises(InputError, match="row 2: has chance and choices; expected one"):
        read_scores(written(tmp_path, "0.5,10,4,0.25,3", heading=heading))
    with pytest.raises(InputError, match="row 2: chance is '25'"):
        read_scores(written(tmp_path, "0.5,10,,25,3", heading=heading))


@pytest.mark.parametrize(
    ("heading", "message"),
    [
        (
            "task,accuracy,examples,choices,prompts",
            "column 'accuracy' is unknown; did you mean 'best_accuracy'",
        ),
        (
            "task,best_accuracy,examples,choices",
            "maxima.csv: lacks the column 'prompts'; expected best_accuracy, examples, prompts, and",
        ),
        ("task,best_accuracy,examples,prompts", "lacks the column 'chance' or 'choices'"),
    ],
)
def test_wrong_columns_are_told(tmp_path, heading, message):
    with pytest.raises(InputError, match=message):
        read_scores(written(tmp_path, ",".join("a" * len(heading.split(","))), heading=heading))


@pytest.mark.parametrize(
    ("name", "heading", "message"),
    [
        ("a.csv", "task,best_accuracy,examples", True),
        ("a.csv", "task,accuracy,examples", True),  # a slip
        ("a.csv", "prompt,example,accuracy", False),
        ("a.csv", "prompt,correct", False),
        ("a.json", "best_accuracy", False),
        ("a.csv", None, False),
    ],
)
def test_a_table_of_scores_is_told_by_its_heading(tmp_path, name, heading, message):
    if heading is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text(heading + "\n")
    assert is_score_table(tmp_path / name) == message


def test_no_file_and_no_rows_are_told(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_scores(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="has no rows"):
        read_scores(written(tmp_path))


def test_the_example_file_is_right():
    verdicts_table = judge_scores(read_scores(REPOSITORY / "docs" / "published_maxima.csv"))
    assert isinstance(verdicts_table, pd.DataFrame)
    assert set(verdicts_table["position"]) >= {"between", "above"}


def test_an_accuracy_of_1_is_exact_next_to_accuracies_with_decimals(tmp_path):
    path = tmp_path / "maxima.csv"
    path.write_text("best_accuracy,examples,choices,prompts\n1,20,2,10000\n0.7,20,2,10000\n")
    judged = judge_scores(read_scores(path))
    assert judged["better_than_chance"].tolist() == ["yes", "no"]


def test_luck_explains_a_part_of_the_lead(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(
        "best_accuracy,examples,choices,prompts,mean_accuracy,second_accuracy\n"
        "0.683,20,2,34,0.39,0.65\n"
        "0.9,200,2,34,0.6,0.7\n"
        "0.7,200,2,1,0.7,\n"
    )
    table = judge_scores(read_scores(path))
    simulated = np.random.default_rng(0).binomial(20, 0.39, (50_000, 34)).max(axis=1).mean() / 20
    assert table["luck_over_mean"][0] == pytest.approx((simulated - 0.39) / 0.293, abs=0.005)
    assert table["luck_over_second"][0] == 1.0
    assert 0.1 < table["luck_over_mean"][1] < 0.3
    assert table["luck_over_second"][1] < 0.1
    # one prompt has no lead over others
    assert table.loc[2, ["luck_over_mean", "luck_over_second"]].isna().all()


def test_the_second_best_of_guessers():
    guesser = RandomBaseline.from_choices({2: 10, 5: 7})
    generator = np.random.default_rng(1)
    counts = generator.binomial(10, 0.5, (50_000, 6)) + generator.binomial(7, 0.2, (50_000, 6))
    assert guesser.second(6) == pytest.approx(np.sort(counts, axis=1)[:, -2].mean() / 17, abs=0.002)
    assert guesser.second(2) + guesser.maximum(2) == pytest.approx(2 * guesser.standard)
    with pytest.raises(ValueError, match="at least two"):
        guesser.second(1)
    for prompts in (2.5, np.nan, 10**16):
        with pytest.raises(ValueError, match="prompts is"):
            guesser.second(prompts)


@pytest.mark.parametrize("prompts", [2, 1_000, 10**9, 10**15])
def test_the_second_best_of_very_many_guessers_is_exact(prompts):
    with mp.workdps(80):
        below, total = mpf(0), mpf(0)
        for k in range(100):
            below += mp.binomial(100, k) / mpf(2) ** 100
            total += 1 - below**prompts - prompts * below ** (prompts - 1) * (1 - below)
    guesser = RandomBaseline.from_chance(0.5, 100)
    assert guesser.second(prompts) == pytest.approx(float(total / 100), rel=1e-12)


@pytest.mark.parametrize(
    ("heading", "rows", "count"),
    [
        ("task", ["a", "a", "b"], 1),
        ("model", ["a", "a", "a"], 2),
        ("source", ["a", "a", "a"], 0),  # names of sources alone do not tell scores different
    ],
)
def test_rows_that_look_like_prompts_of_one_score(heading, rows, count, tmp_path):
    columns = f"{heading},best_accuracy,examples,chance,prompts"
    numbers = [f"{name},0.{place}1,100,0.25,20" for place, name in enumerate(rows, start=3)]
    assert published_scores.repeated(read_scores(written(tmp_path, *numbers, heading=columns))) == count
    different = [f"a,0.31,{100 + place},0.25,20" for place in range(3)]
    assert published_scores.repeated(read_scores(written(tmp_path, *different, heading=columns))) == 0
    different = [f"a,0.31,100,0.25,{20 + place}" for place in range(3)]
    assert published_scores.repeated(read_scores(written(tmp_path, *different, heading=columns))) == 0


@pytest.mark.parametrize(
    ("heading", "row", "problem"),
    [
        (
            "prompt,best_accuracy,examples,chance",
            "a,0.5,100,0.25",
            ": has a column 'prompt'; expected one row per best score, and the number of prompts tried in "
            "the column 'prompts'",
        ),
        (
            "best_accuracy,examples,chance,prompts,mean_accuracy",
            "0.5,100,0.25,20,0.6",
            ", row 2: mean_accuracy is 0.6; expected at most best_accuracy, 0.5",
        ),
        (
            "best_accuracy,examples,chance,prompts,mean_accuracy",
            "0.9,100,0.25,10,0.084",
            ", row 2: mean_accuracy is 0.084; expected at least 0.09, because the best of 10 prompts has 0.9",
        ),
        (
            "best_accuracy,examples,chance,prompts,second_accuracy",
            "0.5,100,0.25,20,x",
            ", row 2: second_accuracy is 'x'; expected a number from 0 to 1",
        ),
        (
            "best_accuracy,examples,chance,prompts,second_accuracy",
            "0.5,100,0.25,1,0.5",
            ", row 2: prompts is 1, but second_accuracy is 0.5; expected the number of all prompts tried",
        ),
        (
            "best_accuracy,examples,chance,prompts,mean_accuracy",
            "0.5,100,0.25,1,0.4",
            ", row 2: prompts is 1, but mean_accuracy is 0.4; expected the number of all prompts tried",
        ),
        (
            "best_accuracy,examples,chance,prompts",
            f"0.{'1' * 401},100,0.25,20",
            f", row 2: best_accuracy is '0.{'1' * 38}'; expected at most 400 decimals",
        ),
    ],
)
def test_what_is_wrong_in_a_table_of_scores(heading, row, problem, tmp_path):
    path = written(tmp_path, row, heading=heading)
    with pytest.raises(InputError) as error:
        read_scores(path)
    assert str(error.value) == f"{path}{problem}"


def luck_of(**row):
    return _luck({"best_accuracy": 0.7, "examples": 100, "prompts": 10} | row)


def test_luck_is_told_of_the_scores_that_are_known():
    second = luck_of(second_accuracy=0.6)
    assert [*second] == ["luck_over_second"]
    assert (
        luck_of(mean_accuracy=np.nan, second_accuracy=0.6)["luck_over_second"] == second["luck_over_second"]
    )
    assert np.isnan(luck_of(mean_accuracy=np.nan)["luck_over_mean"])
    assert np.isnan(luck_of(mean_accuracy=0.7)["luck_over_mean"])
    of_all = luck_of(mean_accuracy=0.7, second_accuracy=0.6)
    assert of_all["luck_over_second"] == second["luck_over_second"]
    assert np.isnan(luck_of(mean_accuracy=0.6, prompts=1)["luck_over_mean"])
    # of two prompts, the best is expected to lead its mean by E[max] - mean
    of_two = luck_of(mean_accuracy=0.5, prompts=2)
    k = np.arange(101)
    cdf = stats.binom(100, 0.5).cdf(k)
    expected = (k * (cdf**2 - np.concatenate([[0], cdf[:-1]]) ** 2)).sum() / 100 - 0.5
    assert of_two["luck_over_mean"] == pytest.approx(expected / 0.2)
    assert luck_of(best_accuracy=1.0, second_accuracy=0.0)["luck_over_second"] == 0
    assert luck_of(best_accuracy=0.501, mean_accuracy=0.5)["luck_over_mean"] == 1
    assert 0 < luck_of(best_accuracy=1.0, second_accuracy=0.99)["luck_over_second"] <= 1
