"""Resources that a scoring job requests from a cluster, from the weights' size and the length of texts.

Rough on purpose: a queue takes whole gigabytes and minutes, and a job that needed more is run again with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.tables import read_table
from abovechance.study.prompts import null_target

GIB = 1024
# Megabytes of a Python process with its libraries, tables and what goes through the model at once.
PROCESS = 3 * GIB
# Bytes of a token of text, UTF-8; few tokenizers need more tokens than this gives.
BYTES_PER_TOKEN = 3.0
# Floating-point operations a second and thread of a slow processor, and of a slow accelerator: measured
# ones are several times as high (docs/performance.md), so that jobs end in the time they ask for.
PROCESSOR, ACCELERATOR = 2.5e10, 2e13
# Tokens a second of a slow server.
SERVER = 500.0
# Minutes for what is not scoring: starting, loading, holding the path against the definition.
START = 15


@dataclass(frozen=True)
class Demands:
    """The largest resources that one scoring job needs.

    Attributes
    ----------
    parameters
        Number of parameters of the model.
    stored
        Bytes of its weights as they lie on the disk.
    tokens
        About how many go through the model.
    served
        Whether a server runs the model, and the job needs no memory for it.
    """

    parameters: int
    stored: int
    tokens: int
    served: bool = False

    @classmethod
    def from_tables(
        cls,
        weights: str | Path,
        task: str | Path,
        evaluation_set: str | Path,
        prompts: Iterable[str | Path],
        null: bool = False,
    ) -> Demands:
        """From a job's input files; with ``null``, of the null-target prompts.

        Raises
        ------
        FileNotFoundError
            If one is not made yet.
        """
        prompt_files = list(map(Path, prompts))
        for path in map(Path, (weights, task, evaluation_set, *prompt_files)):
            path.stat()  # FileNotFoundError, by which Snakemake knows that it has to wait
        facts = _facts(weights)
        folder = Path(facts["folder"])
        examples, tables = read_table(Path(task)), [*map(read_table, prompt_files)]
        if null:
            tables = [null_target(examples, table)[1] for table in tables]
            examples = examples.assign(text=examples["null"])
        evaluated = examples[read_table(Path(evaluation_set))["evaluated"].to_numpy()]
        text_bytes = _bytes(evaluated["text"]) + sum(map(_bytes, evaluated["choices"]))
        # a prompt's text goes through the model once, then each example, then each of its choices
        read = sum(_bytes(table["text"]) + len(table) * text_bytes for table in tables)
        tokens = math.ceil(read / BYTES_PER_TOKEN)
        if facts.get("server"):
            return cls(0, 0, tokens, served=True)
        # quantized ones are stored two in a byte
        count = parameters(folder) * (2 if facts["quantized"] else 1)
        return cls(count, stored(folder), tokens)

    def memory_mb(self, accelerator: bool, attempt: int = 1) -> int:
        """Megabytes of main memory; half as many more for each attempt after the first.

        On an accelerator, weights go through main memory as they are stored. On processors they lie there
        with up to four bytes for each parameter, and half as much is needed besides.
        """
        weights = self.stored if accelerator else max(self.stored, 4 * self.parameters) * 1.5
        return _whole_gib((PROCESS + weights / 2**20) * (1 + attempt) / 2)

    def minutes(self, threads: int, accelerator: bool, attempt: int = 1) -> int:
        """Minutes; as many more for each attempt after the first."""
        if self.served:
            return math.ceil((START + self.tokens / SERVER / 60) * attempt)
        operations = 2.0 * self.parameters * self.tokens
        speed = ACCELERATOR if accelerator else PROCESSOR * threads
        return math.ceil((START + operations / speed / 60) * attempt)


def weights_mb(files: Iterable[str | Path], attempt: int = 1) -> int:
    """Megabytes of main memory for converting files, of which one may be a GGUF file.

    Such a file may have less than a byte for each parameter, and is made into four.
    """
    return _whole_gib((PROCESS + 14 * _size(files) / 2**20) * (1 + attempt) / 2)


def quantizing_mb(weights: str | Path, attempt: int = 1) -> int:
    """Megabytes of main memory for quantizing weights."""
    return _whole_gib((PROCESS + 3 * stored(Path(_facts(weights)["folder"])) / 2**20) * (1 + attempt) / 2)


def parameters(folder: Path) -> int:
    """Return how many numbers a folder's safetensors hold."""
    from safetensors import safe_open

    total = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="numpy") as file:
            shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
        total += sum(math.prod(shape) for shape in shapes)
    return total


def stored(folder: Path) -> int:
    """Bytes of a folder's safetensors."""
    return _size(folder.glob("*.safetensors"))


def _size(files: Iterable[str | Path]) -> int:
    return sum(Path(path).stat().st_size for path in files)


def _facts(weights: str | Path) -> dict[str, Any]:
    """Return the facts in a weights file, without importing PyTorch."""
    return json.loads(Path(weights).read_text(encoding="utf-8"))


def _bytes(texts: pd.Series[str] | Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def _whole_gib(megabytes: float) -> int:
    return math.ceil(megabytes / GIB) * GIB
