"""Candidates in files of GEPA, DSPy and in CSV, and the command that judges them."""

import json
from functools import reduce
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from abovechance.best.candidates import Candidates
from abovechance.best.files import LOOKS_LIKE, ReportedScores, from_rows, is_candidates_file, read_candidates
from abovechance.cli import app
from abovechance.core.errors import InputError

GEPA = {
    "candidates": [{"prompt": "a"}, {"prompt": "b"}, {"prompt": "c"}],
    "parents": [[None], [0], [1]],
    "val_aggregate_scores": [0.25, 0.5, 1.0],
    "val_subscores": [
        {"0": 0.0, "1": 1.0, "2": 0.0, "3": 0.0},
        {"0": 0.5, "1": 0.5, "2": 0.5, "3": 0.5},
        {"3": 1.0, "1": 1.0},
    ],
    "per_val_instance_best_candidates": {"0": [1], "1": [0, 2], "2": [1], "3": [2]},
    "best_idx": 2,
}
TRIALS = {
    "1": {"full_eval_score": 40.0, "total_eval_calls_so_far": 50},
    "2": {"mb_score": 60.0, "total_eval_calls_so_far": 75, "full_eval": False},
    "10": {"full_eval_score": 62.0, "total_eval_calls_so_far": 150},
    "3": {"mb_score": 48.0, "total_eval_calls_so_far": 100},
}
PROGRAMS = [
    {"score": 75.0, "subscores": [1, 1, True, 0], "seed": -2, "program": "b"},
    {"score": 25.0, "subscores": [0.0, 1.0, 0.0, 0.0], "seed": -3, "program": "a"},
]


def written(folder: Path, content: Any, name: str = "r.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def run(*arguments: str) -> Any:
    outcome = CliRunner().invoke(app, ["best", *arguments, "--json"])
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def test_results_of_gepa(tmp_path: Path) -> None:
    candidates = read_candidates(written(tmp_path, GEPA))
    assert isinstance(candidates, Candidates)
    assert candidates.names == ("0", "1", "2")
    assert candidates.examples.tolist() == [4, 4, 2]
    assert candidates.scores[2] == pytest.approx([np.nan, 1, np.nan, 1], nan_ok=True)


def test_older_results_of_gepa_have_lists(tmp_path: Path) -> None:
    old = {"val_subscores": [[0.0, 1.0], [1.0, 1.0]], "val_aggregate_scores": [0.5, 1.0]}
    candidates = read_candidates(written(tmp_path, old))
    assert isinstance(candidates, Candidates)
    assert candidates.means == pytest.approx([0.5, 1.0])


@pytest.mark.parametrize("content", [TRIALS, {"trial_logs": TRIALS}])
def test_trial_logs_of_dspy(content: Any, tmp_path: Path) -> None:
    trials = read_candidates(written(tmp_path, content))
    assert isinstance(trials, ReportedScores)
    assert trials.names == ["trial 1", "trial 2", "trial 3", "trial 10"]
    assert trials.scores == pytest.approx([0.4, 0.6, 0.48, 0.62])
    assert trials.examples.tolist() == [50, 25, 25, 50]
    report = run(str(tmp_path / "r.json"))
    assert (report["chosen"], report["observed"], report["examples"]) == ("trial 10", 0.62, 50)
    assert "correlation of 0" in report["assumption"]
    assert report["low"] < report["debiased"] < report["observed"]
    correlated = run(str(tmp_path / "r.json"), "--correlation", "0.6")
    assert correlated["expected_by_luck"] < report["expected_by_luck"]


@pytest.mark.parametrize("content", [PROGRAMS, {"candidate_programs": PROGRAMS}])
def test_programs_of_a_random_search(content: Any, tmp_path: Path) -> None:
    candidates = read_candidates(written(tmp_path, content))
    assert isinstance(candidates, Candidates)
    assert candidates.names == ("-3", "-2")
    assert candidates.means.tolist() == [0.25, 0.75]


CSV = "candidate,example,score\nseed,a,0\nseed,b,0.5\nseed,c,1\nseed,d,0\nbetter,a,1\nbetter,b,1\n"


def test_a_csv_with_each_score(tmp_path: Path) -> None:
    path = written(tmp_path, CSV + "better,c,1\nbetter,d,1\n", "c.csv")
    report = run(str(path))
    assert {"observed", "expected_by_luck", "debiased", "low", "high", "p", "candidates"} <= {*report}
    assert (report["chosen"], report["observed"], report["start"]) == ("better", 1.0, "seed")
    assert report["candidates"][0]["difference"] == pytest.approx(0.625)
    # in three of four examples the better answer can be either's: 2 of 8 exchanges are as extreme
    assert report["p"] == pytest.approx(2 / 8)
    assert report["p_start"] == pytest.approx(1 / 8)
    assert run(str(path), "--start", "better")["start"] == "better"


def test_a_csv_with_clusters_has_fewer_exchanges(tmp_path: Path) -> None:
    rows = [f"{name},{n},{n // 4},{score}" for name, score in (("a", 0), ("b", 1)) for n in range(20)]
    path = written(tmp_path, "candidate,example,cluster,score\n" + "\n".join(rows), "c.csv")
    assert run(str(path))["p"] == pytest.approx(2 / 2**5)


def test_a_csv_with_scores_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "candidate,score,examples\na,0.4,20\nb,0.7,20\nc,0.35,20\n", "s.csv")
    report = run(str(path))
    assert (report["chosen"], report.get("start")) == ("b", None)


