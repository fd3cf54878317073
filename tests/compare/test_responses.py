"""How answers are arranged, and what the command says of them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from abovechance.chance.multiplicity import adjusted
from abovechance.chance.random_baseline import MOST_EXAMPLES
from abovechance.cli import app
from abovechance.compare import compare
from abovechance.compare.comparison import generalizes, headline_of
from abovechance.compare.leaderboard import read_leaderboard
from abovechance.compare.responses import arrange
from abovechance.compare.study import of_seeds, of_study, responses_of_study
from abovechance.core.errors import InputError
from abovechance.results.predictions import PREDICTIONS
from abovechance.shown.differences_of_models import score_numbers
from tests.importers.test_lm_eval import lm_sample, write_lm


def rows(model: str, correct: dict[str, float], prompt: str = "p", task: str = "t") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": model, "task": task, "shots": 0, "prompt": prompt, "example": example, "score": score}
            for example, score in correct.items()
        ]
    )


def test_models_are_compared_on_the_examples_that_all_have_in_whatever_order_they_stand():
    first = rows("a", {"1": 1, "2": 0, "3": 1, "4": 1})
    second = rows("b", {"3": 0, "2": 1, "1": 1, "9": 0})
    (responses,) = arrange(pd.concat([first, second]))
    assert dict(zip(responses.examples, responses.by_example.T.tolist(), strict=True)) == {
        "1": [1, 1],
        "2": [0, 1],
        "3": [1, 0],
    }
    assert responses.notes == ["t, 0-shot: models are compared on the 3 of 5 examples that all of them have"]
    with pytest.raises(InputError, match="a and b have 1 of 3 examples in common"):
        list(arrange(pd.concat([rows("a", {"1": 1, "2": 1}), rows("b", {"2": 1, "3": 1})])))
    with pytest.raises(InputError, match="example '1' occurs twice for 'a'"):
        list(arrange(pd.concat([first, first, second])))
    assert not list(arrange(first))


def test_prompts_are_paired_by_their_names_and_what_one_lacks_all_lack():
    table = pd.concat(
        [rows(model, {"1": 1, "2": 0, "3": 1}, prompt) for model in "ab" for prompt in ("x", "y")]
    )
    lacking = table.drop(index=0)  # example 1 of each
    lacking = pd.concat(
        [lacking, rows("a", {"1": 1}, "x"), rows("b", {"1": 0}, "x"), rows("a", {"1": 1}, "y")]
    )
    (responses,) = arrange(lacking)
    assert responses.prompts == ["x", "y"]
    assert responses.scores.shape == (2, 2, 3)
    place = responses.examples.index("1")
    assert np.isnan(responses.scores[:, 1, place]).all()  # of y, model b has no example 1
    assert responses.scores[:, 0, place].tolist() == [1, 0]
    unit, scores, sizes = responses.by_unit(responses.scores)
    assert (unit, scores.tolist()) == ("examples", np.delete(responses.scores, place, axis=2).tolist())
    assert sizes.tolist() == [1, 1]
    clusters = np.where(np.arange(3) == place, 7, 3)
    unit, scores, sizes = replace(responses, clusters=clusters).by_unit(responses.scores)
    assert sizes.tolist() == [2]
    rest_score = np.delete(responses.scores, place, axis=2).mean(axis=2, keepdims=True)
    assert (unit, scores.tolist()) == ("clusters", rest_score.tolist())


def test_other_prompts_are_means():
    table = pd.concat(
        [rows("a", {"1": 1, "2": 0}, "x"), rows("a", {"1": 0, "2": 0}, "y"), rows("b", {"1": 1, "2": 1}, "z")]
    )
    (responses,) = arrange(table)
    assert responses.by_example.tolist() == [[0.5, 0], [1, 1]]
    assert responses.notes == ["t, 0-shot: each model has its own prompts (a 2, b 1)"]
    assert responses.repeats == "prompts"
    assert [len(own_part) for own_part in responses.seeds] == [2, 1]


def test_clusters_go_with_their_examples():
    table = pd.concat([rows(model, {"1": 1, "2": 0, "3": 1}) for model in "ab"])
    (responses,) = arrange(table, {"t": pd.Series([7, 8, 7], ["3", "2", "1"])})
    by_name = dict(zip(responses.examples, responses.clusters, strict=True))
    assert by_name["1"] == by_name["3"] != by_name["2"]
    # the cluster of two examples is unknown, so each is by itself
    (responses,) = arrange(table, {"t": pd.Series([7], ["1"])})
    assert len({*responses.clusters}) == 3


def study_of(skills: dict[str, float], tasks: int = 2) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    parts = []
    for task in range(tasks):
        hard = generator.normal(size=80)
        for model, skill in skills.items():
            for prompt in range(3):
                correct = hard + skill + generator.normal(0, 0.5, 80) > 0
                rows = {"model": model, "task": f"t{task}", "shots": 1, "prompt": prompt}
                parts.append(pd.DataFrame(rows | {"example": np.arange(80).astype(str), "score": correct}))
    return pd.concat(parts, ignore_index=True)


def tables_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {schema.name: result for schema, result in of_study(arrange(table))}


def test_a_study_has_its_models_by_task_and_over_all_tasks():
    table = study_of({"a": 0.0, "b": 1.0, "c": 0.05})
    tables = tables_of(table)
    assert len(tables["model_ranks"]) == len(tables["model_pairs"]) == 6
    assert tables["two_models"].empty
    overall = tables["models"].set_index("model")
    assert overall["score"].to_dict() == pytest.approx(table.groupby("model")["score"].mean().to_dict())
    assert overall.loc["b", ["rank_low", "rank_high", "tasks"]].tolist() == [1, 1, 2]
    assert set(overall["about"]) == {"for these 3 prompts only"}
    pairs = tables["model_pairs"]
    (pair,) = pairs[(pairs["task"] == "t0") & ~pairs[["first", "second"]].isin(["c"]).any(axis=1)].to_dict(
        "records"
    )
    group = {name: rows["score"].mean() for name, rows in table[table["task"] == "t0"].groupby("model")}
    assert pair["difference"] == pytest.approx(group["b"] - group["a"])
    # over tasks that all models have, whichever order they are in
    lacking = table[~((table["model"] == "c") & (table["task"] == "t1"))]
    assert set(tables_of(lacking)["models"]["tasks"]) == {1}
    turned = tables_of(table.iloc[::-1])["models"].set_index("model")["score"]
    assert turned.to_dict() == pytest.approx(overall["score"].to_dict())
    assert tables_of(study_of({"a": 0.0}))["model_ranks"].empty


def test_a_study_of_two_models_has_the_conclusions_of_the_command(tmp_path):
    table = study_of({"a": 0.0, "b": 0.3})
    table.rename(columns={"score": "correct"}).astype({"correct": int}).to_csv(
        tmp_path / "x.csv", index=False
    )
    *tasks, mean = json.loads(run(str(tmp_path / "x.csv"), "--json"))
    tables = tables_of(table)["two_models"]
    assert tables["conclusion"].tolist() == [mean["sentence"], *(task["sentence"] for task in tasks)]
    assert tables["task"].tolist() == ["mean over 2 tasks", "t0", "t1"]
    assert tables["p"].tolist()[1:] == pytest.approx([task["headline"]["p"] for task in tasks])
    assert tables["needed"].tolist()[1:] == pytest.approx([task["comparison"][0]["needed"] for task in tasks])


def write_predictions(folder: Path, table: pd.DataFrame) -> list[Path]:
    """Write the predictions of each model into a file, and return the files."""
    paths = []
    for model, group in table.groupby("model"):
        paths.append(folder / f"{model}.parquet")
        with PREDICTIONS.writing_parts(paths[-1], {}) as write_part:
            for _, rows in group.groupby("task"):
                write_part(rows[[*PREDICTIONS.columns]])
    return paths


def test_responses_of_a_study_are_read_task_by_task(tmp_path):
    table = study_of({"a": 0.0, "b": 0.3, "left out": 0.0}).rename(columns={"score": "correct"})
    table = table.assign(predicted=0, tie=False, chance=0.5)
    paths = write_predictions(tmp_path, table)
    clusters = {"t0": pd.Series(np.arange(80) // 4, np.arange(80).astype(str))}
    items = list(responses_of_study(paths, clusters, {"a": ("a", 0), "b": ("b", 0)}))
    expected = [*arrange(study_of({"a": 0.0, "b": 0.3, "left out": 0.0}), clusters)]
    for group, whole in zip(items, expected, strict=True):
        assert (group.task, group.models, group.prompts) == (whole.task, ["a", "b"], whole.prompts)
        assert np.array_equal(group.scores, whole.scores[:2])
        assert np.array_equal(group.clusters, whole.clusters)


@pytest.mark.parametrize(
    ("examples", "says"), [([99], "have 0 of 81 examples in common"), ([7], "have 1 of 80 examples")]
)
def test_tasks_without_common_examples_are_not_compared_and_the_others_are(tmp_path, examples, says):
    table = study_of({"a": 0.0, "b": 0.3}).rename(columns={"score": "correct"})
    alone = table[(table["model"] == "b") & (table["task"] == "t0")].iloc[: len(examples)]
    rest = table[~((table["model"] == "b") & (table["task"] == "t0"))]
    table = pd.concat([rest, alone.assign(example=[str(example) for example in examples])])
    table = table.assign(predicted=0, tie=False, chance=0.5)
    paths = write_predictions(tmp_path, table)
    compared = {"a": ("a", 0), "b": ("b", 0)}
    tables = {schema.name: rows for schema, rows in of_study(responses_of_study(paths, {}, compared))}
    (row,) = tables["not_compared"].to_dict("records")
    assert (row["task"], row["shots"]) == ("t0", 1)
    assert row["reason"].startswith(f"a and b {says}")
    assert {*tables["model_ranks"]["task"]} == {*tables["two_models"]["task"]} == {"t1"}
    assert tables["models"]["tasks"].tolist() == [1, 1]
    # of seeds of one model, which share no examples on a task
    trainings = {"a": ("m", 0), "b": ("m", 1)}
    assert {*of_seeds(table, trainings)["task"]} == {"t1"}


def test_the_command_leaves_out_tasks_without_common_examples_with_a_note(tmp_path):
    table = study_of({"a": 0.0, "b": 0.3}).rename(columns={"score": "correct"}).astype({"correct": int})
    is_moved = (table["model"] == "b") & (table["task"] == "t0")
    table.loc[is_moved, "example"] = "b" + table.loc[is_moved, "example"]
    table.to_csv(tmp_path / "x.csv", index=False)
    completed = CliRunner().invoke(app, ["compare", str(tmp_path / "x.csv"), "--json"])
    assert completed.exit_code == 0
    assert [task["task"] for task in json.loads(completed.stdout)] == ["t1"]
    assert "left out: t0, 1-shot: a and b have 0 of 160 examples in common" in completed.stderr
    table[table["task"] == "t0"].to_csv(tmp_path / "y.csv", index=False)
    failed = CliRunner().invoke(app, ["compare", str(tmp_path / "y.csv")])
    assert "t0, 1-shot: a and b have 0 of 160 examples in common; expected" in str(failed.exception)


def run(*arguments: str) -> str:
    completed = CliRunner().invoke(app, ["compare", *arguments])
    assert completed.exit_code == 0, completed.output
    return completed.stdout


def write(folder: Path, name: str, model: str, correct: list[int]) -> str:
    rows = [
        {"example": place, "correct": value, "model": model, "task": "t"}
        for place, value in enumerate(correct)
    ]
    pd.DataFrame(rows).to_csv(folder / name, index=False)
    return str(folder / name)


ONE, OTHER = [1] * 30 + [0] * 10, [1] * 12 + [0] * 28


def test_two_models_from_two_files(tmp_path):
    paths = [write(tmp_path, "a.csv", "a", ONE), write(tmp_path, "b.csv", "b", OTHER)]
    (report,) = json.loads(run(*paths, "--json"))
    expected = compare(ONE, OTHER)
    (argument,) = report["comparison"]
    for name in ("examples", "first", "gain", "better", "worse", "detectable", "needed"):
        assert argument[name] == pytest.approx(getattr(expected, name)), name
    for name in ("low", "high", "p"):
        assert argument[name] == pytest.approx(getattr(expected.difference, name)), name
    for name in ("low", "high"):
        assert argument[f"unpaired_{name}"] == pytest.approx(getattr(expected.unpaired, name)), name
    assert argument["difference"] == pytest.approx(expected.difference.value)
    assert (argument["test"], argument["error"]) == (
        "score",
        pytest.approx(expected.difference.standard_error),
    )
    output = run(*paths, "--seed-deviation", "0.5")
    assert "a is better by 45.0 percentage points" in output
    assert (
        "The difference is smaller than the standard deviation of a training run's score over seeds: 50.0 "
        "percentage points (--seed-deviation)." in output
    )
    swapped = run(*reversed(paths))
    assert "a is better by 45.0 percentage points" in swapped


def test_two_files_of_one_model_are_two(tmp_path):
    paths = [write(tmp_path, "before.csv", "m", ONE), write(tmp_path, "after.csv", "m", OTHER)]
    assert "m (before.csv) is better by" in run(*paths)


def test_three_models_are_ranked(tmp_path):
    paths = [
        write(tmp_path, f"{name}.csv", name, path) for name, path in (("a", ONE), ("b", OTHER), ("c", ONE))
    ]
    (report,) = json.loads(run(*paths, "--json"))
    assert [row["groups"] for row in report["ranks"]] == ["a", "a", "b"]
    assert len(report["pairs"]) == 3
    assert "All pairs of models, with the better model first" in run(*paths, "--all")
    assert "All pairs" not in run(*paths)
    run(*paths, "--figure", str(tmp_path / "scores.png"))
    assert (tmp_path / "scores.png").stat().st_size > 5000
    output = pd.read_csv(tmp_path / "scores.csv").set_index("model")
    assert output.loc["a", ["score", "groups"]].tolist() == [0.75, "a"]
    assert output.loc["a", "low"] < 0.75 < output.loc["a", "high"]


def test_logs_of_lm_evaluation_harness(tmp_path):
    samples = [lm_sample(doc, [-1.0, -2.0], 0) for doc in range(8)]
    write_lm(tmp_path / "one", samples)
    write_lm(tmp_path / "other", [lm_sample(doc, [-1.0, -2.0 + 2 * (doc < 5)], 0) for doc in range(8)])
    results = next((tmp_path / "other").glob("results*.json"))
    results.write_text(results.read_text().replace("org/model", "org/other"))
    (report,) = json.loads(run(str(tmp_path / "one"), str(tmp_path / "other"), "--json"))
    assert report["models"] == ["org--model", "org--other"]
    assert report["comparison"][0]["difference"] == pytest.approx(5 / 8)


def test_prompts_of_both_models(tmp_path):
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        [
            {"model": model, "task": "t", "prompt": prompt, "example": example}
            | {"correct": int(generator.random() < 0.6)}
            for model in "ab"
            for prompt in range(3)
            for example in range(40)
        ]
    )
    table.to_csv(tmp_path / "x.csv", index=False)
    (report,) = json.loads(run(str(tmp_path / "x.csv"), "--json"))
    assert [row["summary"] for row in report["over_prompts"]] == ["mean", "population", "best"]
    assert [row["source"] for row in report["components"]][:3] == ["models", "prompts", "examples"]
    assert "Variance components of single answers" in run(str(tmp_path / "x.csv"), "--all")
    assert "Variance components of single answers" not in run(str(tmp_path / "x.csv"))


def several_tasks(path: Path, models: dict[str, float]) -> Path:
    generator = np.random.default_rng(0)
    lines = ["model,task,example,correct"]
    for task, gap in (("x", 0.4), ("y", 0.0), ("z", 0.25)):
        hard = generator.random(80)
        for model, skill in models.items():
            lines += [f"{model},{task},{e},{int(hard[e] < 0.4 + gap * skill)}" for e in range(80)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_several_tasks_have_a_mean_and_are_adjusted_for_their_number(tmp_path):
    path = several_tasks(tmp_path / "two.csv", {"a": 0.0, "b": 1.0})
    *tasks, over = json.loads(CliRunner().invoke(app, ["compare", str(path), "--json"]).stdout)
    p = [task["headline"]["p"] for task in tasks]
    assert [task["headline"]["holm"] for task in tasks] == pytest.approx(adjusted(p, "holm"))
    assert [task["headline"]["bh"] for task in tasks] == pytest.approx(adjusted(p, "bh"))
    assert over["tasks"] == ["x", "y", "z"]
    (pair,) = over["pairs"]
    assert (pair["first"], pair["second"]) == ("b", "a")
    signed = [task["headline"]["difference"] * (1 if task["models"][0] == "b" else -1) for task in tasks]
    assert pair["difference"] == pytest.approx(np.mean(signed))
    # tasks are independent: the standard error of their mean
    errors = [task["comparison"][0]["error"] for task in tasks]
    assert pair["error"] == pytest.approx(np.sqrt(np.sum(np.square(errors))) / 3, rel=0.1)
    output = " ".join(CliRunner().invoke(app, ["compare", str(path)]).output.split())
    assert "Mean over 3 tasks, 0-shot, with equal weights of tasks b is better by" in output
    assert "2 of 3 differences have p <= 0.05 without correction, and 2 after Holm's correction" in output


def test_many_models_on_several_tasks_are_adjusted_for_all_pairs(tmp_path):
    path = several_tasks(tmp_path / "three.csv", {"a": 0.0, "b": 1.0, "c": 0.5})
    *tasks, over = json.loads(CliRunner().invoke(app, ["compare", str(path), "--json"]).stdout)
    pairs = [pair for task in tasks for pair in task["pairs"]]
    assert [pair["holm"] for pair in pairs] == pytest.approx(adjusted([pair["p"] for pair in pairs], "holm"))
    assert [row["model"] for row in over["ranks"]] == ["b", "c", "a"]


def test_an_accuracy_that_no_number_of_examples_gives_is_told(tmp_path):
    (tmp_path / "board.csv").write_text("model,accuracy,n\na,0.333,100\nb,0.57,100\nc,0.5,3\n")
    output = " ".join(CliRunner().invoke(app, ["compare", str(tmp_path / "board.csv")]).output.split())
    assert "row 2: no number of correct answers out of 100 gives 'a' an accuracy of 0.333" in output
    assert "row 4: no number of correct answers out of 3 gives 'c' an accuracy of 0.5" in output
    assert "'b'" not in output


def test_a_model_that_can_have_any_rank_has_no_share_of_being_the_best(tmp_path):
    board = "model,accuracy,n\n" + "".join(f"m{place},0.5,400\n" for place in range(110)) + "new,0.5,2\n"
    (tmp_path / "board.csv").write_text(board)
    (report,) = json.loads(CliRunner().invoke(app, ["compare", str(tmp_path / "board.csv"), "--json"]).stdout)
    assert {row["best"] for row in report["ranks"]} == {None}


def test_a_leaderboard_is_unpaired(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("model,accuracy,n,year\na,0.8,1000,1\nb,0.6,1000,2\n")
    (report,) = json.loads(run(str(path), "--json"))
    assert report["paired"] is False
    assert [row["model"] for row in report["ranks"]] == ["a", "b"]
    assert run(str(path)).startswith(
        "This comparison is unpaired, because a leaderboard contains only accuracies"
    )
    path.write_text("model,task,accuracy,n\na,t,0.8,10\nb,t,0.7,20\na,u,0.5,10\n")
    assert read_leaderboard(path)["task"].tolist() == ["t", "t", "u"]


@pytest.mark.parametrize(("decimals", "differ"), [(2, False), (4, True)])
def test_a_rounded_leaderboard_allows_all_numbers_of_correct_answers(decimals, differ, tmp_path):
    """10,041 and 9,899 of 14,042 round to the same accuracies and differ less: p is .062, for .0002."""
    path = tmp_path / "board.csv"
    path.write_text(f"model,accuracy,n\nA,{0.72:.{decimals}f},14042\nB,{0.7:.{decimals}f},14042\n")
    (report,) = json.loads(run(str(path), "--json"))
    (pair,) = report["pairs"]
    assert (pair["low"] > 0) == (pair["p"] < 0.05) == (report["ranks"][1]["rank_low"] == 2) == differ
    assert differ or pair["p"] == pytest.approx(0.0619, abs=1e-4)
    notes = CliRunner().invoke(app, ["compare", str(path)]).stderr
    assert (
        notes == ""
        if differ
        else notes.startswith("note: board: 1 pair of models would differ if accuracies")
    )


def test_a_leaderboard_between_two_numbers_of_correct_answers(tmp_path):
    """12 or 13 of 25 are 0.50; with both, the models differ."""
    path = tmp_path / "board.csv"
    path.write_text("model,accuracy,n\nA,0.50,25\nB,0.20,25\n")
    completed = CliRunner().invoke(app, ["compare", str(path), "--json"])
    (report,) = json.loads(completed.stdout)
    (pair,) = report["pairs"]
    assert pair["low"] > 0.01
    assert pair["p"] == pytest.approx(0.0382, abs=1e-4)
    assert report["ranks"][1]["rank_low"] == 2
    assert completed.stderr == (
        f"note: {path}, row 2: no number of correct answers out of 25 gives 'A' an accuracy of 0.50; 12 or "
        "13 correct answers assumed\n"
    )


def test_the_limits_of_a_leaderboard(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text(f"model,accuracy,n\na,1,1\nb,0,{MOST_EXAMPLES}\n")
    table = read_leaderboard(path)
    assert [*table.columns] == ["model", "task", "accuracy", "n", "lowest", "highest", "note"]
    assert table.to_numpy().tolist() == [
        ["a", "board", 1.0, 1, 1, 1, ""],
        ["b", "board", 0.0, MOST_EXAMPLES, 0, 0, ""],
    ]
    assert table.index.tolist() == [0, 1]
    for row, message in (
        ("a,1.5,10", "row 2: accuracy is '1.5' (per cent?); expected a number from 0 to 1"),
        ("a,0.5,0", f"row 2: n is '0'; expected a whole number from 1 to {MOST_EXAMPLES:,}"),
        (
            f"a,0.5,{MOST_EXAMPLES + 1}",
            f"row 2: n is '{MOST_EXAMPLES + 1}'; expected a whole number from 1 to",
        ),
        ("b,0.5,10\na,0.5,10\na,0.5,10", "row 4: 'a' occurs twice for the task 'board'; expected one row"),
    ):
        path.write_text(f"model,accuracy,n\n{row}\n")
        with pytest.raises(InputError) as error:
            read_leaderboard(path)
        assert str(error.value).startswith(f"{path}, {message}")


def test_a_figures_numbers_do_not_take_the_place_of_an_input(tmp_path):
    paths = [write(tmp_path, "a.csv", "a", ONE), write(tmp_path, "b.csv", "b", OTHER)]
    before = Path(paths[0]).read_text()
    completed = CliRunner().invoke(app, ["compare", *map(str, paths), "--figure", str(tmp_path / "a.png")])
    assert "which exists with other columns" in str(completed.exception)
    assert Path(paths[0]).read_text() == before
    for _ in range(2):  # its own it writes again
        assert run(*paths, "--figure", str(tmp_path / "scores.png"))
    assert (tmp_path / "scores.csv").is_file()


def test_options_that_would_be_ignored_are_told(tmp_path):
    paths = [write(tmp_path, f"{name}.csv", name, ONE if name == "a" else OTHER) for name in "abc"]
    completed = CliRunner().invoke(app, ["compare", *map(str, paths), "--power", "0.5"])
    assert "--power" in str(completed.exception)
    (report,) = json.loads(run(*paths, "--seed-deviation", "0.5", "--json"))
    assert [pair["below_seed"] for pair in report["pairs"]] == [True] * 3


def test_models_that_answer_alike_are_not_said_to_be_equal(tmp_path):
    output = run(write(tmp_path, "a.csv", "a", ONE), write(tmp_path, "b.csv", "b", ONE))
    assert f"Both models have the same score on each of the {len(ONE)} examples." in output
    assert "they differ in at most 7.3% of cases (95% confidence bound)" in output


def table_of(prompts: dict[str, dict[str, int]]) -> pd.DataFrame:
    """Scores of 1 of each model's prompts on so many examples."""
    return pd.DataFrame(
        {"model": model, "prompt": prompt, "example": f"e{number}", "score": float(number % 2)}
        for model, rows in prompts.items()
        for prompt, examples in rows.items()
        for number in range(examples)
    ).assign(task="t", shots=0)


