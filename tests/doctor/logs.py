"""Simulated evaluation logs, sound and with one fault each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

DATE = "2026-11-21T07-31-28.323857"
WORDS = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "heron",
    "ivory",
    "jetty",
    "knoll",
    "larch",
)


@dataclass
class Log:
    """An evaluation as tools record it.

    Attributes
    ----------
    scores
        (examples, choices) log-likelihoods.
    gold
        (examples,) numbers of the gold choices, as the log has them.
    """

    questions: list[str]
    choices: list[list[str]]
    gold: list[int]
    scores: list[list[float]]
    contexts: list[str]
    outputs: list[str]
    answers: list[str]
    ids: list[int]
    stop_reasons: list[str]
    model: str = "org/model"
    accuracy: float | None = None
    filtered: set[int] = field(default_factory=set)

    @property
    def predicted(self) -> list[int]:
        """The prediction of each example."""
        return [int(np.argmax(row)) for row in self.scores]

    def select(self, places: list[int]) -> Log:
        """Return the log of some of its examples."""
        lists = (
            "questions",
            "choices",
            "gold",
            "scores",
            "contexts",
            "outputs",
            "answers",
            "ids",
            "stop_reasons",
        )
        return replace(self, **{name: [getattr(self, name)[place] for place in places] for name in lists})


def sound(seed: int, examples: int | None = None) -> Log:
    """Return a sound log: a model of any ability, with some preference for a position."""
    random = np.random.default_rng(seed)
    count = examples or int(random.choice([30, 60, 100, 200, 500]))
    choices = int(random.choice([2, 3, 4, 5]))
    ability = random.choice([0.0, 0.0, 0.5, 1.0, 2.0])
    preference = random.normal(size=choices) * random.choice([0, 0.5])
    gold = random.integers(choices, size=count)
    scores = random.normal(size=(count, choices)) + preference
    scores[np.arange(count), gold] += ability
    scores = -5 - np.abs(scores.max()) + scores
    if random.random() < 0.3:  # scores in 16 bits
        scores = np.round(scores * 8) / 8
    questions = [f"Question {text_of(random, 12)}?" for _ in range(count)]
    texts = [[text_of(random, 2) for _ in range(choices)] for _ in range(count)]
    shots = int(random.choice([0, 0, 2, 4]))
    demonstrations = "".join(
        f"Question {text_of(random, 12)}?\nAnswer: {text_of(random, 2)}\n\n" for _ in range(shots)
    )
    letters = ["ABCDE"[int(np.argmax(row))] for row in scores]
    invalid = random.random(count) < 0.03
    return Log(
        questions=questions,
        choices=texts,
        gold=gold.tolist(),
        scores=scores.tolist(),
        contexts=[f"{demonstrations}{question}\nAnswer:" for question in questions],
        outputs=[
            text_of(random, 30) if bad else f"Because {text_of(random, 20)}, the answer is {letter}."
            for letter, bad in zip(letters, invalid, strict=True)
        ],
        answers=["[invalid]" if bad else letter for letter, bad in zip(letters, invalid, strict=True)],
        ids=list(range(count)),
        stop_reasons=["max_tokens" if random.random() < 0.03 else "stop" for _ in range(count)],
    )


def text_of(random: np.random.Generator, words: int) -> str:
    """Return a text of random words, which occurs only once."""
    return " ".join([*random.choice(WORDS, words), str(random.integers(10**9))])


def write_choices(log: Log, folder: Path) -> Path:
    """Write a multiple-choice log of lm-evaluation-harness."""
    rows = []
    for place, scores in enumerate(log.scores):
        answers = [[str(score), "False"] for score in scores]
        rows.append(
            {
                "doc_id": log.ids[place],
                "doc": {"question": log.questions[place], "choices": log.choices[place], "id": f"q{place}"},
                "target": str(log.gold[place]),
                "arguments": {
                    f"gen_args_{number}": {"arg_0": log.contexts[place], "arg_1": f" {text}"}
                    for number, text in enumerate(log.choices[place])
                },
                "resps": [[answer] for answer in answers],
                "filtered_resps": answers,
                "filter": "none",
                "metrics": ["acc"],
                "acc": float(np.argmax(scores) == log.gold[place]),
            }
        )
    return _harness(log, rows, folder, "acc,none")


def write_texts(log: Log, folder: Path) -> Path:
    """Write a log of lm-evaluation-harness with generated texts."""
    rows = [
        {
            "doc_id": log.ids[place],
            "doc": {"question": log.questions[place], "id": f"q{place}"},
            "target": "ABCDE"[log.gold[place]],
            "arguments": {"gen_args_0": {"arg_0": log.contexts[place], "arg_1": {"until": ["\n"]}}},
            "resps": [[output]],
            "filtered_resps": [log.answers[place]],
            "filter": "strict-match",
            "metrics": ["exact_match"],
            "exact_match": float(log.answers[place] == "ABCDE"[log.gold[place]]),
        }
        for place, output in enumerate(log.outputs)
    ]
    return _harness(log, rows, folder, "exact_match,strict-match")


def _harness(log: Log, rows: list[dict[str, Any]], folder: Path, metric: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_task_{DATE}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mean = float(np.mean([row[metric.partition(",")[0]] for row in rows]))
    results = {
        "model_name": log.model,
        "n-shot": {"task": log.contexts[0].count("Answer: ")},
        "configs": {"task": {}},
        "results": {"task": {metric: mean if log.accuracy is None else log.accuracy}},
        "n-samples": {"task": {"original": len(rows), "effective": len(rows)}},
    }
    (folder / f"results_{DATE}.json").write_text(json.dumps(results))
    return path


def write_inspect(log: Log, folder: Path) -> Path:
    """Write a log of inspect as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = [
        {
            "id": log.ids[place],
            "epoch": 1,
            "input": log.questions[place],
            "choices": log.choices[place],
            "target": "ABCDE"[log.gold[place]],
            "messages": [
                {"role": "user", "content": log.contexts[place]},
                {"role": "assistant", "content": log.outputs[place]},
            ],
            "output": {
                "choices": [
                    {
                        "message": {"role": "assistant", "content": log.outputs[place]},
                        "stop_reason": log.stop_reasons[place],
                    }
                ]
            },
            "scores": {
                "choice": {
                    "value": "C" if answer == "ABCDE"[log.gold[place]] else "I",
                    "answer": "" if answer == "[invalid]" else answer,
                }
            },
        }
        for place, answer in enumerate(log.answers)
    ]
    log_ = {
        "version": 2,
        "status": "success",
        "eval": {"task": "task", "model": log.model},
        "samples": samples,
    }
    path = folder / "log.json"
    path.write_text(json.dumps(log_))
    return path


