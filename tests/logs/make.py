"""Real logs of other tools, most on the default study's model: python tests/logs/make.py TOOL FOLDER

Run by `make logs` in an environment that has the tool. Beside the log, ``accuracy.json`` has the
accuracy that the tool itself reports.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

SUMS = [
    {
        "text": f"{a} + {b} =",
        "choices": [str(a + b + (place - correct) % 3) for place in range(3)],
        "answer": correct,
    }
    for a in range(4)
    for b in range(3)
    for correct in [(a + b) % 3]
]
PRODUCTS = [
    {
        "text": f"{a} times {b} is",
        "choices": [str(a * b + step) for step in steps],
        "answer": steps.index(0),
    }
    for a in range(2, 9)
    for b in range(2, 19)
    for steps in [[-b, 0, a, 10][(a + b) % 4 :] + [-b, 0, a, 10][: (a + b) % 4]]
]
MODEL = str(next(Path("results/weights").glob("*/converted")).resolve())


def scores() -> list[list[float]]:
    """The log-likelihood of each choice of each sum."""
    model, tokenizer = AutoModelForCausalLM.from_pretrained(MODEL), AutoTokenizer.from_pretrained(MODEL)

    @torch.inference_mode()
    def score(text: str, choice: str) -> float:
        ids = tokenizer(f"{text} {choice}", return_tensors="pt")["input_ids"]
        logprobs = model(ids).logits[0].log_softmax(-1)
        begin = len(tokenizer(text)["input_ids"])
        return sum(float(logprobs[place - 1, ids[0, place]]) for place in range(begin, ids.shape[1]))

    return [[score(row["text"], choice) for choice in row["choices"]] for row in SUMS]


def lm_eval(folder: Path) -> float:
    """lm-evaluation-harness, its own command; and beside it one model in two precisions, to compare."""
    for precision in ("float32", "bfloat16"):
        _harness(folder.parent / "compared" / precision, "products", PRODUCTS, precision)
    return _harness(folder, "sums", SUMS, "float32")


def _harness(folder: Path, name: str, rows: list[dict[str, Any]], precision: str) -> float:
    """The accuracy that lm-evaluation-harness finds; its logs are in ``folder/out``."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / f"{name}.jsonl")}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{text}}",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{answer}}",
        "metric_list": [{"metric": "acc"}],
    }
    (folder / f"{name}.yaml").write_text(json.dumps(task))  # JSON is YAML
    command = [
        sys.executable,
        "-m",
        "lm_eval",
        "--model",
        "hf",
        "--tasks",
        name,
        "--include_path",
        str(folder),
    ]
    arguments = ["--model_args", f"pretrained={MODEL},dtype={precision}", "--device", "cpu"]
    subprocess.run([*command, *arguments, "--output_path", str(folder / "out"), "--log_samples"], check=True)
    (results,) = folder.rglob("results_*.json")
    return json.loads(results.read_text())["results"][name]["acc,none"]


def inspect_ai(folder: Path) -> float:
    """inspect, with a solver that marks the likeliest choice."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import choice
    from inspect_ai.solver import solver

    likelihoods = scores()

    @solver
    def likeliest() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            rows = likelihoods[int(state.sample_id)]
            best = rows.index(max(rows))
            for place in range(len(rows)):
                state.choices.mark_choice(place, place == best)
            state.output = ModelOutput.from_content("SmolLM2", f"ANSWER: {'ABC'[best]}")
            return state

        return solve

    samples = [
        Sample(id=place, input=row["text"], choices=row["choices"], target="ABC"[row["answer"]])
        for place, row in enumerate(SUMS)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=likeliest(), scorer=choice(), name="sums")
    (log,) = eval(task, model="mockllm/SmolLM2", log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log.results.scores[0].metrics["accuracy"].value


def lighteval(folder: Path) -> float:
    """lighteval's own tracker of details."""
    import xxhash
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.models.dummy.dummy_model import DummyModelConfig
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    hashed = xxhash.xxh64  # newer versions refuse texts, which the tracker gives them
    xxhash.xxh64 = lambda value=b"": hashed(value.encode() if isinstance(value, str) else value)
    tracker = EvaluationTracker(output_dir=str(folder), save_details=True)
    tracker.general_config_logger.model_config = DummyModelConfig(model_name="org/SmolLM2", seed=0)
    tracker.general_config_logger.model_name = "org/SmolLM2"
    correct = []
    for place, (row, rows) in enumerate(zip(SUMS, scores(), strict=True)):
        doc = Doc(query=row["text"], choices=row["choices"], gold_index=row["answer"], id=str(place))
        correct.append(rows.index(max(rows)) == row["answer"])
        response = ModelResponse(
            logprobs=rows, output_tokens=[[1, -1]] * 3, argmax_logits_eq_gold=[False] * 3
        )
        tracker.details_logger.log("community|sums|0", doc, response, {"acc": float(correct[-1])})
    tracker.save()
    return sum(correct) / len(correct)


def crfm_helm(folder: Path) -> float:
    """HELM's own command, on its own toy task and toy model: hubs and other models are not at hand."""
    command = [sys.executable, "-m", "helm.benchmark.run", "--run-entries", "simple_mcqa:model=simple/model1"]
    limits = ["--suite", "sums", "--max-eval-instances", "12", "--num-train-trials", "3", "--disable-cache"]
    subprocess.run([*command, *limits], cwd=folder, check=True)
    (stats,) = folder.rglob("stats.json")
    for stat in json.loads(stats.read_text()):
        if stat["name"] == {"name": "exact_match", "split": "test"}:
            return stat["mean"]
    raise LookupError(f"{stats} has no exact_match")


def every_eval_ever(folder: Path) -> float:
    """Records of Every Eval Ever, which its own command makes from a log of lm-evaluation-harness."""
    log = next((folder.parent / "lm_eval").rglob("results_*.json")).parent
    shutil.copytree(log, folder / "log", dirs_exist_ok=True)
    (results,) = (folder / "log").glob("results_*.json")
    results.write_text(results.read_text().replace(MODEL, "org/SmolLM2"))  # as on a hub
    command = [sys.executable, "-m", "every_eval_ever", "convert", "lm_eval", "--include_samples"]
    arguments = ["--log_path", str(folder / "log"), "--output_dir", str(folder / "data")]
    subprocess.run([*command, *arguments, "--source_organization_name", "me"], check=True, cwd=folder)
    (record,) = (folder / "data").rglob("*.json")
    return json.loads(record.read_text())["evaluation_results"][0]["score_details"]["score"]


if __name__ == "__main__":
    name, target = sys.argv[1], Path(sys.argv[2]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    tools = {"lm_eval": lm_eval, "inspect_ai": inspect_ai, "lighteval": lighteval, "crfm_helm": crfm_helm}
    tools |= {"every_eval_ever": every_eval_ever}
    reported = tools[name](target)
    (target / "accuracy.json").write_text(json.dumps(reported))
