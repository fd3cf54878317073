"""What scoring jobs ask of a cluster."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModelForCausalLM

from abovechance.scoring.demands import Demands, parameters, quantizing_mb, weights_mb
from abovechance.scoring.weights import Weights
from abovechance.study.prompts import EVALUATION_SETS, PROMPTS, draw_prompts, evaluation_set
from abovechance.study.tasks import TASKS, as_table
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The input files of a scoring job: 20 examples, 8 of them evaluated, 3 prompts of 0 and of 2 shots."""
    folder = tmp_path_factory.mktemp("job")
    save_tiny_model(folder / "tiny")
    Weights(str(folder / "tiny"), "tiny", "0").write(folder / "weights.json")
    task = as_table(
        {"example": str(n), "text": f"Question {n}:", "choices": ["yes", "no"], "correct": [True, False]}
        for n in range(20)
    )
    evaluation = evaluation_set(task, "t", 0, 8)
    TASKS.write(task, folder / "task.parquet", {})
    EVALUATION_SETS.write(evaluation, folder / "set.parquet", {})
    prompts = []
    for shots in (0, 2):
        prompts.append(folder / f"{shots}.parquet")
        PROMPTS.write(draw_prompts(task, evaluation, "t", 0, shots, 3), prompts[-1], {})
    names = {"weights": "weights.json", "task": "task.parquet", "evaluation_set": "set.parquet"}
    return {name: folder / file for name, file in names.items()} | {"prompts": prompts}


def test_parameters_and_bytes_are_counted_without_loading_the_model(job):
    demands = Demands.from_tables(**job)
    model = AutoModelForCausalLM.from_pretrained(job["weights"].parent / "tiny")
    assert demands.parameters == parameters(job["weights"].parent / "tiny")
    assert demands.parameters >= sum(p.numel() for p in model.parameters()) > demands.parameters / 2
    assert demands.stored > 4 * demands.parameters


def test_texts_are_counted_once_a_prompt_examples_once_each(job):
    example = sum(len(f"Question {n}:") for n in range(20)) / 20 + len("yes") + len("no")
    demands = Demands.from_tables(**job).tokens * 3
    # a prompt without shots, and three of two demonstrations
    assert demands == pytest.approx(4 * 8 * example + 3 * 2 * len("Question 10: yes\n"), rel=0.1)


def test_more_is_asked_for_of_larger_models_of_later_attempts_and_on_processors():
    small, large = Demands(10**8, 2 * 10**8, 10**6), Demands(7 * 10**9, 14 * 10**9, 10**6)
    assert small.memory_mb(accelerator=True) == 4 * 1024
    assert large.memory_mb(accelerator=False) == pytest.approx(3072 + 7e9 * 6 / 2**20, abs=1024)
    assert large.memory_mb(accelerator=True) == pytest.approx(3072 + 14e9 / 2**20, abs=1024)
    for demands in (small, large):
        memory = [demands.memory_mb(False, attempt) for attempt in (1, 2, 3)]
        assert memory == pytest.approx(memory[0] * np.array([1, 1.5, 2]), abs=1024)
        minutes = [demands.minutes(1, False, attempt) for attempt in (1, 2, 3)]
        assert minutes == pytest.approx(minutes[0] * np.array([1, 2, 3]), abs=3)
        assert demands.minutes(8, False) < demands.minutes(1, False)
        assert demands.minutes(1, True) < demands.minutes(1, False)
    assert small.minutes(1, False) == pytest.approx(15 + 2e14 / 2.5e10 / 60, abs=1)


def test_weights_are_converted_in_the_memory_that_they_need(tmp_path, job):
    (tmp_path / "a.gguf").write_bytes(bytes(100 * 2**20))
    assert weights_mb([tmp_path / "a.gguf"]) == pytest.approx(3072 + 1400, abs=1024)
    assert weights_mb([]) == 3 * 1024
    assert quantizing_mb(job["weights"]) == 4 * 1024
    assert quantizing_mb(job["weights"], attempt=3) == 7 * 1024


@pytest.mark.parametrize("name", ["weights", "task", "evaluation_set"])
def test_until_inputs_are_there_snakemake_is_told_to_wait(job, name):
    with pytest.raises(FileNotFoundError):
        Demands.from_tables(**job | {name: Path("not", "made")})


def test_asking_does_not_load_pytorch():
    script = "import sys, abovechance.scoring.demands; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
