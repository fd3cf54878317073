"""How fast scoring is, beside how it is usually done, beside what the machine can do.

All four are measured in one run, on the same model, precision and prompts; (a) and (b) on some of a
prompt's strings, as many times longer as all its tokens are more:

a. the paper's way: a row for each choice, padded, 8 rows at a time;
b. lm-evaluation-harness's Hugging Face backend, where it is installed, on the same strings;
c. this engine;
d. the limit: the tokens that have to be computed, at the rate at which this machine multiplies
   matrices of the model's shapes in this precision, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from abovechance.core.files import write_json, write_text
from abovechance.core.tables import read_table
from abovechance.scoring import models, products
from abovechance.scoring.algorithms import Paths, score
from abovechance.scoring.engine import pack_tokens
from abovechance.scoring.tokens import PromptStrings, Tokens, tokenize
from abovechance.scoring.weights import Weights, load_tokenizer
from abovechance.study.prompts import draw_prompts, evaluated_on, evaluation_set


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """How many seconds ``run`` takes, accelerators waited for, and what it gives."""
    begin = time.perf_counter()
    result = run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begin, result


ROWS = 8  # of a batch, in (a) and (b)


def padded_batches(tokens: Tokens) -> list[range]:
    """The places of each batch's strings in the order of the file."""
    return [
        range(begin, min(begin + ROWS, len(tokens.sequences)))
        for begin in range(0, len(tokens.sequences), ROWS)
    ]


def padded_size(tokens: Tokens, batches: list[range]) -> int:
    """How many tokens batches have, padding included."""
    return sum(len(batch) * max(len(tokens.sequences[at]) for at in batch) for batch in batches)


def spread(items: list[Any], count: int) -> list[Any]:
    """As many of the items, at even distances."""
    return [items[at] for at in np.unique(np.linspace(0, len(items) - 1, count).round().astype(int))]


@torch.inference_mode()
def score_as_the_paper_did(model: PreTrainedModel, tokens: Tokens, batches: list[range]) -> list[float]:
    """A row for each choice, padded to the longest of its batch."""
    results = []
    for places in batches:
        batch = [torch.tensor(tokens.sequences[at]) for at in places]
        ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True).to(model.device)
        mask = (torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in batch])[:, None]).long()
        logits = model(ids, attention_mask=mask.to(model.device)).logits
        logprobs = logits[:, :-1].float().log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0].cpu()
        for row, start in enumerate(tokens.starts[at] for at in places):
            results.append(float(logprobs[row, start - 1 : len(batch[row]) - 1].sum()))
    return results


def score_with_harness(
    model: PreTrainedModel, tokenizer: object, tokens: Tokens, places: list[int]
) -> Callable[[], object]:
    """lm-evaluation-harness's own scoring of (context, continuation) tokens, ready to run."""
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=ROWS)
    requests = [
        (("", ""), tokens.sequences[at][: tokens.starts[at]], tokens.sequences[at][tokens.starts[at] :])
        for at in places
    ]
    return lambda: harness._loglikelihood_tokens(requests, disable_tqdm=True)


@torch.inference_mode()
def seconds_a_token(model: PreTrainedModel, rows: int) -> tuple[float, float]:
    """Seconds that the products of one token take, and those of one row of logits, at best."""
    weights = [
        module.wide if isinstance(module, products.WideLinear) else module.weight
        for module in model.modules()
        if isinstance(module, torch.nn.Linear | products.WideLinear)
    ]
    shapes, dtype = [tuple(weight.shape) for weight in weights], weights[0].dtype
    times = {}
    for shape in set(shapes):
        weight = torch.randn(shape, dtype=dtype, device=model.device)
        inputs = torch.randn(rows, shape[1], dtype=dtype, device=model.device)
        torch.nn.functional.linear(inputs, weight)
        times[shape] = min(timed(lambda: torch.nn.functional.linear(inputs, weight))[0] for _ in range(7))  # noqa: B023
    head = shapes[-1]  # the language model's head comes last
    layers = sum(times[shape] for shape in shapes[:-1])
    return layers / rows, times[head] / rows


