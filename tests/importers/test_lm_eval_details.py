"""Logs of lm-evaluation-harness: what is told of what they lack, and details of how they are read."""

from pathlib import Path

import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, lm_eval, read_runs
from tests.importers.reading import imported
from tests.importers.test_lm_eval import lm_sample, with_choices, write_lm


def message(path, **options):
    with pytest.raises(InputError) as error:
        read_runs([path], Options(**options))
    return str(error.value)


def test_metrics_that_a_log_does_not_have(tmp_path):
    graded = lm_sample(0, [-1.0], "a", filtered_resps=["b"], metrics=["f1", "bleu"], f1=0.5, bleu=0.25)
    path = write_lm(
        tmp_path / "graded", [graded, lm_sample(1, [-1.0], "a", filtered_resps=["b"], metrics=[])]
    )
    assert (
        message(path)
        == f"{path}, row 1: has the metrics f1, bleu; expected one that is 0 or 1 for each example"
    )
    assert message(path, metric="acc") == (
        f"{path}, row 1: has no metric 'acc'; use --metric f1 or bleu, or leave out this file"
    )
    path = write_lm(tmp_path / "none", [lm_sample(0, [-1.0], "a", filtered_resps=["b"], metrics=[])])
    assert message(path, metric="x") == (
        f"{path}, row 1: has no metric 'x'; use --metric NAME, or leave out this file"
    )
    two = [lm_sample(place, [-1.0, -2.0], "0", metrics=["m"], m=1.0) for place in range(2)]
    two[0] |= {"filter": "a"}
    two[1] |= {"filter": "b", "metrics": ["n"], "n": 1.0}
    path = write_lm(tmp_path / "two", two)
    assert message(path, metric="m", filter="b") == (
        f"{path}, row 2: has no metric 'm'; use --metric n, or leave out this file"
    )


def test_targets_that_are_not_clear_are_told_with_the_metrics(tmp_path):
    more = {"metrics": ["m", "n"], "m": 1.0, "n": 1.0}
    unclear = [with_choices(lm_sample(0, [-1.0, -2.0], "1", **more), ["1", "2"])]
    path = write_lm(tmp_path / "unclear", unclear)
    assert message(path).endswith("has the metrics m, n; use --metric m or n")
    del unclear[0]["n"]
    unclear[0]["m"] = 0.5
    path = write_lm(tmp_path / "graded", unclear)
    assert message(path) == (
        f"{path}, row 1: target '1' may be a text or a number of a choice, and no 'acc' says which; "
        "use --metric m"
    )
    long = "x" * 100
    samples = [lm_sample(0, [-1.0, -2.0, -3.0], long, metrics=["m", "n"], m=0.5, n=0.5)]
    path = write_lm(tmp_path / "long", samples)
    assert message(path) == f"{path}, row 1: target '{'x' * 60}' is none of its 3 choices"
    samples = [lm_sample(0, [-1.0, -2.0, -3.0], long, acc=1.0)]
    path = write_lm(tmp_path / "acc", samples)
    assert message(path).endswith(
        "none of its 3 choices; use --metric acc, which takes what the tool recorded"
    )
    # three samples of which two have a text: the reading by the context goes furthest
    samples = [with_choices(lm_sample(i, [-1.0, -2.0], "t", acc=1.0), ["t", "t"]) for i in range(3)]
    del samples[2]["metrics"], samples[2]["acc"]
    samples[2] |= {"m": 1.0, "n": 0.5}
    path = write_lm(tmp_path / "same", samples)
    assert message(path) == (
        f"{path}, row 3: nothing says which of its choices is correct; use --metric m or n"
    )


def test_the_wrong_one_of_two_equal_texts_is_not_correct(tmp_path):
    samples = [
        with_choices(lm_sample(i, scores, "t", acc=0.0), ["t", "t"])
        for i, scores in enumerate(([-1.0, -2.0], [-2.0, -1.0]))
    ]
    rows = imported(write_lm(tmp_path, samples), prompts=1)
    assert rows["right"].tolist() == [[False, True], [True, False]]
    assert not rows["correct"].any()


def test_the_question_is_all_texts_of_a_document_but_its_ids(tmp_path):
    deep = "of level 20"
    too_deep = "of level 21"
    for _ in range(18):
        deep, too_deep = [deep], [too_deep]
    doc = {"a": "x", "doc_id": "no", "URL": "no", "b": [{"c": "y"}, "z", 3], "d": [deep], "e": [[too_deep]]}
    (run,) = lm_eval.read(write_lm(tmp_path, [lm_sample(0, [-1.0, -2.0], 0) | {"doc": doc}]), Options())
    assert run.rows["question"].tolist() == ["x\ny\nz\nof level 20"]


def test_a_model_without_a_name_is_called_by_its_folder(tmp_path, monkeypatch):
    path = write_lm(tmp_path / "m", [lm_sample(0, [-1.0, -2.0], 0)])
    results = next(path.parent.glob("results_*"))
    results.write_text('{"configs": {}}')
    (run,) = read_runs([path], Options())
    assert (run.model, run.shots) == ("m", 0)
    monkeypatch.chdir(path.parent)
    (run,) = read_runs([Path(path.name)], Options())
    assert run.model == "model"
    results.write_text('{"n-shot": {"sums": -1}}')
    assert message(path) == f"{results}, n-shot of sums: has -1 shots; expected a whole number from 0"
    for content in ('{"n-shot": 3}', '{"configs": [3]}', '{"results": 3}'):
        results.write_text(content)
        assert message(path).startswith(f"{results}: is not as lm-evaluation-harness writes it (")
