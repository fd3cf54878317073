"""One log of lm-evaluation-harness, read by other metrics, filters and commands."""

import json
from pathlib import Path

import pytest

from abovechance.core.errors import InputError
from abovechance.importers import Options, diagnose, read_runs
from tests.importers.test_lm_eval import lm_sample, write_lm

DATE = "2024-09-20T10-00-00.123456"


def write_without_filters(
    folder: Path, blocks: int = 2, names: tuple[str, ...] = ("strict", "flexible")
) -> Path:
    """A log of version 0.4.5 or before, which has all samples once for each filter and does not name it."""
    rows = [
        {"doc_id": doc, "doc": {"question": f"Q {doc}"}, "target": f"#### {doc}", "resps": [[f"a {doc}"]]}
        | {"arguments": {"gen_args_0": {"arg_0": f"Q {doc}"}}, "filtered_resps": [str(doc)], "doc_hash": "x"}
        | {"exact_match": float(doc % (3 - block) == 0)}
        for block in range(blocks)
        for doc in range(12)
    ]
    path = folder / f"samples_sums_{DATE}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = dict(zip(names, (4 / 12, 6 / 12), strict=False))
    results = {"sums": {f"exact_match,{name}": value for name, value in values.items()}}
    counted = {"sums": {"original": 12, "effective": 12}}
    report = {"results": results, "n-samples": counted, "model_name": "org/m"}
    (folder / f"results_{DATE}.json").write_text(json.dumps(report))
    return path


@pytest.mark.parametrize(("name", "correct"), [("strict", 4), ("flexible", 6)])
def test_filters_of_old_versions_are_named_in_the_order_of_the_results(tmp_path, name, correct):
    (run,) = read_runs([write_without_filters(tmp_path)], Options(filter=name, chance=0.0))
    assert (run.metric, len(run.rows), run.rows["correct"].sum()) == (f"exact_match,{name}", 12, correct)


def test_a_log_without_names_of_filters_is_not_broken(tmp_path):
    path = write_without_filters(tmp_path)
    assert diagnose([path], Options(command="doctor")) == ([], 2)
    with pytest.raises(InputError, match="results of several filters, strict, flexible; choose one"):
        read_runs([path], Options())
    with pytest.raises(InputError, match="has no metric 'f1'; use --metric exact_match, or leave out this"):
        read_runs([path], Options(metric="f1", filter="strict"))


def test_filters_that_are_listed_in_another_order_do_not_pass(tmp_path):
    path = write_without_filters(tmp_path, names=("flexible", "strict"))
    results = json.loads((tmp_path / f"results_{DATE}.json").read_text())
    results["results"]["sums"] = {"exact_match,flexible": 0.5, "exact_match,strict": 1 / 3}
    (tmp_path / f"results_{DATE}.json").write_text(json.dumps(results))
    with pytest.raises(InputError, match="says 0.5000"):
        read_runs([path], Options(filter="flexible"))


def test_more_blocks_than_filters_are_repeated_results(tmp_path):
    path = write_without_filters(tmp_path, blocks=3)
    signs = [diagnosis.suspicion.check for diagnosis in diagnose([path], Options(command="doctor"))[0]]
    assert "repeated-results" in signs


def write_with_ties(folder: Path) -> Path:
    more = {"metrics": ["acc", "acc_norm"], "acc_norm": 1.0}
    scores = [[-1.0, -1.0 if doc % 2 else -2.0, -3.0 - doc] for doc in range(10)]
    samples = [lm_sample(doc, of_choices, 0, **more) for doc, of_choices in enumerate(scores)]
    return write_lm(folder, samples)


def test_recorded_values_of_ties_are_told(tmp_path):
    path = write_with_ties(tmp_path)
    (run,) = read_runs([path], Options())
    assert (run.rows["correct"].sum(), run.notes[-1]) == (
        5,
        f"{path.name}: 5 ties of a correct and a wrong choice counted as wrong",
    )
    (recorded,) = read_runs([path], Options(metric="acc"))
    assert recorded.rows["correct"].sum() == 10
    assert recorded.notes == [
        f"{path.name}: acc is as the tool recorded it; choices tie in 5 of 10 examples, where the tool "
        "chooses the first one (without --metric, ties count as wrong)"
    ]
    assert read_runs([path], Options(metric="acc_norm"))[0].notes == []


@pytest.mark.parametrize("metric", [None, "acc", "acc_norm"])
def test_doctor_sees_predictions_whatever_the_metric(tmp_path, metric):
    samples = [
        lm_sample(
            doc,
            [-1.0 if place == (7 * doc) % 4 else -3.0 - doc / 99 for place in range(4)],
            (7 * doc + 1) % 4,
        )
        for doc in range(60)
    ]
    for sample in samples:
        sample |= {"metrics": ["acc", "acc_norm"], "acc_norm": sample["acc"]}
    diagnoses, runs = diagnose([write_lm(tmp_path, samples)], Options(metric=metric, command="doctor"))
    assert "shifted-labels" in [diagnosis.suspicion.check for diagnosis in diagnoses]
    assert runs == 1 + (metric == "acc_norm")


def test_doctor_reads_the_recorded_metric_if_targets_are_unknown(tmp_path):
    samples = [lm_sample(doc, [-1.0, -2.0], "elsewhere", acc=float(doc % 2)) for doc in range(30)]
    path = write_lm(tmp_path, samples)
    assert diagnose([path], Options(metric="acc", command="doctor"))[1] == 1
    assert diagnose([path], Options(command="doctor"))[1] == 0


def test_doctor_says_once_what_holds_for_all_metrics_of_a_file(tmp_path):
    samples = [lm_sample(doc % 40, [-1.0, -2.0 - doc / 99], doc % 2) for doc in range(60)]
    for sample in samples:
        sample |= {"metrics": ["acc", "acc_norm"], "acc_norm": sample["acc"]}
    diagnoses, _ = diagnose([write_lm(tmp_path, samples)], Options(metric="acc_norm", command="doctor"))
    assert [diagnosis.suspicion.check for diagnosis in diagnoses].count("repeated-results") == 1