def some_cells(folder: Path, tasks: list[str], shots: list[int], examples: int) -> list[tuple]:
    """(task, shots, strings) with one prompt each, of tasks that a study has read."""
    cells = []
    for name in tasks:
        task = read_table(folder / f"{name}.parquet")
        evaluation = evaluation_set(task, name, 0, examples)
        for count in shots:
            prompt = draw_prompts(task, evaluation, name, 0, count, 1).iloc[0]
            chosen = task.set_index("example").loc[evaluated_on(evaluation, prompt["demonstrations"])]
            cells.append((name, count, PromptStrings.from_examples(prompt["text"], chosen)))
    return cells


def measure(
    model: PreTrainedModel, path: str, tokenizer: object, strings: PromptStrings, rows: int, harness: bool
) -> dict[str, float]:
    """Seconds of (a) to (d) on one prompt's strings, of (a) and (b) from about ``rows`` of them."""
    tokens = tokenize(tokenizer, strings)
    trie = tokens.trie
    limit = pack_tokens(model)
    token, row = seconds_a_token(model, min(limit, len(trie)))
    batches = padded_batches(tokens)
    subset = spread(batches, max(1, rows // ROWS))
    places = [at for batch in subset for at in batch]
    naive, expected = timed(lambda: score_as_the_paper_did(model, tokens, subset))
    by_name: dict[str, float] = {"strings": len(tokens.sequences), "tokens": sum(map(len, tokens.sequences))}
    by_name["a"] = naive * padded_size(tokens, batches) / padded_size(tokens, subset)
    if harness:
        chosen = spread(list(range(len(tokens.sequences))), len(places))
        seconds, _ = timed(score_with_harness(model, tokenizer, tokens, chosen))
        by_name["b"] = seconds * by_name["tokens"] / sum(len(tokens.sequences[at]) for at in chosen)
    # with everything a job does for a prompt: tokenizing, the trie, the scores
    by_name["c"], computed = timed(lambda: score(model, tokenize(tokenizer, strings), path, limit))
    return {
        **by_name,
        "d": token * int(trie.inner.sum()) + row * len(np.unique(trie.parents[trie.scored_nodes])),
        "trie": len(trie),
        "computed": computed.tokens,
        "difference": float(np.abs(computed.logprobs[places] - expected).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    default = next(Path("results/weights").glob("*/weights.json"), None)
    parser.add_argument("--weights", type=Path, default=default, help="a weights.json of the workflow")
    parser.add_argument("--precision", default="bfloat16", choices=list(models.DTYPES))
    parser.add_argument("--tasks", type=Path, default=Path("results/speed/tasks"))
    parser.add_argument("--task", nargs="+", help="those of the folder unless told otherwise")
    parser.add_argument("--shots", nargs="+", type=int, default=[2])
    parser.add_argument("--examples", type=int, default=60, help="the most of a task")
    parser.add_argument("--rows", type=int, default=24, help="strings that (a) and (b) are measured on")
    parser.add_argument("--output", type=Path, default=Path("results/bench/scoring"))
    options = parser.parse_args()
    try:
        import lm_eval  # noqa: F401

        harness = True
    except ImportError:
        print("lm-eval is not installed, so (b) is left out: pip install -r envs/requirements-bench.txt")
        harness = False
    weights = Weights.read(options.weights)
    model, tokenizer = models.load(weights, options.precision), load_tokenizer(weights)
    tasks = options.task or sorted(path.stem for path in options.tasks.glob("*.parquet"))
    path, rows = Paths.for_model(model).path, []
    for task, shots, strings in some_cells(options.tasks, tasks, options.shots, options.examples):
        cell = measure(model, path, tokenizer, strings, options.rows, harness)
        rows.append({"task": task, "shots": shots, **cell})
        print(json.dumps(rows[-1]), flush=True)
    table = pd.DataFrame(rows)
    ways = [way for way in "abcd" if way in table]
    summary = table.groupby("shots")[ways].sum()
    summary.loc["all"] = summary.sum()
    for part in (summary, table):
        for way in ways[:-2]:
            part[f"{way} / c"] = part[way] / part["c"]
        part["d / c"] = part["d"] / part["c"]
    facts = {**models.describe(model), "precision": options.precision, "threads": torch.get_num_threads()}
    write_json(
        {"facts": facts, "cells": rows, "summary": summary.to_dict("index")},
        options.output.with_suffix(".json"),
    )
    text = f"{facts}\n\n{summary.round(2).to_markdown()}\n\n{table.round(3).to_markdown(index=False)}\n"
    write_text(text, options.output.with_suffix(".md"))
    print(text)


if __name__ == "__main__":
    main()