def test_other_csv_files_are_those_of_the_importers(tmp_path: Path) -> None:
    assert not is_candidates_file(written(tmp_path, "example,correct,prompt\n1,1,a\n", "x.csv"))
    rows = [f"{n},{(n + p) % 2},{p}" for p in (0, 1) for n in range(10)]
    path = written(tmp_path, "example,correct,prompt\n" + "\n".join(rows), "x.csv")
    (report,) = run(str(path))
    assert (report["observed"], report["expected_by_luck"]) == (0.5, pytest.approx(0.623, abs=0.001))
    assert "start" not in report


def test_the_prompts_of_a_study_are_candidates() -> None:
    reports = run("--example")
    assert len(reports) == 2
    assert {"model", "task", "shots", "observed"} <= {*reports[0]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**GEPA, "val_aggregate_scores": [0.3, 0.5, 1.0]}, "candidate 0 has a mean score of 0.25"),
        ({"val_subscores": [{"a": 3.0}, {"a": 1.0}]}, "val_subscores 0, example a: score is 3.0"),
        ({"val_subscores": [{"a": None}, {"a": 1.0}]}, "score is None"),
        ({"val_subscores": [{"a": 1.0}]}, "at least two candidates"),
        ({"val_subscores": [{"a": 1.0}, {}]}, "candidate '1' has no score"),
        ({"val_subscores": []}, "at least two candidates"),
        ({"val_subscores": 3}, "is not as GEPA"),
        ({"trial_logs": {"1": {"full_eval_score": 40.0}}}, "has 0 programs with a score"),
        ({"trial_logs": {"1": TRIALS["1"], "2": TRIALS["1"]}}, "does not increase at trial 2"),
        ([{"score": 3.0}, {"score": 4.0}], "have no `subscores`"),
        ([{"score": 3.0, "subscores": [1]}, {"score": 4.0, "subscores": [1, 0]}], "expected equal numbers"),
        ([{"score": 50, "subscores": []}, {"score": 100, "subscores": []}], "expected equal numbers above 0"),
        (
            {"val_subscores": [{"a": 1.0}, {"a": 0.5}], "val_aggregate_scores": ["x"]},
            "val_aggregate_scores 0: score is 'x'",
        ),
        ({"other": 1}, "is not known"),
    ],
)
def test_wrong_json_is_refused(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"r\.json.*" + message):
        read_candidates(written(tmp_path, content))


def trial(score: float, calls: int, text: str, instruction: int | None = None, full: bool = True) -> Any:
    """Return a trial as MIPROv2 (DSPy 3.4.1) logs it."""
    kind = "full_eval" if full else "mb"
    log = {f"{kind}_score": score, "total_eval_calls_so_far": calls, f"{kind}_program": text}
    return log if instruction is None else log | {"0_predictor_instruction": instruction}