def test_models_are_compared_on_the_prompts_that_both_have():
    table = table_of({"a": {"p0": 9, "p1": 9, "p2": 9}, "b": {"p0": 9, "p1": 9}})
    (responses,) = arrange(table)
    assert responses.prompts == ["p0", "p1"]
    assert responses.notes == ["t, 0-shot: compared on the 2 prompts that all models have (a 3, b 2)"]
    (separate,) = arrange(table_of({"a": {"p0": 9}, "b": {"p1": 9, "p2": 9}}))
    assert len(separate.prompts) == 1
    assert "each model has its own prompts" in separate.notes[0]
    (uneven,) = arrange(table_of({"a": {"p0": 9}, "b": {"p1": 9, "p2": 6}}))
    assert "an example's score is its mean over its prompts" in uneven.notes[0]


def test_prompts_on_other_examples_are_told():
    (responses,) = arrange(table_of({"a": {"p0": 2, "p1": 9}, "b": {"p0": 2, "p1": 9}}))
    assert "prompts are evaluated on different numbers of examples (2 to 9)" in responses.notes[0]


def test_names_of_strangers_are_printed_without_control_characters(tmp_path):
    (tmp_path / "a.csv").write_text(
        "example,correct,model,task\n"
        + "".join(f"{place},{place % 2},a\x1b]0;x\x07,t\n" for place in range(4))
    )
    (tmp_path / "b.csv").write_text(
        "example,correct,model,task\n" + "".join(f"{place},1,b\u202eabc,t\n" for place in range(4))
    )
    (tmp_path / "board.csv").write_text("model,accuracy,n\na\x1b[2J,0.5,100\nb,0.9,100\n")
    for paths in (["a.csv", "b.csv"], ["board.csv"]):
        output = run(*(str(tmp_path / path) for path in paths))
        assert "\\x1b" in output
        assert not {*"\x1b\x07\u202e"} & {*output}