def write_csv(log: Log, folder: Path) -> Path:
    """Write a CSV with a row per example."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["example,correct,choices,model,task"]
    lines += [
        f"{log.ids[place]},{int(predicted == log.gold[place])},{len(log.choices[place])},{log.model},task"
        for place, predicted in enumerate(log.predicted)
    ]
    path = folder / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def write_helm(log: Log, folder: Path) -> Path:
    """Write a run of HELM with generated letters."""
    run = folder / "task:model=model"
    run.mkdir(parents=True, exist_ok=True)
    stats, states = [], []
    for place, answer in enumerate(log.answers):
        names = {
            "exact_match": float(answer == "ABCDE"[log.gold[place]]),
            "prompt_truncated": float(log.stop_reasons[place] == "model_length"),
            "finish_reason_length": float(log.stop_reasons[place] == "max_tokens"),
        }
        stats.append(
            {
                "instance_id": f"id{log.ids[place]}",
                "train_trial_index": 0,
                "stats": [
                    {"name": {"name": name, "split": "test"}, "count": 1, "sum": value}
                    for name, value in names.items()
                ],
            }
        )
        references = [
            {"output": {"text": text}, "tags": ["correct"] * (number == log.gold[place])}
            for number, text in enumerate(log.choices[place])
        ]
        instance = {
            "id": f"id{log.ids[place]}",
            "input": {"text": log.questions[place]},
            "references": references,
        }
        states.append(
            {
                "instance": instance,
                "train_trial_index": 0,
                "request": {"prompt": log.contexts[place]},
                "result": {"completions": [{"text": log.outputs[place]}]},
            }
        )
    (run / "per_instance_stats.json").write_text(json.dumps(stats))
    spec = {"name": "task:model=model", "adapter_spec": {"model": log.model, "max_train_instances": 0}}
    (run / "run_spec.json").write_text(json.dumps(spec))
    (run / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    return run


def write_lighteval(log: Log, folder: Path) -> Path:
    """Write the details of lighteval."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "doc": {
                "id": str(log.ids[place]),
                "query": log.questions[place],
                "choices": log.choices[place],
                "gold_index": log.gold[place],
            },
            "model_response": {
                "input": log.contexts[place],
                "logprobs": scores,
                "text": [],
                "truncated_tokens_count": int(log.stop_reasons[place] == "model_length"),
            },
            "metric": {"acc": float(np.argmax(scores) == log.gold[place])},
        }
        for place, scores in enumerate(log.scores)
    ]
    path = folder / f"details_task|0_{DATE}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_records(log: Log, folder: Path) -> Path:
    """Write a record of Every Eval Ever with its rows of samples."""
    folder.mkdir(parents=True, exist_ok=True)
    identifiers = {"schema_version": "0.3.0", "evaluation_id": f"task/{log.model}/1"}
    rows = [
        identifiers
        | {
            "model_id": log.model,
            "evaluation_name": "task",
            "evaluation_result_id": "acc",
            "sample_id": str(log.ids[place]),
            "interaction_type": "single_turn",
            "input": {
                "raw": log.questions[place],
                "formatted": log.contexts[place],
                "reference": [log.choices[place][log.gold[place]]],
                "choices": log.choices[place],
            },
            "output": {"raw": [log.choices[place][predicted]]},
            "messages": None,
            "answer_attribution": [
                {
                    "turn_idx": 0,
                    "source": "output.raw",
                    "extracted_value": log.choices[place][predicted],
                    "extraction_method": "none",
                    "is_terminal": True,
                }
            ],
            "evaluation": {
                "score": float(predicted == log.gold[place]),
                "is_correct": predicted == log.gold[place],
            },
        }
        for place, predicted in enumerate(log.predicted)
    ]
    mean = float(np.mean([row["evaluation"]["score"] for row in rows]))
    record = identifiers | {
        "retrieved_timestamp": "1",
        "source_metadata": {"source_type": "evaluation_run"},
        "eval_library": {"name": "lm_eval", "version": "1"},
        "model_info": {"name": log.model, "id": log.model},
        "evaluation_results": [
            {
                "evaluation_result_id": "acc",
                "evaluation_name": "task",
                "source_data": {"dataset_name": "task", "source_type": "other"},
                "metric_config": {"lower_is_better": False},
                "score_details": {"score": mean if log.accuracy is None else log.accuracy},
            }
        ],
    }
    path = folder / "0_samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "0.json").write_text(json.dumps(record))
    return path


