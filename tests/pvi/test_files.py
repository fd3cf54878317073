"""PVI that others computed, read from their files, and the command that reads it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.core.errors import InputError
from abovechance.pvi import one_way
from abovechance.pvi.files import is_runs, read_examples, read_runs
from abovechance.pvi.runs import OTHERS
from abovechance.pvi.tails import _mean
from tests.importers.test_lm_eval import lm_sample, write_lm
from tests.running import run

COLUMNS = [
    *("experiment_id", "dataset", "number_of_data", "model", "prompt_set", "number_of_shots", "temperature"),
    *("accuracy", "average_pvi_for_T", "average_pvi_for_F"),
    *("accuracy_for_pvi<1/5quantile", "accuracy_for_pvi>4/5quantile"),
    *("accuracy_for_pvi<1/2quantile", "accuracy_for_pvi>1/2quantile"),
]


def runs() -> list[list[object]]:
    """Three exemplar sets, two numbers of shots, one model on two data sets."""
    generator = np.random.default_rng(0)
    return [
        [number, data, 500, "gpt2", f"{chosen}a", shots, 0.8, *generator.random(7).round(4)]
        for number, (data, chosen, shots) in enumerate(
            (data, chosen, shots) for data in ("cola", "rte") for chosen in (1, 2, 3) for shots in (4, 8)
        )
    ]


def write(path: Path, columns: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def test_a_table_of_runs_gives_means_over_sets_and_the_analysis_of_variance(tmp_path):
    rows = runs()
    path = write(tmp_path / "results.csv", COLUMNS, rows)
    assert is_runs(path)
    report = json.loads(CliRunner().invoke(app, ["pvi", str(path), "--json"]).stdout)
    assert len(report) == 4
    own_part = [row for row in rows if row[1] == "cola" and row[5] == 4]
    (first,) = [row for row in report if row["task"] == "cola" and row["shots"] == 4]
    assert first["sets"] == 3
    assert first["accuracy"] == pytest.approx(np.mean([row[7] for row in own_part]))
    for name, place in (
        ("lowest_fifth", 10),
        ("highest_fifth", 11),
        ("lowest_half", 12),
        ("highest_half", 13),
    ):
        assert first[name] == pytest.approx(np.mean([row[place] for row in own_part]))
    groups = [
        [row[8] for row in rows if row[1] == "cola" and row[4] == chosen] for chosen in ("1a", "2a", "3a")
    ]
    assert (first["f"], first["between"], first["within"], first["p"]) == pytest.approx(one_way(groups))
    assert (first["between"], first["within"]) == (2, 3)


def test_averages_of_runs_are_nats_unless_said_and_gaps_are_gaps(tmp_path):
    rows = runs()
    rows[0][9] = "na"
    rows[0][11] = ""
    path = write(tmp_path / "results.csv", COLUMNS, rows)
    nats, bits = read_runs(path), read_runs(path, "bits")
    assert nats["pvi_correct"].tolist() == pytest.approx([row[8] / np.log(2) for row in rows])
    assert bits["pvi_correct"].tolist() == pytest.approx([row[8] for row in rows])
    assert np.isnan(nats.loc[0, "pvi_wrong"])
    assert np.isnan(nats.loc[0, "highest_fifth"])
    output = CliRunner().invoke(app, ["pvi", str(path)]).stdout
    assert "12 runs." in output
    assert "cola" in output


def test_runs_that_differ_in_their_temperature_are_other_runs(tmp_path):
    rows = runs()
    warmer = [[100 + row[0], *row[1:6], 0.9, *row[7:]] for row in rows]
    result = read_runs(write(tmp_path / "both.csv", COLUMNS, [*rows, *warmer]))
    assert set(result["model"]) == {"gpt2, temperature 0.8", "gpt2, temperature 0.9"}
    with pytest.raises(InputError, match="both.csv, row 14: is a second run of cola, gpt2, 4, 1a"):
        second = [*rows[0]]
        second[0], second[COLUMNS.index("accuracy")] = 99, 0.123
        read_runs(write(tmp_path / "both.csv", COLUMNS, [*rows, second]))


def test_runs_are_balanced_accuracy_by_what_was_chosen_and_not_by_what_came_out(tmp_path):
    rows = runs()
    warmer = [[100 + row[0], *row[1:6], 0.9, *row[7:]] for row in rows]
    columns = ["", "prompt_file", *COLUMNS, "seconds", "top_k"]
    merged = [
        [place, f"{row[4]}-{row[5]}.txt", *row, 1.5 * place, 20] for place, row in enumerate([*rows, *warmer])
    ]
    result = read_runs(write(tmp_path / "both.csv", columns, merged))
    assert set(result["model"]) == {"gpt2, temperature 0.8", "gpt2, temperature 0.9"}
    # other values of a column that no other one explains
    columns, more = [*COLUMNS, "top_k"], [[*row, k] for k in (10, 20) for row in rows]
    result = read_runs(write(tmp_path / "k.csv", columns, more))
    assert set(result["model"]) == {"gpt2, top_k 10", "gpt2, top_k 20"}


def test_rows_that_stand_twice_blanks_and_an_infinite_mean_are_taken(tmp_path):
    rows = runs()
    rows[0][COLUMNS.index("average_pvi_for_F")] = "-inf"
    rows[1][COLUMNS.index("prompt_set")] += " "
    result = read_runs(write(tmp_path / "results.csv", COLUMNS, [*rows, rows[3]]))
    assert len(result) == len(rows)
    assert np.isnan(result["pvi_wrong"].iloc[0])
    assert np.isnan(result["information"].iloc[0])  # unless no prediction is wrong
    rows[0][COLUMNS.index("accuracy")] = "1.0"
    certain = read_runs(write(tmp_path / "results.csv", COLUMNS, rows)).iloc[0]
    assert certain["information"] == pytest.approx(certain["pvi_correct"])
    assert result["prompt"].nunique() == 3


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (7, "high", "row 2: accuracy is 'high'; expected a number"),
        (7, "46.2", "row 2: accuracy is 46.2; expected between 0 and 1"),
        (5, "4.5", "row 2: number_of_shots is '4.5'; expected a whole number, at least 0"),
        (5, "-1", "row 2: number_of_shots is '-1'; expected a whole number, at least 0"),
        (5, "na", "row 2: number_of_shots is 'na'; expected a whole number, at least 0"),
        (2, "many", "row 2: number_of_data is 'many'; expected a number"),
    ],
)
def test_a_wrong_run_is_named(tmp_path, place, value, message):
    rows = runs()
    rows[0][place] = value
    path = write(tmp_path / "results.csv", COLUMNS, rows)
    with pytest.raises(InputError) as error:
        read_runs(path)
    assert str(error.value) == f"{path}, {message}"


def test_a_second_run_is_named(tmp_path):
    rows = runs()
    path = write(tmp_path / "results.csv", COLUMNS, [*rows, [99, *rows[0][1:7], *rows[1][7:]]])
    with pytest.raises(InputError) as error:
        read_runs(path)
    assert str(error.value) == (
        f"{path}, row 14: is a second run of cola, gpt2, 4, 1a "
        "(dataset, model, number_of_shots, prompt_set); expected one"
    )


def test_a_table_of_runs_is_that_of_prompts(tmp_path):
    rows = runs()
    for row, shots in zip(rows, (0, 1, 3, 4, 5, 6) * 2, strict=True):
        row[5] = shots
    rows[3] = [*rows[2]]  # a row that is there twice counts once
    rows[5][8] = "inf"
    table = read_runs(write(tmp_path / "results.csv", COLUMNS, rows), "bits")
    expected = [row for place, row in enumerate(rows) if place != 3]
    assert table.index.tolist() == [*range(len(expected))]
    assert table["shots"].tolist() == [row[5] for row in expected]
    assert table["examples"].tolist() == [500] * len(expected)
    means = [row[7] * row[8] + (1 - row[7]) * row[9] if row[8] != "inf" else np.nan for row in expected]
    assert table["information"].tolist() == pytest.approx(means, nan_ok=True)
    assert np.isnan(table["pvi_correct"][4])
    assert {*table[OTHERS].dtypes} == {np.dtype(float)}
    assert table[OTHERS].isna().all(axis=None)
    columns = [name for name in COLUMNS if name != "number_of_data"]
    size = COLUMNS.index("number_of_data")
    unknown = [[*row[:size], *row[size + 1 :]] for row in rows]
    assert read_runs(write(tmp_path / "unknown.csv", columns, unknown))["examples"].isna().all()


def test_runs_take_the_name_of_the_setting_with_the_fewest_values(tmp_path):
    """Two columns tell the runs from each other, one with two values and one with four."""
    columns = ["seconds", *COLUMNS, "top_k"]
    rows = [[(place % 2) + 2 * (k == 20), *row, k] for k in (10, 20) for place, row in enumerate(runs())]
    table = read_runs(write(tmp_path / "results.csv", columns, rows))
    assert set(table["model"]) == {"gpt2, top_k 10", "gpt2, top_k 20"}


def test_temperature_is_named_once_and_numbers_of_experiments_never(tmp_path):
    rows = [
        [experiment, *row[1:6], temperature, *row[7:]]
        for experiment, temperature in enumerate((0.5, 1.0))
        for row in runs()
    ]
    table = read_runs(write(tmp_path / "results.csv", COLUMNS, rows))
    assert set(table["model"]) == {"gpt2, temperature 0.5", "gpt2, temperature 1.0"}
    same_temperature = [[*row[:6], 1.0, *row[7:]] for row in rows]
    for row in same_temperature[12:]:
        row[8] += 1
    with pytest.raises(InputError, match="row 14: is a second run"):
        read_runs(write(tmp_path / "results.csv", COLUMNS, same_temperature))


EXAMPLES = ["sentence1", "label", "H_yb", "H_yx", "predicted_label", "correct_yx", "PVI"]
ROWS = [
    ["one", 0, 1.0, 0.25, 0, True, 0.75],
    ["two", 1, 1.0, 2.5, 0, False, -1.5],
    ["three", 1, 1.0, 0.5, 1, True, 0.5],
]


def test_a_table_of_examples_is_in_bits_and_the_hardest_come_first(tmp_path):
    path = write(tmp_path / "examples.csv", EXAMPLES, ROWS)
    assert not is_runs(path)
    assert read_examples(path)["pvi"].tolist() == [0.75, -1.5, 0.5]
    assert read_examples(path, "nats")["pvi"].tolist() == pytest.approx(
        [0.75 / np.log(2), -1.5 / np.log(2), 0.5 / np.log(2)]
    )
    output = CliRunner().invoke(app, ["pvi", str(path)]).stdout
    assert output.index("two") < output.index("three") < output.index("one")
    report = json.loads(CliRunner().invoke(app, ["pvi", str(path), "--json"]).stdout)
    assert report["information"] == pytest.approx(-0.25 / 3)
    assert report["accuracy"] == pytest.approx(2 / 3)
    assert [example["pvi"] for example in report["hardest_first"]] == [-1.5, 0.5, 0.75]
    alone = write(tmp_path / "alone.csv", ["PVI"], [[1.0], [2.0]])
    assert json.loads(CliRunner().invoke(app, ["pvi", str(alone), "--json"]).stdout)["information"] == 1.5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            ["four", 1, 1.0, 0.5, 1, True, 0.9],
            "row 5: PVI is 0.9, and H_yb - H_yx is 0.5; expected the same",
        ),
        (["four", 1, 1.0, "", 1, True, ""], "row 5: has no PVI; expected a number"),
        (["four", 1, 1.0, "x", 1, True, 0.5], "row 5: H_yx is 'x'; expected a number"),
        (
            ["four", 1, 1.0, 0.5, 1, "yes", 0.5],
            "row 5: correct_yx is 'yes'; expected 0 or 1",
        ),
    ],
)
def test_a_wrong_example_is_named(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_examples(write(tmp_path / "examples.csv", EXAMPLES, [*ROWS, row]))


def test_what_is_neither_is_told(tmp_path):
    with pytest.raises(InputError, match="is no table of PVI; expected one row a run, with the columns"):
        is_runs(write(tmp_path / "x.csv", ["a"], [[1]]))


def test_two_logs_of_lm_evaluation_harness_with_inputs_and_without(tmp_path):
    argument = write_lm(tmp_path / "given", [lm_sample(0, [-1.0, -2.0], 0), lm_sample(1, [-1.5, -1.0], 0)])
    null = write_lm(tmp_path / "null", [lm_sample(0, [-2.0, -2.0], 0), lm_sample(1, [-0.5, -2.0], 0)])
    report = json.loads(CliRunner().invoke(app, ["pvi", str(argument), "--null", str(null), "--json"]).stdout)
    assert report["examples"] == 2
    assert report["information"] == pytest.approx((1.0 - 1.0) / 2 / np.log(2))
    assert report["accuracy"] == 0.5
    assert report["negative"] == 0.5
    short = write_lm(tmp_path / "short", [lm_sample(0, [-2.0, -2.0], 0)])
    completed = CliRunner().invoke(app, ["pvi", str(argument), "--null", str(short)])
    assert "example '1', choice 0 is in the run with inputs alone" in str(
        completed.exception or completed.output
    )


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (lm_sample(0, [-2.0, -2.0], 1), "choice 0: is correct in one run and wrong in the other"),
        (
            lm_sample(0, [-2.0, -2.0], 0)
            | {
                "arguments": {
                    "gen_args_0": {"arg_0": "", "arg_1": " longer"},
                    "gen_args_1": {"arg_0": "", "arg_1": " b"},
                }
            },
            "choice 0: has 2 characters in one run, 7 in the other",
        ),
        (lm_sample(0, ["-inf", "-inf"], 0) | {"acc": 0.0}, "impossible"),
    ],
)
def test_logs_of_other_labels_or_choices_are_told(tmp_path, second, message):
    argument = write_lm(tmp_path / "given", [lm_sample(0, [-1.0, -2.0], 0)])
    null = write_lm(tmp_path / "null", [second])
    completed = CliRunner().invoke(app, ["pvi", str(argument), "--null", str(null), "--over", "choices"])
    assert completed.exit_code != 0
    assert message in str(completed.exception or completed.output)


def test_an_example_that_occurs_twice_in_a_log_is_an_error(tmp_path):
    twice = [lm_sample(0, [-1.0, -9.0], 0), lm_sample(0, [-6.0, -9.0], 0), lm_sample(1, [-1.0, -2.0], 0)]
    argument, null = write_lm(tmp_path / "given", twice), write_lm(tmp_path / "null", twice)
    completed = CliRunner().invoke(app, ["pvi", str(argument), "--null", str(null)])
    assert f"{argument}: example '0' occurs twice; expected each example once" in str(completed.exception)


def test_infinite_numbers_keep_their_signs_in_json(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("H_yb,H_yx,correct\n1,0,1\n1,inf,0\ninf,1,1\n")
    report = json.loads(CliRunner().invoke(app, ["pvi", str(path), "--json"]).stdout)
    assert [example["pvi"] for example in report["hardest_first"]] == ["-Infinity", 1.0, "Infinity"]


def test_choices_in_another_order_are_told(tmp_path):
    argument = write_lm(tmp_path / "with", [lm_sample(number, [-1.0, -2.0], 0) for number in range(2)])
    swapped = lm_sample(1, [-2.0, -2.0], 0)
    swapped["arguments"] = {
        "gen_args_0": {"arg_0": "", "arg_1": " b"},
        "gen_args_1": {"arg_0": "", "arg_1": " a"},
    }
    null = write_lm(tmp_path / "null", [lm_sample(0, [-2.0, -2.0], 0), swapped])
    completed = CliRunner().invoke(app, ["pvi", str(argument), "--null", str(null)])
    assert "example '1' has the choices ['b', 'a'], and in " in str(completed.exception)
    assert str(completed.exception).endswith(" ['a', 'b']; expected the same choices in the same order")


def test_columns_of_other_names_are_read_and_never_two(tmp_path):
    rows = [[*row[:6], row[6]] for row in ROWS]
    expected = read_examples(write(tmp_path / "e.csv", EXAMPLES, rows))
    columns = [{"correct_yx": "correct", "PVI": "pvi"}.get(name, name) for name in EXAMPLES]
    path = write(tmp_path / "ours.csv", columns, rows)
    assert not is_runs(path)
    table = read_examples(path)
    assert table["pvi"].equals(expected["pvi"])
    assert table["correct"].equals(expected["correct"])
    path = write(tmp_path / "zeros.csv", ["PVI", "correct"], [[1.0, 0], [2.0, 1], [3.0, 0]])
    report = json.loads(CliRunner().invoke(app, ["pvi", str(path), "--json"]).stdout)
    assert report["accuracy"] == pytest.approx(1 / 3)
    path = write(tmp_path / "words.csv", ["pvi", "correct"], [[1.0, "no"]])
    with pytest.raises(InputError, match="row 2: correct is 'no'; expected 0 or 1"):
        read_examples(path)
    path = write(tmp_path / "two.csv", ["PVI", "correct", "correct_yx"], [[1.0, 0, 1]])
    with pytest.raises(InputError) as error:
        read_examples(path)
    assert str(error.value) == f"{path}: has the columns 'correct_yx' and 'correct'; expected one of them"


def test_runs_of_two_models_are_noted(tmp_path):
    argument = write_lm(tmp_path / "given", [lm_sample(0, [-1.0, -2.0], 0), lm_sample(1, [-1.0, -2.0], 0)])
    null = write_lm(tmp_path / "null", [lm_sample(0, [-2.0, -2.0], 0), lm_sample(1, [-2.0, -2.0], 0)])
    results = next((tmp_path / "null").glob("results*.json"))
    results.write_text(results.read_text().replace("org/model", "org/other"))
    completed = CliRunner().invoke(app, ["pvi", str(argument), "--null", str(null)])
    assert completed.exit_code == 0
    assert "note: the two logs are from different models: 'org--model' and 'org--other'" in completed.output


def test_an_infinite_example_has_no_part_in_the_mean_and_is_counted(tmp_path):
    path = write(tmp_path / "e.csv", EXAMPLES, [*ROWS, ["four", 0, 2.0, "inf", 1, False, "-inf"]])
    completed = CliRunner().invoke(app, ["pvi", str(path), "--json"])
    assert (
        "note: information, low, high and examples leave out 1 infinite value of PVI; the other"
        in completed.stderr
    )
    report = json.loads(completed.stdout)
    assert report["infinite"] == 1
    assert report["information"] == pytest.approx((0.75 - 1.5 + 0.5) / 3)
    assert report["balanced_accuracy"] == 1


def test_numbers_of_few_digits_may_differ_by_their_last(tmp_path):
    few = [["one", 0, 1.0, 0.3, 0, True, 0.8], ["two", 0, 1.4, 0.3, 0, True, 1.0]]
    assert len(read_examples(write(tmp_path / "e.csv", EXAMPLES, few))) == 2
    with pytest.raises(InputError, match="PVI is 1.9, and H_yb - H_yx is 0.7"):
        read_examples(write(tmp_path / "e.csv", EXAMPLES, [["one", 0, 1.0, 0.3, 0, True, 1.9], *few]))


# (PVI, H_yb, H_yx) as written, and whether the difference may come from rounding: three halves of the last
# digit of the column with the fewest digits, at least 0.01 bits; whole numbers are exact next to others
ROUNDED = [
    ("1.0", "2.125", "1.0625", True),
    ("0.9", "2.125", "1.0", False),
    ("1.1250", "2.0", "1.0", True),
    ("1.1875", "2.0", "1.0", False),
    ("1.2", "2.1", "1.0", True),
    ("3", "3", "1", True),
    ("1", "1", "2", False),  # a difference with the wrong sign
    ("5", "3", "1", False),
    ("1.125", "2", "1.0", True),
    ("1.25", "2", "1.0", False),
    ("1.006", "2.0000", "1.0000", True),
    ("1.015", "2.0000", "1.0000", False),
]


@pytest.mark.parametrize("unit", ["bits", "nats"])
@pytest.mark.parametrize(("pvi", "null", "argument", "by_rounding"), ROUNDED)
def test_how_far_rounded_numbers_may_differ(tmp_path, unit, pvi, null, argument, by_rounding):
    path = write(tmp_path / "e.csv", ["H_yb", "H_yx", "PVI"], [[null, argument, pvi]])
    if by_rounding:
        assert len(read_examples(path, unit)) == 1
        return
    with pytest.raises(InputError) as error:
        read_examples(path, unit)
    difference = f"{float(null) - float(argument):.4g}"
    assert str(error.value) == (
        f"{path}, row 2: PVI is {pvi}, and H_yb - H_yx is {difference}; expected the same"
    )


def test_flags_and_clusters_of_examples(tmp_path):
    columns = ["PVI", "correct_yx", "cluster"]
    flags = {"True": True, "1": True, "1.0": True, "false": False, "0": False, " 0.0": False}
    path = write(tmp_path / "e.csv", columns, [[1.0, flag, "a"] for flag in flags])
    table = read_examples(path)
    assert table["correct"].tolist() == [*flags.values()]
    assert table["cluster"].tolist() == ["a"] * len(flags)
    path = write(tmp_path / "e.csv", columns, [[1.0, 1, "a"], [1.0, 2, " "]])
    with pytest.raises(InputError) as error:
        read_examples(path)
    assert str(error.value) == f"{path}, row 3: cluster is empty; expected a name"
    path = write(tmp_path / "e.csv", columns, [[1.0, 1, "a"], [1.0, 2, "b"]])
    with pytest.raises(InputError) as error:
        read_examples(path)
    assert str(error.value) == f"{path}, row 3: correct_yx is '2'; expected 0 or 1"


def test_a_table_in_nats_is_shown_in_bits(tmp_path):
    table = read_examples(write(tmp_path / "e.csv", EXAMPLES, ROWS), "nats")
    assert table["H_yb"].iloc[0] == pytest.approx(1 / np.log(2))
    assert table["pvi"].iloc[0] == pytest.approx(0.75 / np.log(2))


@pytest.mark.parametrize("seed", range(20))
def test_the_accuracy_of_examples_that_are_all_right_is_1(seed):
    weights = np.random.default_rng(seed).random(200)
    assert _mean(np.ones(200, dtype=bool), weights) == 1.0
    assert np.isnan(_mean(np.ones(3, dtype=bool), np.zeros(3)))


def test_runs_without_shots_are_in_the_json(tmp_path):
    ends = ",".join(["accuracy_for_pvi<1/5quantile", "accuracy_for_pvi>4/5quantile"])
    ends += ",accuracy_for_pvi<1/2quantile,accuracy_for_pvi>1/2quantile"
    (tmp_path / "runs.csv").write_text(
        f"dataset,model,number_of_shots,prompt_set,accuracy,average_pvi_for_T,average_pvi_for_F,{ends}\n"
        "rte,gpt,0,1,0.6,1,-1,0.1,0.9,0.3,0.8\n"
        "boolq,gpt,2,1,0.7,1,-1,0.1,0.9,0.3,0.8\n"
        "boolq,gpt,2,2,0.8,2,-1,0.1,0.9,0.3,0.8\n"
    )
    rows = json.loads(run("pvi", str(tmp_path / "runs.csv"), "--json").stdout)
    assert [(row["task"], row["shots"], row["accuracy"], row["numbers"]) for row in rows] == [
        ("rte", 0, 0.6, None),
        ("boolq", 2, 0.75, 2),
    ]


def test_rows_of_one_example_are_an_error_unless_they_have_clusters(tmp_path):
    columns = ["example", "prompt", "PVI"]
    rows = [["e0", "p0", 0.1], ["e1", "p0", 0.2], ["e0", "p1", 0.3]]
    path = write(tmp_path / "e.csv", columns, rows)
    with pytest.raises(
        InputError, match="row 4: an earlier row has the same example; expected one row for each"
    ):
        read_examples(path)
    clustered = [[*row, row[0]] for row in rows]
    assert len(read_examples(write(tmp_path / "c.csv", [*columns, "cluster"], clustered))) == 3


def test_the_metric_that_decides_what_is_correct(tmp_path):
    def sample(number: int) -> dict:
        return lm_sample(number, [-1.0, -2.0], 0) | {"metrics": ["acc", "acc_norm"], "acc_norm": 0.0}

    argument, null = (write_lm(tmp_path / name, [sample(0), sample(1)]) for name in ("given", "null"))
    arguments = ["pvi", str(argument), "--null", str(null), "--json"]
    completed = CliRunner().invoke(app, arguments)
    assert "for another one, use --metric acc_norm" in completed.stderr
    accuracies = [
        json.loads(CliRunner().invoke(app, [*arguments, *metric]).stdout)["accuracy"]
        for metric in ([], ["--metric", "acc_norm"])
    ]
    assert accuracies == [1, 0]
    refused = CliRunner().invoke(
        app, ["pvi", str(write(tmp_path / "e.csv", ["PVI"], [[1]])), "--metric", "acc"]
    )
    assert "--metric has no effect without --null" in str(refused.exception)


@pytest.mark.parametrize("over", ["choices", "vocabulary"])
def test_probabilities_in_place_of_log_likelihoods_are_an_error(tmp_path, over):
    argument = write_lm(tmp_path / "given", [lm_sample(0, [0.7, 0.3], 0)])
    null = write_lm(tmp_path / "null", [lm_sample(0, [0.5, 0.5], 0)])
    completed = CliRunner().invoke(app, ["pvi", str(argument), "--null", str(null), "--over", over])
    assert (
        "example '0': its most likely choice has the probability 2.014 with the input; expected at most 1"
        in (str(completed.exception))
    )


def test_a_misspelt_cluster_is_an_error(tmp_path):
    path = write(tmp_path / "e.csv", ["example", "Clusters", "PVI"], [["a", "1", 0.5], ["b", "1", 0.25]])
    with pytest.raises(InputError, match="column 'Clusters' is unknown; did you mean 'cluster'?"):
        read_examples(path)


def test_names_of_examples_are_those_without_blanks(tmp_path):
    path = write(tmp_path / "e.csv", ["example", "PVI"], [["a", 0.5], ["a ", 1]])
    with pytest.raises(InputError, match="row 3: an earlier row has the same example"):
        read_examples(path)
    with pytest.raises(InputError, match="row 2: example is empty"):
        read_examples(write(tmp_path / "e.csv", ["example", "PVI"], [[" ", 0.5], ["a", 1]]))


def log_of(folder, scores, prompts, model="m"):
    """A log of two choices, of which the first is correct for even examples."""
    samples = []
    for place, (pair, prompt) in enumerate(zip(scores, prompts, strict=True)):
        sample = lm_sample(place, [*pair], place % 2)
        sample["arguments"] = {
            f"gen_args_{i}": {"arg_0": prompt, "arg_1": f" {'abcdef'[i]}"} for i in range(2)
        }
        samples.append(sample)
    path = write_lm(folder, samples)
    results = next(folder.glob("results_*"))
    results.write_text(json.dumps(json.loads(results.read_text()) | {"model_name": model}))
    return path


def test_equal_pvi_is_equal_whatever_the_rounding_of_logarithms(tmp_path):
    """Inputs that say nothing: all choices are as probable beside each other as without them."""
    likely = [-(8 + place % 30) / 32 for place in range(40)]
    pairs, prompts = [(score, score - 0.5) for score in likely], [f"{i} =" for i in range(40)]
    inputs = log_of(tmp_path / "inputs", pairs, prompts)
    null = log_of(tmp_path / "null", [(-1.25, -1.75)] * 40, ["="] * 40)
    arguments = ["pvi", str(inputs), "--null", str(null), "--over", "choices", "--json"]
    completed = CliRunner().invoke(app, arguments)
    assert "looks broken" not in completed.stderr  # what a run without inputs is
    report = json.loads(completed.stdout)
    assert (report["information"], report["negative"]) == (0, 0)
    for name in ("lowest_fifth", "highest_fifth", "lowest_half", "highest_half"):
        assert report[name] == 0.5, name
    twice = CliRunner().invoke(app, ["pvi", str(null), "--null", str(null), "--over", "choices"])
    assert "the scores of the choices are the same" in twice.stderr  # of the run with inputs


def test_logs_that_name_different_models_are_told(tmp_path):
    logs = [
        log_of(tmp_path / name, [(-1.0, -2.0 - i / 32) for i in range(8)], [f"{i} =" for i in range(8)], name)
        for name in ("a", "b")
    ]
    completed = CliRunner().invoke(app, ["pvi", str(logs[0]), "--null", str(logs[1])])
    assert "the two logs are from different models: 'a' and 'b' (a log that names no" in completed.stderr