def many_prompts(folder: Path, models: str, tasks: int, prompts: int) -> str:
    """Results of models that are alike, but for the luck that each prompt is for each of them."""
    generator = np.random.default_rng(11)
    lines = ["example,correct,model,task,prompt"]
    for task in range(tasks):
        easy = generator.normal(size=60)
        for model in models:
            for prompt in range(prompts):
                correct = easy + 0.7 * generator.normal() + generator.normal(size=60) > 0
                lines += [
                    f"{n},{int(is_right)},{model},t{task},{prompt}" for n, is_right in enumerate(correct)
                ]
    (folder / "many.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "many.csv")


def test_a_mean_over_tasks_holds_for_prompts_like_these(tmp_path):
    path = many_prompts(tmp_path, "ab", tasks=3, prompts=8)
    *values, mean = json.loads(run(path, "--json"))
    (pair,) = mean["pairs"]
    assert mean["sentence"].startswith("For prompts and examples like these: The difference is not")
    # tasks are independent, and each has its own inference
    widths = [value["headline"]["high"] - value["headline"]["low"] for value in values]
    assert pair["high"] - pair["low"] == pytest.approx(np.linalg.norm(widths) / 3, rel=0.2)


@pytest.mark.parametrize(
    ("prompts", "about"), [(3, "For these 3 prompts only:"), (8, "For prompts and examples")]
)
def test_several_models_under_several_prompts_say_what_holds(tmp_path, prompts, about):
    path = many_prompts(tmp_path, "abc", tasks=2, prompts=prompts)
    assert run(path).count(about) == 3  # two tasks and their mean


@pytest.mark.thorough
def test_models_that_differ_only_in_the_luck_of_their_own_prompts_are_seldom_told_apart(tmp_path):
    """Taken as means over prompts, they were told apart in 35 to 40 % of studies."""
    wrong = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        accuracy = np.clip(0.6 + generator.normal(size=(2, 5)) * 0.1, 0, 1)
        scores = generator.random((2, 5, 100)) < accuracy[:, :, None]
        model, prompt, example = (axis.ravel() for axis in np.indices(scores.shape))
        table = pd.DataFrame(
            {"model": model, "prompt": [f"{m}-{p}" for m, p in zip(model, prompt, strict=True)]}
        )
        table = table.assign(example=example, score=scores.ravel(), task="t", shots=0).astype({"model": str})
        (responses,) = arrange(table)
        assert generalizes(responses) == "for prompts and examples like these"
        wrong += headline_of(responses).p <= 0.05
    assert wrong <= 8


def test_a_power_below_the_significance_level_is_an_error(tmp_path):
    paths = [write(tmp_path, "a.csv", "a", ONE), write(tmp_path, "b.csv", "b", OTHER)]
    completed = CliRunner().invoke(app, ["compare", *paths, "--power", "0.04"])
    assert "expected more than the significance level, 0.05" in str(completed.exception)


def test_leaderboards_of_several_tasks_are_adjusted_for_all(tmp_path):
    rows = [
        f"{model},{accuracy},100,t{task}" for task in range(4) for model, accuracy in (("a", 0.6), ("b", 0.5))
    ]
    (tmp_path / "board.csv").write_text("\n".join(["model,accuracy,n,task", *rows]) + "\n")
    report = json.loads(CliRunner().invoke(app, ["compare", str(tmp_path / "board.csv"), "--json"]).stdout)
    assert [task["pairs"][0]["holm"] for task in report] == [
        pytest.approx(min(1, 4 * task["pairs"][0]["p"])) for task in report
    ]


def test_all_tables_have_the_same_sign_if_prompts_have_different_examples(tmp_path):
    generator = np.random.default_rng(0)
    rows = ["model,prompt,example,correct"]
    for model, accuracies in (("a", [0.9] + [0.3] * 4), ("b", [0.6] + [0.8] * 4)):
        for prompt, accuracy in enumerate(accuracies):
            examples = 100 if prompt == 0 else 10
            rows += [f"{model},p{prompt},{e},{int(generator.random() < accuracy)}" for e in range(examples)]
    (tmp_path / "sign.csv").write_text("\n".join(rows) + "\n")
    (report,) = json.loads(run(str(tmp_path / "sign.csv"), "--json"))
    comparison, (mean, *_) = report["comparison"][0], report["over_prompts"]
    assert [comparison[name] for name in ("difference", "low", "high", "p")] == [
        mean[name] for name in ("difference", "low", "high", "p")
    ]
    assert comparison["difference"] == pytest.approx(comparison["first"] - comparison["second"])
    assert report["headline"]["difference"] > 0


def test_what_is_not_known_is_null_in_json(tmp_path):
    lines = [
        f"{model},{model}{prompt},{e},{int(model == 'a')}"
        for model in "ab"
        for prompt in (1, 2)
        for e in (1, 2, 3)
    ]
    (tmp_path / "x.csv").write_text("\n".join(["model,prompt,example,correct", *lines]) + "\n")

    def no_number(name: str) -> None:
        raise AssertionError(name)

    (report,) = json.loads(run(str(tmp_path / "x.csv"), "--json"), parse_constant=no_number)
    assert report["headline"]["low"] is None
    # of a difference that never varies, by exchanging the models
    assert report["headline"]["p"] == report["pairs"][0]["p"] == pytest.approx(2 / 2**3)


def test_an_interval_of_accuracies_ends_at_100_points(tmp_path):
    generator = np.random.default_rng(1)
    rows = [f"a,p{p},{e},{int(generator.random() < 0.9 - 0.5 * p)}" for p in (0, 1) for e in range(20)]
    rows += [f"b,q,{e},{int(generator.random() < 0.5)}" for e in range(20)]
    (tmp_path / "x.csv").write_text("\n".join(["model,prompt,example,correct", *rows]) + "\n")
    (report,) = json.loads(run(str(tmp_path / "x.csv"), "--json"))
    assert (report["headline"]["low"], report["headline"]["high"]) == (-1, 1)


def test_two_files_without_a_task_are_two_models_on_the_same_task(tmp_path):
    paths = []
    for name, answers in (("a", [1, 0, 1, 1, 0, 1]), ("b", [1, 1, 1, 1, 0, 1])):
        paths.append(str(tmp_path / f"{name}.csv"))
        lines = [f"{place},{answer}" for place, answer in enumerate(answers)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["example,correct", *lines]) + "\n")
    (report,) = json.loads(run(*paths, "--json"))
    assert (report["models"], report["task"]) == (["model (b.csv)", "model (a.csv)"], "task")
    assert report["comparison"][0]["difference"] == pytest.approx(1 / 6)