WRITERS: dict[str, Callable[[Log, Path], Path]] = {
    "choices": write_choices,
    "texts": write_texts,
    "inspect": write_inspect,
    "csv": write_csv,
    "helm": write_helm,
    "lighteval": write_lighteval,
    "records": write_records,
}


def _first(count: int, values: list[Any], value: Callable[[Any], Any]) -> list[Any]:
    return [value(item) if place < count else item for place, item in enumerate(values)]


def _shift(log: Log, step: int) -> Log:
    return replace(
        log, gold=[(gold + step) % len(texts) for gold, texts in zip(log.gold, log.choices, strict=True)]
    )


def _good(seed: int, examples: int = 100, choices: int = 4, ability: float = 1.5) -> Log:
    """Return a sound log of a model that is better than chance."""
    random = np.random.default_rng(seed)
    gold = random.integers(choices, size=examples)
    scores = random.normal(size=(examples, choices))
    scores[np.arange(examples), gold] += ability
    scores -= 9
    log = sound(seed, examples)
    demonstrations = "".join(
        f"Question {text_of(random, 12)}?\nAnswer: {text_of(random, 2)}\n\n" for _ in range(3)
    )
    letters = ["ABCDE"[int(np.argmax(row))] for row in scores]
    return replace(
        log,
        choices=[[text_of(random, 2) for _ in range(choices)] for _ in range(examples)],
        gold=gold.tolist(),
        scores=scores.tolist(),
        contexts=[f"{demonstrations}{question}\nAnswer:" for question in log.questions],
        outputs=[f"Because {text_of(random, 20)}, the answer is {letter}." for letter in letters],
        answers=letters,
        stop_reasons=["stop"] * examples,
    )


