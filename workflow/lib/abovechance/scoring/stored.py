"""The scores in a study's folder, and which of them its config requests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.files import link
from abovechance.core.reading import read_yaml
from abovechance.core.settings import Setting
from abovechance.core.tables import read_made_from
from abovechance.scoring.store import STORE, store_of
from abovechance.study.kinds import KINDS, kinds_of


def stored(study: Path) -> pd.DataFrame:
    """List the scores in a study's folder.

    Returns
    -------
    DataFrame
        One row a scores file: ``model``, ``task``, ``shots``; ``kind`` of prompts, see ``study.kinds``;
        ``in_config``, whether the study's latest config requests the setting and kind, or a run that has not
        ended may have requested it; ``prompts`` in the study; ``kept``, the number of further prompts that
        no config requests; ``megabytes`` of both; ``path``.

    Raises
    ------
    InputError
        If the folder is no study's, or a file in it cannot be read.
    """
    if not (study / "scores").is_dir():
        raise InputError(
            f"{study}: has no scores; expected the folder of a study that scores models, such as "
            "results/default"
        )
    config_file = study / "config.yaml"
    config = read_yaml(config_file) if config_file.is_file() else {}
    written = config_file.stat().st_mtime if config_file.is_file() else -math.inf
    rows = []
    files = [(kind, path) for kind in KINDS for path in _scores_files(study / kind.scores)]
    for kind, path in files:
        shots = path.stem.removesuffix("-shot")
        if not shots.isdecimal():
            continue
        # scores newer than the config may be of a run that has not ended: the config is written at the end
        is_newer = any(file.is_file() and file.stat().st_mtime > written for file in (path, store_of(path)))
        setting = Setting(path.parent.parent.name, path.parent.name, int(shots))
        prompts, every = (_prompts(file) for file in (path, store_of(path)))
        in_config = is_newer or (kind in kinds_of(config) and _asks(config, setting))
        # without a scores file, a later run may use any prompt in the store
        all_used = is_newer or (in_config and not path.is_file())
        rows.append(
            setting._asdict()
            | {
                "kind": kind.name,
                "in_config": in_config,
                "prompts": prompts,
                "kept": 0 if all_used else max(every - prompts, 0),
                "megabytes": _bytes([path, store_of(path)]) / 1e6,
                "path": path,
            }
        )
    columns = [*Setting._fields, "kind", "in_config", "prompts", "kept", "megabytes", "path"]
    return pd.DataFrame(rows, columns=columns)


def _scores_files(folder: Path) -> list[Path]:
    """Return the scores files in a folder, also those of settings that have a store only, so far."""
    stores = folder.glob(f"*/*/*-shot{STORE}")
    of_stores = (path.with_name(path.name.removesuffix(STORE) + ".parquet") for path in stores)
    return sorted({*folder.glob("*/*/*-shot.parquet"), *of_stores})


def made_from(files: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the scores of one model were made from, according to its scores files.

    Returns
    -------
    dict
        ``model``, ``revision`` and ``precision``; ``tokenizer``, a digest of its files, where that is
        known; and ``runs``, the ways in which prompts were computed.
    """
    facts: dict[str, Any] = {}
    runs: list[Any] = []
    for file_facts in files:
        facts |= {name: file_facts[name] for name in ("model", "revision", "precision")}
        facts |= {
            name: value for name, value in file_facts.get("identity", {}).items() if name == "tokenizer"
        }
        runs += [run for run in file_facts["runs"] if run not in runs]
    return {**facts, "runs": runs}


def _asks(config: Mapping[str, Any], setting: Setting) -> bool:
    task = config.get("tasks", {}).get(setting.task)
    if setting.model not in config.get("models", {}) or task is None:
        return False
    # a task as it is written is its source alone, and has the study's numbers of shots
    shots = task.get("shots") if isinstance(task, Mapping) else None
    return setting.shots in (config.get("shots", []) if shots is None else shots)


def drop_unrequested(files: pd.DataFrame) -> int:
    """Delete the scores in a table of ``stored`` that the study does not ask for; return the freed bytes."""
    freed = 0
    for path, in_config, further in zip(files["path"], files["in_config"], files["kept"], strict=True):
        before = _bytes([path, store_of(path)])
        if in_config and further:
            link(path, store_of(path))
        elif not in_config:
            path.unlink(missing_ok=True)
            store_of(path).unlink(missing_ok=True)
        freed += before - _bytes([path, store_of(path)])
    return freed


def _prompts(path: Path) -> int:
    return len(read_made_from(path).get("prompts", [])) if path.is_file() else 0


def _bytes(names: Iterable[Path]) -> int:
    """Return the size of files on the disk; one with two names counts once."""
    files = {file.st_ino: file.st_size for file in (path.stat() for path in names if path.is_file())}
    return sum(files.values())