def test_intervals_of_single_scores_stay_between_0_and_1():
    def table(model, scores):
        rows = {"model": model, "task": "t", "shots": 0, "prompt": 0, "score": scores}
        return pd.DataFrame(rows | {"example": [*map(str, range(len(scores)))]})

    def intervals(*scores, clusters=None):
        parts = [table(model, values) for model, values in zip("ab", scores, strict=True)]
        codes = None if clusters is None else {"t": pd.Series(clusters, index=[*map(str, range(20))])}
        numbers = score_numbers([*arrange(pd.concat(parts), codes)], 0.95).set_index("model")
        return numbers.loc[["a", "b"], ["low", "high"]].to_numpy()

    nearly, half = np.r_[0.0, np.ones(19)], np.tile([0.0, 1.0], 10)
    for scores in ((np.ones(20), nearly), (np.zeros(20), half)):
        wilson = [stats.binomtest(int(values.sum()), 20).proportion_ci(0.95, "wilson") for values in scores]
        # the standard error is that of a sample, so its number of examples is one less
        assert intervals(*scores) == pytest.approx(np.array([[ci.low, ci.high] for ci in wilson]), abs=0.012)
    # clusters of equal answers count once
    pairs_of_equals = np.repeat([0.0, 1.0] * 5, 2)
    (wide_low, wide_high), _ = intervals(pairs_of_equals, nearly, clusters=np.repeat(np.arange(10), 2))
    square, count = stats.t(9).isf(0.025) ** 2, 9  # Student's quantile in Wilson's interval
    reach = np.sqrt(square * (0.25 / count + square / (4 * count**2))) / (1 + square / count)
    assert (wide_low, wide_high) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-9)
    # equal scores in between do not vary, so nothing shows how far their mean is from the true one
    assert np.isnan(intervals(np.full(20, 0.5), nearly)[0]).all()
    # other scores have Student's interval
    lengths = np.arange(20.0)
    low, high = intervals(lengths, nearly)[0]
    assert (low, high) == pytest.approx(
        stats.t.interval(0.95, 19, lengths.mean(), lengths.std(ddof=1) / np.sqrt(20))
    )


