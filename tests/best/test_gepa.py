"""GEPA's real package, with a mock model: its searches are read, and guarded by the gate."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from abovechance.best import Gate, GateCallback
from abovechance.best.candidates import Candidates
from abovechance.best.files import read_candidates
from abovechance.cli import app
from abovechance.core.errors import InputError

gepa = pytest.importorskip("gepa", reason="GEPA is not installed (envs/requirements-dev.txt)")


class Mock:
    """A system whose prompt is a number; its answers depend on the number and the example alone."""

    def __init__(self, skill: dict[str, float]) -> None:
        self.skill = skill

    def evaluate(self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        from gepa.core.adapter import EvaluationBatch

        prompt = candidate["prompt"]
        scores = [
            float(np.random.default_rng([int(prompt), example]).random() < self.skill.get(prompt, 0.5))
            for example in batch
        ]
        return EvaluationBatch(outputs=scores, scores=scores, trajectories=scores if capture_traces else None)

    def make_reflective_dataset(self, candidate: Any, batch: Any, components: list[str]) -> Any:
        return {name: [{"score": score} for score in batch.scores] for name in components}

    def propose_new_texts(self, candidate: Any, dataset: Any, components: list[str]) -> Any:
        self.last = getattr(self, "last", 0) + 1
        return dict.fromkeys(components, str(self.last))


def search(calls: int = 900, skill: dict[str, float] | None = None, seed: str = "0", **options: Any) -> Any:
    return gepa.optimize(
        seed_candidate={"prompt": seed},
        trainset=list(range(1000, 1040)),
        valset=list(range(30)),
        adapter=Mock(skill or {}),
        max_metric_calls=calls,
        reflection_minibatch_size=3,
        skip_perfect_score=False,
        logger=type("Silent", (), {"log": staticmethod(lambda _message: None)})(),
        **options,
    )


def test_a_result_is_read_and_judged(tmp_path: Path) -> None:
    result = search()
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result.to_dict()))
    candidates = read_candidates(path)
    assert isinstance(candidates, Candidates)
    assert candidates.means == pytest.approx(result.val_aggregate_scores)
    assert candidates.names[candidates.chosen] == str(result.best_idx)
    outcome = CliRunner().invoke(app, ["best", str(path), "--json"])
    assert outcome.exit_code == 0, outcome.output
    report = json.loads(outcome.stdout)
    assert report["observed"] == pytest.approx(max(result.val_aggregate_scores))
    assert report["start"] == "0"
    assert report["low"] <= report["debiased"] <= report["high"]
    assert len(report["candidates"]) == result.num_candidates > 5


def test_among_equals_the_seed_stays() -> None:
    guard = GateCallback(planned=40)
    result = search(callbacks=[guard], stop_callbacks=[guard])
    assert result.best_idx != 0
    assert guard.incumbent == 0
    assert guard.gate is not None
    assert len(guard.gate.decisions) == result.num_candidates - 1


def test_a_better_prompt_passes_and_the_search_stops_when_nothing_is_left(tmp_path: Path) -> None:
    skill = {"0": 0.1, "2": 1.0}
    guard = GateCallback(planned=2, path=tmp_path / "gate.json")
    result = search(3000, skill, callbacks=[guard], stop_callbacks=[guard])
    assert result.candidates[guard.incumbent] == guard.prompt == {"prompt": "2"}
    assert result.total_metric_calls < 1500
    assert Gate.load(tmp_path / "gate.json") == guard.gate


def test_a_resumed_search_goes_on_with_its_state(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    guard = GateCallback(path=path)
    search(300, run_dir=str(tmp_path / "run"), callbacks=[guard], stop_callbacks=[guard])
    assert guard.gate is not None
    tested = len(guard.gate.decisions)
    resumed = GateCallback(path=path)
    result = search(900, run_dir=str(tmp_path / "run"), callbacks=[resumed], stop_callbacks=[resumed])
    assert resumed.gate is not None
    # the mock proposes some prompts again, which are not tested twice
    prompts = {candidate["prompt"] for candidate in result.candidates}
    assert len(resumed.gate.decisions) == len(prompts) - 1 > tested
    assert resumed.prompt == {"prompt": "0"}
    foreign = GateCallback(path=path)
    of_another = (
        "the search starts with another seed than that of .*; use the same seed, or another file for a"
    )
    with pytest.raises(InputError, match=of_another):
        search(300, seed="100", callbacks=[foreign], stop_callbacks=[foreign])


def event(number: int, prompt: str, score: float) -> dict[str, Any]:
    scores = dict.fromkeys(range(12), score)
    return {"candidate_idx": number, "candidate": {"prompt": prompt}, "scores_by_val_id": scores}


def test_a_candidate_that_gepa_lost_is_kept_by_the_gate(tmp_path: Path) -> None:
    """A kill between the gate's file and GEPA's state: the number goes to another candidate."""
    guard = GateCallback(planned=3, path=tmp_path / "gate.json")
    guard.on_valset_evaluated(event(0, "seed", 0.0))
    guard.on_valset_evaluated(event(1, "lost", 1.0))
    assert (guard.incumbent, guard.prompt) == (1, {"prompt": "lost"})
    resumed = GateCallback(planned=3, path=tmp_path / "gate.json")
    resumed.on_valset_evaluated(event(0, "seed", 0.0))
    assert resumed.incumbent == 1
    resumed.on_valset_evaluated(event(1, "new", 0.0))
    assert resumed.prompt == {"prompt": "lost"}
    with pytest.raises(InputError, match="GEPA has lost candidate 1"):
        _ = resumed.incumbent
    assert resumed.gate is not None
    assert len(resumed.gate.decisions) == 2


def test_a_candidate_is_compared_on_the_examples_that_gepa_evaluated(tmp_path: Path) -> None:
    guard = GateCallback(planned=1, path=tmp_path / "gate.json")
    guard.on_valset_evaluated(event(0, "seed", 0.0))
    rival = event(1, "better", 1.0)
    del rival["scores_by_val_id"][0], rival["scores_by_val_id"][1]
    guard.on_valset_evaluated(rival)
    assert guard.gate is not None
    (decision,) = guard.gate.decisions
    assert (decision.examples, guard.incumbent) == (10, 1)


def test_an_error_of_the_gate_is_raised_though_gepa_only_logs_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    guard = GateCallback(path=tmp_path / "file" / "gate.json")
    with pytest.raises(OSError, match="file"):
        search(callbacks=[guard], stop_callbacks=[guard])
    with pytest.raises(InputError, match="no candidate is evaluated yet"):
        _ = GateCallback().incumbent
