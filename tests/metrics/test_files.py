"""Predictions and scores in CSV files: each form of answers, and what is said of rows that are wrong."""

from pathlib import Path

import numpy as np
import pytest

from abovechance.chance import null_distribution
from abovechance.core.errors import InputError
from abovechance.metrics import metric
from abovechance.metrics.files import PredictionFile, ScoreFile, has_scores, read_predictions, read_scores


def written(folder: Path, text: str) -> Path:
    path = folder / "answers.csv"
    path.write_text(text)
    return path


def predictions(folder: Path, name: str, text: str, *columns: str) -> PredictionFile:
    return read_predictions(written(folder, text), metric(name), columns)


def scores(folder: Path, text: str, *columns: str) -> ScoreFile:
    return read_scores(written(folder, text), columns)


def test_a_whole_file_of_labels(tmp_path):
    text = (
        "candidate,example,gold,prediction,choices,stratum,cluster\n"
        "p, e1 ,a,b,a|b,x,s\np,e2,b,,b | a,y,t\nq,e1,a,a,a|b,x,s\nq,e2,b,b,b | a,y,t\n"
    )
    result = predictions(tmp_path, "accuracy", text)
    assert result.names == ["p", "q"]
    assert result.examples == ["e1", "e2"]
    assert result.predictions == [["b", ""], ["a", "b"]]
    assert result.gold == ["a", "b"]
    assert result.choices == [["a", "b"], ["b", "a"]]
    assert result.strata == ["x", "y"]
    assert result.clusters.tolist() == [0, 1]


def test_columns_that_a_file_may_lack(tmp_path):
    result = predictions(tmp_path, "accuracy", "example,gold,prediction\ne,a,b\n")
    assert result.names == ["1"]
    assert (result.strata, result.clusters, result.choices) == (None, None, None)
    assert predictions(tmp_path, "accuracy", "example,gold,prediction,m,n\ne,a,b,x,y\n", "n", "m").names == [
        "y / x"
    ]


@pytest.mark.parametrize(
    ("name", "prediction", "gold", "as_read"),
    [
        ("accuracy", "7", "[7]", ("7", "[7]")),
        ("mae", "7.5", "8", (7.5, 8.0)),
        ("jaccard", "b|a| ", '"[""a"", ""c""]"', (frozenset("ab"), frozenset("ac"))),
        ("jaccard", '"[""a"", 1]"', "[a", (frozenset({"a", "1"}), frozenset({"[a"}))),
        ("jaccard", "7", "7|8", (frozenset("7"), frozenset("78"))),
        ("mrr", "b|a|c", "a|c", (tuple("bac"), frozenset("ac"))),
        ("exact_match", "a", '"[""a"", ""b""]"', ("a", ("a", "b"))),
        ("exact_match", "a", "7", ("a", "7")),
        ("exact_match", "[7]", "[7]", ("[7]", "[7]")),
        ("exact_match", "4", '"[""4"", 4, null]"', ("4", ("4", "4", "null"))),
        ("exact_match", "[true]", "[true]", ("[true]", "[true]")),
        ("exact_match", "a", "[]", ("a", "[]")),
        ("exact_match", "a", "[x", ("a", "[x")),
        ("pass@1", "a", '"[""a"", ""b""]"', (("a",), ("a", "b", '["a", "b"]'))),
        ("pass@1", "[7]", "[7]", (("[7]",), "[7]")),
    ],
)
def test_forms_of_answers(name, prediction, gold, as_read, tmp_path):
    result = predictions(tmp_path, name, f"example,gold,prediction\ne,{gold},{prediction}\n")
    assert (result.predictions[0][0], result.gold[0]) == as_read


def test_attempts_in_rows(tmp_path):
    text = "example,attempt,gold,prediction\ne,1,a,b\nf,1,b,b\ne,2,a,a\nf,2,b,\n"
    assert predictions(tmp_path, "pass@2", text).predictions == [[("b", "a"), ("b", "")]]


@pytest.mark.parametrize("metric_name", ["mae", "jaccard", "exact_match", "pass@1"])
def test_choices_are_of_labels(metric_name, tmp_path):
    with pytest.raises(InputError) as error:
        predictions(tmp_path, metric_name, "example,gold,prediction,choices\ne,1,1,1|2\n")
    assert str(error.value).endswith(
        f"answers.csv: the column choices is for metrics of labels, not for {metric_name}"
    )