def test_answers_and_prompts_that_are_left_out_are_told():
    complete = table_of({model: {f"p{number}": 9 for number in range(3)} for model in "ab"})
    (responses,) = arrange(complete)
    assert responses.notes == []
    # two cells that b lacks, of different prompts: no prompt has fewer examples than another
    lacks = (complete["model"] == "b") & (
        (complete["prompt"] + complete["example"]).isin(["p0e0", "p1e1", "p2e2"])
    )
    assert lacks.sum() == 3
    (responses,) = arrange(complete[~lacks])
    assert responses.notes == [
        "t, 0-shot: 3 answers left out, because a model or seed has none to the same example with the same "
        "prompt"
    ]
    # a prompt on other examples has none left
    moved = (complete["model"] == "b") & (complete["prompt"] == "p1")
    moved_prompt = complete.assign(example=complete["example"].where(~moved, "b" + complete["example"]))
    (responses,) = arrange(moved_prompt)
    assert responses.prompts == ["p0", "p2"]
    assert responses.notes[0] == (
        "t, 0-shot: prompts without an example that all models and seeds have are left out: p1"
    )


def test_one_prompt_each_of_its_own_is_told_with_the_scope():
    (responses,) = arrange(table_of({"a": {"x": 9}, "b": {"y": 9}}))
    assert responses.notes == ["t, 0-shot: models have different prompts (a 1, b 1)"]
    assert generalizes(responses) == "for these prompts only"
    (partly,) = arrange(table_of({"a": {"x": 9, "z": 9}, "b": {"x": 9, "z": 9}, "c": {"q": 9, "r": 9}}))
    assert partly.notes == [
        "t, 0-shot: no prompt is common to all models, so they are compared as if each had its own prompts "
        "(a 2, b 2, c 2)"
    ]