@dataclass(frozen=True)
class Fault:
    """A fault that is injected into a log.

    Attributes
    ----------
    check
        The check that must find it.
    writers
        The formats that can show it.
    inject
        Returns the broken logs of a seed.
    """

    check: str
    writers: tuple[str, ...]
    inject: Callable[[int], list[Log]]


def _changed(change: Callable[[Log], Log]) -> Callable[[int], list[Log]]:
    return lambda seed: [change(_good(seed))]


def _pair(change: Callable[[Log], Log]) -> Callable[[int], list[Log]]:
    return lambda seed: [_good(seed), replace(change(_good(seed)), model="org/second")]


def _own_demonstrations(log: Log) -> Log:
    demonstrations = [f"{question}\nAnswer: it\n\n" for question in log.questions[:4]]
    return replace(log, contexts=["".join(demonstrations) + context for context in log.contexts])


def _fixed(prefix: str) -> Callable[[Log], Log]:
    return lambda log: replace(log, contexts=[prefix + context for context in log.contexts])


def _cut_begin(log: Log) -> Log:
    long = [f"{place * ' very'} {context}" for place, context in enumerate(log.contexts)]
    long = ["Question: " + text for text in long]
    limit = sorted(map(len, long))[70]
    return replace(log, contexts=[text[-limit:] for text in long])


def _cut_end(log: Log) -> Log:
    long = [
        context.replace("Answer:", f"{place * 'very '}\nAnswer:")
        for place, context in enumerate(log.contexts)
    ]
    limit = sorted(map(len, long))[70]
    return replace(log, contexts=[text[:limit] for text in long])