def test_trials_of_the_same_program_are_one_candidate(tmp_path: Path) -> None:
    content = {
        "1": trial(47.5, 40, "default"),
        "2": trial(53.33, 55, "A", 1, full=False),
        "3": trial(73.33, 70, "A", 1, full=False),
        "4": trial(46.67, 85, "B", 2, full=False),
        "5": trial(62.5, 125, "A"),  # the full evaluation of the program of trials 2 and 3
        "6": trial(53.33, 140, "A", 1, full=False),
    }
    programs = read_candidates(written(tmp_path, content))
    assert isinstance(programs, ReportedScores)
    assert programs.names == ["trial 1", "trial 2", "trial 4"]
    assert programs.scores == pytest.approx([0.475, 0.625, 0.4667])
    assert programs.examples.tolist() == [40, 40, 15]
    # instruction 0 is that of the program which the search starts with
    of_start = {"1": trial(50.0, 50, "P"), "2": trial(52.0, 100, "P", 0), "3": trial(70.0, 150, "P", 1)}
    programs = read_candidates(written(tmp_path, of_start))
    assert isinstance(programs, ReportedScores)
    assert programs.names == ["trial 1", "trial 1 (2)", "trial 3"]
    of_start["2"] = trial(50.0, 100, "P", 0)
    programs = read_candidates(written(tmp_path, of_start))
    assert isinstance(programs, ReportedScores)
    assert programs.names == ["trial 1", "trial 3"]
    repeated = {str(place): trial(60.0, 40 * place, "A", 1) for place in (1, 2)}
    repeated |= {"3": trial(55.0, 120, "A", 1), "4": trial(50.0, 160, "B", 2)}
    programs = read_candidates(written(tmp_path, repeated))
    assert isinstance(programs, ReportedScores)
    assert programs.names == ["trial 1", "trial 1 (2)", "trial 4"]  # another score is another try


def test_rounded_scores_are_whole_numbers_of_correct_answers(tmp_path: Path) -> None:
    rounded = "candidate,score,examples\na,0.5667,30\nb,0.4333,30\nc,0.4,30\nd,0.4667,30\n"
    report = run(str(written(tmp_path, rounded, "c.csv")))
    ways, ways_below = ([comb(30, x) for x in range(limit + 1)] for limit in (30, 16))
    below, total = (
        [*reduce(np.convolve, [np.array(row, dtype=object)] * 4)][56] for row in (ways_below, ways)
    )
    assert report["p"] == pytest.approx(1 - below / total, abs=0.015)


def test_nearly_all_examples_are_enough_to_be_chosen(tmp_path: Path) -> None:
    scores = "candidate,score,examples\na,0.9,990\nb,0.5,1000\nc,0.6,300\n"
    report = run(str(written(tmp_path, scores, "c.csv")))
    assert (report["chosen"], report["observed"], report["examples"]) == ("a", 0.9, 990)