LONG = "x" * 70


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mae", "example,gold,prediction\ne,1,x", "row 2: prediction is 'x'; expected a number"),
        ("mae", "example,gold,prediction\ne,1,1\nf,,1", "row 3: gold is empty; expected a name"),
        ("mae", f"example,gold,prediction\ne,{LONG},1", f"row 2: gold is '{LONG[:60]}'; expected a number"),
        (
            *("mrr", f"example,gold,prediction\ne,1,2\nf,1,{'a|' * 40}"),
            f"row 3: prediction is '{'a|' * 30}', with an item twice; expected different items",
        ),
        (
            *("accuracy", "example,gold,prediction,choices\ne,a,a,a\nf,a,a,b|c"),
            "row 3: gold is 'a', which is not one of the choices 'b | c'; expected texts with | between them",
        ),
        (
            *("accuracy", "candidate,example,gold,prediction\np,e,a,a\nq,e,b,a"),
            "row 3: gold is 'b', but an earlier row of example 'e' has 'a'; expected the same",
        ),
        (
            *("accuracy", "example,gold,prediction\ne,a,a\ne,a,a"),
            "row 3: an earlier row has the same candidate and example; expected one row for each",
        ),
        (
            *("pass@1", "example,gold,prediction,attempt\ne,a,a,1\ne,a,a,2\ne,a,b,1"),
            "row 4: an earlier row has the same candidate and example and attempt; expected one row for each",
        ),
    ],
)
def test_rows_that_are_wrong(name, text, message, tmp_path):
    with pytest.raises(InputError) as error:
        predictions(tmp_path, name, text + "\n")
    assert str(error.value) == f"{tmp_path}/answers.csv, {message}"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            *("accuracy", "example,gold\ne,a"),
            "lacks the column 'prediction'; expected the columns example, gold, prediction, and optionally "
            "candidate, attempt, choices, stratum, cluster",
        ),
        (
            *("accuracy", "example,gold,prediction,attempt\ne,a,a,1"),
            "has a column attempt, but accuracy needs one prediction for each example; use pass@k, or name "
            "the column with --candidates",
        ),
        (
            *("accuracy", "candidate,example,gold,prediction\np,e,a,a\np,f,a,a\nq,f,a,a"),
            "candidate 'q' has no row for example 'e'; expected a row for each example (with an empty "
            "prediction or a score of 0, if there was no answer)",
        ),
        (
            *("accuracy", "example,gold,prediction,stratums\ne,a,a,1"),
            "column 'stratums' is unknown; did you mean 'stratum'?; use --candidates for columns that name a "
            "candidate, and leave out others",
        ),
    ],
)
def test_files_that_are_wrong(name, text, message, tmp_path):
    with pytest.raises(InputError) as error:
        predictions(tmp_path, name, text + "\n")
    assert str(error.value) == f"{tmp_path}/answers.csv: {message}"


def test_a_whole_file_of_scores(tmp_path):
    text = "candidate,example,score,cluster\np,e,TRUE,s\np,f,0.25,t\nq,e,false,s\nq,f,1,t\np,g,0,s\nq,g,1,s\n"
    result = scores(tmp_path, text)
    assert result.attempts == {"p": [[1.0], [0.25], [0.0]], "q": [[0.0], [1.0], [1.0]]}
    assert result.examples == ["e", "f", "g"]
    assert result.clusters.tolist() == [0, 1, 0]
    assert has_scores(tmp_path / "answers.csv")


def test_scores_of_a_nameless_candidate_in_several_attempts(tmp_path):
    result = scores(tmp_path, "example,attempt,score\ne,1,1\nf,1,0\ne,2,0.5\nf,2,1\n")
    assert result.attempts == {"answers": [[1.0, 0.5], [0.0, 1.0]]}
    assert result.clusters is None
    path = written(tmp_path, "example,score\nf,1\ne,0\n")
    assert read_scores(path, examples=["e", "f"]).attempts == {"answers": [[0.0], [1.0]]}
    assert np.array_equal(read_scores(path, examples=["e", "f"]).examples, ["e", "f"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("example,score\ne,1\nf,1.5", ", row 3: score is '1.5' (per cent?); expected a number from 0 to 1"),
        ("example,score\ne,-0.1", ", row 2: score is '-0.1'; expected a number from 0 to 1"),
        ("example,score\ne,yes", ", row 2: score is 'yes'; expected a number from 0 to 1"),
        ("example,score\ne,", ", row 2: score is ''; expected a number from 0 to 1"),
        ("example,score\ne,1\n ,1", ", row 3: example is empty; expected a name"),
        (
            "candidate,example,score,cluster\np,e,1,s\nq,e,1,t",
            ", row 3: cluster is 't', but an earlier row of example 'e' has 's'; expected the same",
        ),
        (
            "candidate,example,score\np,e,1\nq,f,1",
            ": candidate 'p' has no row for example 'f'; expected a row for each example (with an empty "
            "prediction or a score of 0, if there was no answer)",
        ),
        (
            "example,points\ne,1",
            ": column 'points' is unknown; known are: attempt, candidate, cluster, example, score; use "
            "--candidates for columns that name a candidate, and leave out others",
        ),
        (
            "example,scores\ne,1",
            ": column 'scores' is unknown; did you mean 'score'?; use --candidates for "
            "columns that name a candidate, and leave out others",
        ),
        (
            "example,candidate\ne,1",
            ": lacks the column 'score'; expected the columns example, score, and optionally candidate, "
            "attempt, cluster",
        ),
    ],
)
def test_scores_that_are_wrong(text, message, tmp_path):
    with pytest.raises(InputError) as error:
        scores(tmp_path, text + "\n")
    assert str(error.value) == f"{tmp_path}/answers.csv{message}"


def test_scores_of_other_examples(tmp_path):
    path = written(tmp_path, "example,score\ne,1\ng,0\n")
    with pytest.raises(InputError) as error:
        read_scores(path, examples=["e", "f"])
    assert str(error.value) == f"{path}: example 'g' is not in the first file; expected the same examples"
    with pytest.raises(InputError) as error:
        read_scores(path, ["agent"])
    assert str(error.value) == f"{path}: lacks the column 'agent', which --candidates names"


def test_a_column_of_candidates_can_have_any_name(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("example,gold,prediction,self\ne,1,1,a\ne,1,0,b\n")
    assert read_predictions(path, metric("accuracy"), ["self"]).names == ["a", "b"]


def test_the_order_of_rows_does_not_decide_which_members_of_clusters_meet(tmp_path):
    predictions, gold = "babbabbaba", "babbaababa"
    rows = [f"e{n},{gold[n]},{predictions[n]},c{n // 2}" for n in range(10)]
    results = []
    for number, order in enumerate((range(10), [1, 0, 3, 2, 5, 4, 7, 6, 8, 9], reversed(range(10)))):
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(["example,gold,prediction,cluster", *(rows[n] for n in order)]) + "\n")
        read = read_predictions(path, metric("accuracy"))
        results.append(null_distribution("accuracy", read.predictions, read.gold, clusters=read.clusters).p)
    assert results == pytest.approx([0.05] * 3)
