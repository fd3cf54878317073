"""Logs that the tools themselves wrote: `make logs` makes them."""

import json

import pytest
from typer.testing import CliRunner

from abovechance.cli import app
from abovechance.importers import Options, combine, read_runs
from abovechance.results.accuracy import accuracy_by_prompt
from tests.conftest import REPOSITORY

LOGS = REPOSITORY / "results" / "logs"


@pytest.mark.parametrize(
    ("tool", "prompts", "chance"),
    [("lm_eval", 1, 1 / 3), ("inspect_ai", 1, 1 / 3), ("lighteval", 1, 1 / 3), ("crfm_helm", 3, 1 / 2)],
)
def test_a_tools_own_log_gives_the_accuracy_that_it_reports(tool, prompts, chance):
    folder = LOGS / tool
    if not (folder / "accuracy.json").is_file():
        pytest.skip(f"there is no log of {tool} on this machine; `make logs` makes it")
    options = Options(prompts=1)
    runs = read_runs([folder], options)
    reported = json.loads((folder / "accuracy.json").read_text())
    # what the tool wrote of each example, and of all, was held against what is imported
    assert [run.rows["recorded"].mean() for run in runs] == pytest.approx([reported] * len(runs))
    if tool != "lighteval":  # whose pipeline, which writes it, needs a model from a hub
        assert [run.reported.accuracy for run in runs] == pytest.approx([reported] * len(runs))
    accuracy = accuracy_by_prompt(combine(runs, options))
    assert accuracy["accuracy"].mean() == pytest.approx(reported)
    assert accuracy["examples"].tolist() == [12] * prompts
    assert accuracy["chances"].tolist() == [[pytest.approx(chance)]] * prompts


def test_two_models_are_compared_by_their_logs():
    if not (LOGS / "compared").is_dir():
        pytest.skip("there are no logs of two models on this machine; `make logs` makes them")
    completed = CliRunner().invoke(
        app, ["compare", str(LOGS / "compared/float32"), str(LOGS / "compared/bfloat16"), "--json"]
    )
    (report,) = json.loads(completed.stdout)
    (pair,) = report["comparison"]
    assert pair["examples"] == 300
    assert pair["better"] + pair["worse"] > 0
    # the harness's own accuracies
    reported = [
        json.loads(next((LOGS / "compared" / name).rglob("results_*.json")).read_text())["results"][
            "products"
        ]
        for name in ("float32", "bfloat16")
    ]
    assert (pair["first"], pair["second"]) == pytest.approx([rows["acc,none"] for rows in reported])