SCORED = ("choices", "lighteval")
WITH_PREDICTIONS = ("choices", "lighteval", "inspect", "records")
WITH_OUTPUTS = ("texts", "inspect", "helm")
WITH_TEXTS = ("choices", "texts", "inspect", "helm", "lighteval", "records")
FAULTS = {
    "every score is 0": Fault(
        "equal-scores",
        SCORED,
        _changed(lambda log: replace(log, scores=[[0.0] * len(row) for row in log.scores])),
    ),
    "a tenth of the scores are equal": Fault(
        "equal-scores",
        SCORED,
        _changed(lambda log: replace(log, scores=_first(10, log.scores, lambda row: [-3.0] * len(row)))),
    ),
    "scores of another example from a cache": Fault(
        "constant-scores",
        SCORED,
        _changed(lambda log: replace(log, scores=[log.scores[0]] * len(log.scores))),
    ),
    "logits in place of log-probabilities": Fault(
        "positive-scores",
        SCORED,
        _changed(lambda log: replace(log, scores=[[value + 20 for value in row] for row in log.scores])),
    ),
    "labels shifted by one choice": Fault(
        "shifted-labels", WITH_PREDICTIONS, _changed(lambda log: _shift(log, 1))
    ),
    "labels counted from one": Fault(
        "shifted-labels", WITH_PREDICTIONS, _changed(lambda log: _shift(log, -1))
    ),
    "answer key reversed": Fault(
        "shifted-labels",
        WITH_PREDICTIONS,
        _changed(lambda log: replace(log, gold=[3 - gold for gold in log.gold])),
    ),
    "answer key off by one row": Fault(
        "shifted-labels",
        WITH_PREDICTIONS,
        _changed(lambda log: replace(log, gold=[*log.gold[1:], log.gold[0]])),
    ),
    "binary labels swapped": Fault(
        "below-chance",
        ("csv", "helm"),
        lambda seed: [_shift(_good(seed, choices=2), 1)],
    ),
    "one position in nearly all predictions": Fault(
        "one-position",
        WITH_PREDICTIONS,
        _changed(
            lambda log: replace(
                log, scores=[[row[0] + 9, *row[1:]] for row in log.scores], answers=["A"] * len(log.answers)
            )
        ),
    ),
    "one answer in nearly all predictions": Fault(
        "one-answer",
        ("choices", "lighteval"),
        _changed(
            lambda log: replace(
                log,
                choices=[
                    ["yes" if place == row else f"no {row} {place}" for place in range(4)]
                    for row in (np.arange(len(log.gold)) % 4).tolist()
                ],
                scores=[
                    [score + 9 * (place == row) for place, score in enumerate(scores)]
                    for row, scores in zip((np.arange(len(log.gold)) % 4).tolist(), log.scores, strict=True)
                ],
            )
        ),
    ),
    "the same log under two names": Fault(
        "identical-results", ("choices", "texts", "inspect", "csv", "helm"), _pair(lambda log: log)
    ),
    "examples duplicated 5 times": Fault(
        "duplicated-examples",
        WITH_TEXTS,
        _changed(lambda log: replace(log.select([*range(20)] * 5), ids=log.ids)),
    ),
    "a tenth of the examples duplicated": Fault(
        "duplicated-examples",
        WITH_TEXTS,
        _changed(lambda log: replace(log.select([*range(90), *range(10)]), ids=log.ids)),
    ),
    "first evaluated examples as demonstrations": Fault(
        "own-demonstration", WITH_TEXTS, _changed(_own_demonstrations)
    ),
    "demonstrations from the evaluated split": Fault(
        "evaluated-demonstrations", WITH_TEXTS, _changed(_own_demonstrations)
    ),
    "the beginning of long prompts truncated": Fault("truncated-prompts", WITH_TEXTS, _changed(_cut_begin)),
    "the end of long prompts truncated": Fault("truncated-prompts", WITH_TEXTS, _changed(_cut_end)),
    "truncation that the tool records": Fault(
        "truncated-prompts",
        ("inspect", "helm", "lighteval"),
        _changed(
            lambda log: replace(log, stop_reasons=_first(8, log.stop_reasons, lambda _: "model_length"))
        ),
    ),
    "outputs cut off": Fault(
        "cut-off-outputs",
        ("inspect", "helm"),
        _changed(lambda log: replace(log, stop_reasons=_first(40, log.stop_reasons, lambda _: "max_tokens"))),
    ),
    "empty outputs": Fault(
        "empty-outputs",
        WITH_OUTPUTS,
        _changed(
            lambda log: replace(
                log,
                outputs=_first(30, log.outputs, lambda _: ""),
                answers=_first(30, log.answers, lambda _: "[invalid]"),
            )
        ),
    ),
    "the same output for all prompts": Fault(
        "same-output",
        WITH_OUTPUTS,
        _changed(
            lambda log: replace(
                log, outputs=[log.outputs[0]] * len(log.outputs), answers=[log.answers[0]] * len(log.answers)
            )
        ),
    ),
    "a filter that extracts nothing": Fault(
        "no-answer-extracted",
        ("texts", "inspect"),
        _changed(lambda log: replace(log, answers=["[invalid]"] * len(log.answers))),
    ),
    "the question is missing in the prompt": Fault(
        "same-prompt",
        WITH_TEXTS,
        _changed(
            lambda log: replace(log, contexts=[log.contexts[0].rpartition("Question")[0]] * len(log.contexts))
        ),
    ),
    "a recorded accuracy that disagrees": Fault(
        "recorded-results", ("choices", "texts"), _changed(lambda log: replace(log, accuracy=0.99))
    ),
    "some examples missing": Fault(
        "missing-examples",
        ("choices", "texts", "inspect", "csv", "lighteval"),
        _changed(lambda log: log.select([place for place in range(100) if place % 15 != 3])),
    ),
    "examples missing in one of two runs": Fault(
        "missing-examples",
        ("choices", "texts", "inspect", "csv", "helm"),
        _pair(lambda log: log.select([place for place in range(100) if place % 5 != 2])),
    ),
    "another number of choices in one of two runs": Fault(
        "number-of-choices",
        ("choices", "csv"),
        _pair(
            lambda log: replace(
                log,
                choices=[texts[:3] for texts in log.choices],
                scores=[row[:3] for row in log.scores],
                gold=[min(gold, 2) for gold in log.gold],
            )
        ),
    ),
    "another answer key in one of two runs": Fault(
        "different-gold-labels",
        ("choices",),
        _pair(lambda log: replace(log, gold=_first(10, log.gold, lambda gold: (gold + 1) % 4))),
    ),
    "other questions under the same numbers": Fault(
        "different-questions",
        WITH_TEXTS[:4],
        _pair(lambda log: replace(log, questions=_first(50, log.questions, lambda text: text + " Really?"))),
    ),
}