def test_tasks_of_one_model_are_told(tmp_path):
    tasks = {"a": "xyw", "b": "xw", "c": "z"}
    lines = [
        f"{model},{task},{e},{e % 2}" for model, names in tasks.items() for task in names for e in range(9)
    ]
    (tmp_path / "x.csv").write_text("\n".join(["model,task,example,correct", *lines]) + "\n")
    completed = CliRunner().invoke(app, ["compare", str(tmp_path / "x.csv"), "--json"])
    note = "left out, because only one model has results: y (0-shot, a), z (0-shot, c)"
    assert f"note: {note}\n" in completed.stderr
    assert all(note in report["notes"] for report in json.loads(completed.stdout))
    (tmp_path / "y.csv").write_text("task,model,accuracy,n\nx,a,0.8,10\nx,b,0.7,10\nz,c,0.7,10\n")
    completed = CliRunner().invoke(app, ["compare", str(tmp_path / "y.csv"), "--json"])
    note = "left out, because only one model has results: z (c)"
    assert f"note: {note}\n" in completed.stderr
    assert [report["notes"] for report in json.loads(completed.stdout)] == [[note]]


def test_the_deviation_over_seeds_is_shown_for_several_models(tmp_path):
    lines = [f"{m},{e},{int(e < n)}" for m, n in {"a": 30, "b": 29, "c": 10}.items() for e in range(40)]
    (tmp_path / "x.csv").write_text("\n".join(["model,example,correct", *lines]) + "\n")
    output = " ".join(run(str(tmp_path / "x.csv"), "--seed-deviation", "0.03").split())
    assert "Of 3 pairs of models, 1 have a difference below --seed-deviation" in output
