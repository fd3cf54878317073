"""inspect: ``.eval`` logs, a zip file of JSON files, or the same log as one ``.json``.

A sample that its scorer could not score (no score, or nan) is not a wrong one: it is left out
and counted. Files in the archive are compressed with Zstandard, which Python's zipfile
reads from 3.14 on; here Arrow does.
"""

from __future__ import annotations

import json
import math
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from abovechance.core.errors import InputError
from abovechance.core.reading import read_json
from abovechance.importers.contract import Options, Run, files_below

LOOKS_LIKE = "inspect's .eval log"
ZSTANDARD = 93
VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def find(path: Path) -> list[Path]:
    """The logs in a path: .eval files, or .json files that are such logs."""
    logs = files_below(path, "*.eval")
    if path.is_file() and path.suffix == ".json":
        log = read_json(path)
        return [path] if isinstance(log, dict) and {"eval", "samples"} <= set(log) else []
    return logs


def read(path: Path, options: Options) -> Iterator[Run]:
    """The one run of a log."""
    log, samples = _log(path)
    if log.get("status") not in (None, "success"):
        raise InputError(
            f"{path}: its status is '{log['status']}'; right would be an evaluation that ended well"
        )
    chosen = [sample for sample in samples if sample.get("epoch", 1) == options.epoch]
    notes = []
    epochs = {sample.get("epoch", 1) for sample in samples}
    if len(epochs) > 1:
        notes.append(f"{path.name}: of {len(epochs)} epochs, epoch {options.epoch} is used (--epoch)")
    scorer = _scorer(chosen, path, options)
    rows = [_row(sample, scorer, path) for sample in chosen]
    scored = [row for row in rows if row is not None]
    if len(scored) < len(rows):
        notes.append(f"{path.name}: {len(rows) - len(scored)} samples without a score are left out")
    setting = log.get("eval", {})
    shots = (setting.get("task_args") or {}).get("fewshot", 0)
    yield Run(
        str(path),
        str(setting.get("model", "model")),
        str(setting.get("task", path.stem)).rpartition("/")[2],
        int(shots) if str(shots).isdigit() else 0,
        pd.DataFrame(scored, columns=["example", "predicted", "correct", "tie", "chance"]),
        notes,
    )


def _log(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The log's header and samples."""
    if path.suffix == ".json":
        log = read_json(path)
        return log, log["samples"] or []
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise InputError(f"{path}: has no header.json; was the evaluation stopped before its end?")
            members = [name for name in names if name.startswith("samples/")]
            header, *samples = (_member(path, archive.getinfo(name)) for name in ["header.json", *members])
    except zipfile.BadZipFile as error:
        raise InputError(f"{path}: is not an archive ({error}); was the file cut off?") from None
    return header, samples


def _member(path: Path, member: zipfile.ZipInfo) -> Any:
    """A JSON file of the archive, in whichever way it is compressed."""
    if member.compress_type != ZSTANDARD:
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read(member))
    with path.open("rb") as file:
        file.seek(member.header_offset)
        # a zip file's local header: 30 bytes, the last four of them the lengths of name and extra field
        name, extra = struct.unpack("<HH", file.read(30)[26:30])
        file.seek(name + extra, 1)
        packed = file.read(member.compress_size)
    return json.loads(pa.decompress(packed, member.file_size, "zstd", asbytes=True))


def _scorer(samples: list[dict[str, Any]], path: Path, options: Options) -> str:
    """The name of the scorer that decides: the one asked for, or the first there is."""
    names = list(dict.fromkeys(name for sample in samples for name in sample.get("scores") or {}))
    if not names:
        raise InputError(f"{path}: no sample of epoch {options.epoch} has a score")
    wanted = options.metric or names[0]
    if wanted not in names:
        raise InputError(f"{path}: has no scorer '{wanted}'; right would be --metric {' or '.join(names)}")
    return wanted


def _row(sample: dict[str, Any], scorer: str, path: Path) -> dict[str, object] | None:
    """A sample's row; None where it was not scored."""
    score = (sample.get("scores") or {}).get(scorer) or {}
    raw = score.get("value")
    value = VALUES.get(raw, raw) if isinstance(raw, str) else raw
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, bool | int | float) or float(value) not in (0.0, 0.5, 1.0):
        raise InputError(
            f"{path}, sample {sample.get('id')}: {scorer} is {raw!r}; right would be correct or incorrect"
        )
    choices = sample.get("choices") or []
    target = sample.get("target")
    correct = len(target) if isinstance(target, list) else 1
    answer = str(score.get("answer") or "")
    return {
        "example": str(sample["id"]),
        "predicted": ord(answer) - ord("A") if len(answer) == 1 and "A" <= answer <= "Z" else -1,
        "correct": float(value) == 1,
        "tie": float(value) == 0.5,
        "chance": correct / len(choices) if choices else float("nan"),
    }