def test_candidates_without_common_examples_are_refused(tmp_path: Path) -> None:
    rows = "candidate,example,score\na,1,1\na,2,0\nb,3,1\nb,4,1\n"
    outcome = CliRunner().invoke(app, ["best", str(written(tmp_path, rows, "c.csv"))])
    assert "no two candidates are evaluated on the same example" in str(outcome.exception)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            [{"score": 75.0, "subscores": [1, 1, 0, 1]}, {"score": 26.0, "subscores": [1, 0, 0, 0]}],
            ": candidate 1 has a mean of subscores of 25 per cent, but a score of 26; expected the same",
        ),
        (
            [{"score": 75.0, "subscores": [1, 2]}, {"score": 26.0, "subscores": [1, 0]}],
            ", candidate 0: score is 2 (per cent?); expected a number from 0 to 1",
        ),
        (
            [{"score": 75.0}, {"score": 26.0}],
            ": its programs have no `subscores`; expected those of BootstrapFewShotWithRandomSearch, or the "
            "`trial_logs` of MIPROv2",
        ),
        (
            {"trial_logs": {"1": TRIALS["1"], "2": TRIALS["1"]}},
            ": total_eval_calls_so_far does not increase at trial 2; expected the number of evaluations up "
            "to each trial",
        ),
        (
            {"trial_logs": {"1": TRIALS["1"], "2": {"score": 140, "total_eval_calls_so_far": 60}}},
            ", trial 2: score is 1.4 (per cent?); expected a number from 0 to 1",
        ),
        (
            {"trial_logs": {"1": TRIALS["1"]}},
            ": has 1 programs with a score; expected at least two",
        ),
        (
            {
                "1": {"full_eval_score": 0.4, "total_eval_calls_so_far": 50},
                "2": {"full_eval_score": 1.0, "total_eval_calls_so_far": 100},
            },
            ": all scores are at most 1; expected per cent, as DSPy writes them",
        ),
        ([{"subscores": [1]}, {"score": 1}], f": is not known; expected {LOOKS_LIKE}"),
        ([], f": is not known; expected {LOOKS_LIKE}"),
        ([1, 2], f": is not known; expected {LOOKS_LIKE}"),
        ({}, f": is not known; expected {LOOKS_LIKE}"),
        ({"a": {"full_eval_score": 1}, "b": 2}, f": is not known; expected {LOOKS_LIKE}"),
        *(
            (
                {"val_subscores": [{"a": score}, {"a": 1.0}]},
                f", val_subscores 0, example a: score is {text}; expected a number from 0 to 1",
            )
            for score, text in [("x" * 50, "'" + "x" * 39), (100, "100 (per cent?)"), (101, "101")]
        ),
    ],
)
def test_what_is_said_of_wrong_json(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_candidates(written(tmp_path, content))
    assert str(error.value) == f"{tmp_path}/r.json{message}"


def test_programs_with_the_same_seed_have_numbers(tmp_path: Path) -> None:
    programs = [{**program, "seed": 4} for program in PROGRAMS]
    candidates = read_candidates(written(tmp_path, programs))
    assert isinstance(candidates, Candidates)
    assert candidates.names == ("0", "1")
    assert candidates.means.tolist() == [0.75, 0.25]
    without = [{key: value for key, value in row.items() if key != "seed"} for row in PROGRAMS]
    candidates = read_candidates(written(tmp_path, without))
    assert isinstance(candidates, Candidates)
    assert candidates.names == ("0", "1")
    rounded = [{"score": 33.33, "subscores": [1, 0, 0]}, {"score": 66.67, "subscores": [1, 1, 0]}]
    assert isinstance(read_candidates(written(tmp_path, rounded)), Candidates)
    named = [{**program, "seed": name} for program, name in zip(PROGRAMS, ("1", "-1"), strict=True)]
    first = read_candidates(written(tmp_path, named))
    assert isinstance(first, Candidates)
    assert first.names == ("-1", "1")
    unseeded = [{**program, "seed": name} for program, name in zip(PROGRAMS, (0.5, None), strict=True)]
    second = read_candidates(written(tmp_path, unseeded))
    assert isinstance(second, Candidates)
    assert second.names == ("None", "0.5")


def test_trials_of_older_versions(tmp_path: Path) -> None:
    content = {
        "1": {"full_eval_score": 50.0, "total_eval_calls_so_far": 1},
        "2": {"note": "no score"},
        "3": {"score": 60.0, "total_eval_calls_so_far": 11, "program": "A"},
        "4": {"score": 40.0, "total_eval_calls_so_far": 41, "program": "A"},
        "5": {"score": 100.0, "total_eval_calls_so_far": 42, "program": "B"},
    }
    trials = read_candidates(written(tmp_path, content))
    assert isinstance(trials, ReportedScores)
    assert trials.names == ["trial 1", "trial 3", "trial 5"]
    assert trials.scores == pytest.approx([0.5, (10 * 0.6 + 30 * 0.4) / 40, 1.0])
    assert trials.examples.tolist() == [1, 40, 1]
    wrong = {"1": {"full_eval_score": 0.0, "total_eval_calls_so_far": 5}}
    wrong |= {"2": {"full_eval_score": 0.0, "total_eval_calls_so_far": 9}}
    assert isinstance(read_candidates(written(tmp_path, wrong)), ReportedScores)
    few = {"1": {"full_eval_score": 1.5, "total_eval_calls_so_far": 200}}
    few |= {"2": {"full_eval_score": 0.5, "total_eval_calls_so_far": 400}}
    assert isinstance(read_candidates(written(tmp_path, few)), ReportedScores)


def test_a_full_evaluation_is_that_of_the_program_with_the_best_minibatches(tmp_path: Path) -> None:
    content = {
        "1": trial(50.0, 10, "A", 1, full=False),
        "2": trial(90.0, 20, "A", 2, full=False),
        "3": trial(70.0, 30, "A", 3, full=False),
        "4": trial(80.0, 80, "A"),
        "5": trial(60.0, 130, "A"),  # that of trial 3, as the program of trial 2 has one
        "6": trial(65.0, 180, "C"),
    }
    programs = read_candidates(written(tmp_path, content))
    assert isinstance(programs, ReportedScores)
    assert programs.names == ["trial 1", "trial 2", "trial 3", "trial 6"]
    assert programs.scores == pytest.approx([0.5, 0.8, 0.6, 0.65])
    # minibatches of the same text with other demonstrations are others
    numbered = {str(place): trial(50.0 + place, 10 * place, "A", place, full=False) for place in (1, 2)}
    distinct = read_candidates(written(tmp_path, {**numbered, "3": trial(60.0, 70, "A", 1)}))
    assert isinstance(distinct, ReportedScores)
    assert distinct.names == ["trial 1", "trial 2"]
    assert distinct.scores == pytest.approx([0.6, 0.52])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "candidate,score,examples\na,0.5,0\n",
            ", row 2: examples is '0'; expected a whole number, at least 1",
        ),
        (
            "candidate,score,examples\na,0.5,x\n",
            ", row 2: examples is 'x'; expected a whole number, at least 1",
        ),
        (
            "candidate,score,examples,cluster\na,0.5,1,c\n",
            ": column 'cluster' is unknown; known are: candidate, examples, score",
        ),
        ("candidate,example,score\na, ,1\nb,1,1\n", ", row 2: example is empty; expected a name"),
        ("candidate,example,score\n ,1,1\nb,1,1\n", ", row 2: candidate is empty; expected a name"),
        ("candidate,example,score,cluster\na,1,1,c\nb,1,1, \n", ", row 3: cluster is empty; expected a name"),
        (
            "candidate,example,score,cluster\na,0,1,c\na,1,1,c\nb,0,1,c\nb,1,1,d\n",
            ": example '1' has several clusters",
        ),
        (
            "candidate,example,score\na,1,1\na,1 ,0\n",
            ", row 3: an earlier row has the same candidate and example; expected one row for each",
        ),
    ],
)
def test_what_is_said_of_a_wrong_csv(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_candidates(written(tmp_path, text, "c.csv"))
    assert str(error.value) == f"{tmp_path}/c.csv{message}"


def test_a_csv_may_have_gaps_and_scores_of_one_example(tmp_path: Path) -> None:
    table = read_candidates(written(tmp_path, "candidate,score,examples\na,1,1\nb,0,1\n", "c.csv"))
    assert isinstance(table, ReportedScores)
    assert table.examples.tolist() == [1, 1]
    gaps = "candidate,example,score,cluster\na,1,1,c\na,2,0.5,c\nb,1,0,c\nb,3,1,d\n"
    candidates = read_candidates(written(tmp_path, gaps, "c.csv"))
    assert isinstance(candidates, Candidates)
    assert candidates.scores == pytest.approx(np.array([[1, 0.5, np.nan], [0, np.nan, 1]]), nan_ok=True)
    assert candidates.clusters.tolist() == [0, 0, 1]


def test_files_of_candidates_are_known_by_their_content(tmp_path: Path) -> None:
    assert is_candidates_file(written(tmp_path, GEPA))
    assert is_candidates_file(written(tmp_path, CSV, "c.csv"))
    assert not is_candidates_file(written(tmp_path, {"other": 1}))
    assert not is_candidates_file(written(tmp_path, json.dumps(GEPA), "r.txt"))
    assert not is_candidates_file(tmp_path)


@pytest.mark.parametrize(("shots", "chosen"), [(0, "c"), (1, "b"), (2, "b")])  # b and c have 4 of 9
def test_prompts_that_lack_their_own_demonstrations_are_compared_by_scores(shots, chosen):
    rows = [
        {"candidate": name, "example": str(place), "score": score}
        for name, scores in (("a", "-000000110"), ("b", "0-10011010"), ("c", "10-1000011"))
        for place, score in enumerate(scores)
        if score != "-"
    ]
    table = pd.DataFrame(rows).astype({"score": float})
    candidates = from_rows(table, "t", shots)
    assert candidates.comparable == (shots > 0)
    # other examples, although as many
    table.loc[table["candidate"] == "a", "example"] += " of another part"
    assert not from_rows(table, "t", shots).comparable
    assert candidates.names[candidates.chosen] == chosen
