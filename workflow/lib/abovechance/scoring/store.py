"""The scores of one (model, task, shots): a journal while the job runs, then a store and a scores file.

The journal has a line a prompt, each whole by itself: what the scores depend on, the scores, and a
checksum. A job that is killed leaves whole lines and perhaps a torn one. A line that cannot be read, or
a file that cannot, counts as missing and is reported.

The scores file has exactly the prompts that the study asks for. It is an output of the workflow: Snakemake
deletes it before its job starts, and again if the job fails, so that it is never left from another config.
The store next to it is no output. It has every prompt that was ever scored, also of another number of
prompts or another revision of the model, and the job takes from there what is asked for. If the study asks
for all of them, both names are of one file and take no more space.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.columns import Column
from abovechance.core.errors import InputError
from abovechance.core.files import append, is_one_file, link
from abovechance.core.tables import TableSchema, read_made_from, read_table, setting_columns
from abovechance.study.prompts import null_target, prompt_keys

SCORES = TableSchema(
    "scores",
    {
        "prompt": Column.whole("number of the prompt, from 0"),
        "example": Column.text("id of the example"),
        "choice": Column.whole("number of the choice, from 0"),
        "logprob": Column.number(
            "sum of the log-likelihoods of the choice's tokens, each given all earlier tokens",
            "nats",
        ),
        "tokens": Column.whole("length of the choice in tokens"),
        "characters": Column.whole("length of the choice in characters, with its leading space"),
        "bytes": Column.whole("length of the choice in bytes, with its leading space"),
    },
    "One row per prompt, example and choice.",
    file="scores/<model>/<task>/<shots>-shot.parquet",
)
LEFT_OUT = TableSchema(
    "left_out",
    {
        **setting_columns(),
        "prompts": Column.whole("number of prompts drawn"),
        "left_out": Column.whole(
            "number of drawn prompts that are left out, because they are longer than the model's context"
        ),
        "longest": Column.whole("tokens of the longest prompt left out; 0 if no prompt is left out"),
    },
    "One row per setting.",
    file="left_out.parquet, tables/left_out",
)
OF_PROMPT = [column for column in SCORES.columns if column != "prompt"]
TOO_LONG = "too_long"  # a prompt's fact: its tokens, where it was left out for them
STORE = ".store.parquet"


@dataclass(frozen=True)
class Scored:
    """The stored scores of one prompt.

    Attributes
    ----------
    identity
        Everything besides the prompt that the scores depend on: model, precision, code.
    key
        Digest of the prompt and the examples it is evaluated on.
    rows
        The columns of the scores table but for ``prompt``; None where the prompt was left out.
    facts
        Other facts, by name.
    """

    identity: Mapping[str, Any]
    key: str
    rows: pd.DataFrame | None
    facts: Mapping[str, Any]

    @property
    def name(self) -> tuple[str, str]:
        """The key of a prompt: equal for equal prompts only."""
        return json.dumps(self.identity, sort_keys=True), self.key


class ScoreStore:
    """Scores of prompts, kept as soon as they are known.

    Parameters
    ----------
    path
        The scores file. The journal and the store lie next to it.
    identity
        Everything besides the prompt that the scores depend on. Scores of another identity are stored, but
        not used.
    earlier
        Identities that count as the same: their scores are used.
    report
        Is told of what cannot be read.
    """

    def __init__(
        self,
        path: Path,
        identity: Mapping[str, Any],
        earlier: Sequence[Mapping[str, Any]] = (),
        report: Callable[[str], None] = print,
    ) -> None:
        self.path, self.store, self.journal = path, store_of(path), path.with_suffix(".journal")
        self.identity = dict(identity)
        equivalent = [self.identity, *map(dict, earlier)]
        self._stored: dict[str, Scored] = {}
        self._unmatched: dict[tuple[str, str], Scored] = {}
        files = [path] if is_one_file(path, self.store) else [self.store, path]
        for source in (*(_read_file(file, report) for file in files), self._read_journal(report)):
            for scored in source:
                if scored.identity in equivalent:
                    self._stored[scored.key] = scored
                else:
                    self._unmatched[scored.name] = scored

    def __contains__(self, key: str) -> bool:
        return key in self._stored

    def left_out(self, key: str) -> int | None:
        """Return how many tokens the prompt of this key has if it was left out; else None."""
        scored = self._stored.get(key)
        return int(scored.facts[TOO_LONG]) if scored is not None and scored.rows is None else None

    def rows(self, key: str) -> pd.DataFrame | None:
        """Return the scores of the prompt of this key; None if it has none."""
        return self._stored[key].rows if key in self._stored else None

    def add(self, key: str, rows: pd.DataFrame | None, facts: Mapping[str, Any]) -> None:
        """Keep one prompt's scores, or None for a prompt that was left out, with facts on them."""
        scored = Scored(self.identity, key, rows, dict(facts))
        append(self.journal, _line(scored))
        self._stored[key] = scored

    def finish(self, keys: Sequence[str], made_from: Mapping[str, Any]) -> None:
        """Write the scores file with the prompts of these keys, in this order, and drop the journal.

        The store then has these and all others. Wherever this is interrupted, nothing is lost.
        """
        selected = [self._stored[key] for key in keys]
        every = {
            scored.name: scored for scored in (*self._unmatched.values(), *self._stored.values(), *selected)
        }
        alone = len(every) == len({scored.name for scored in selected})
        if not alone:
            facts = [{"identity": dict(scored.identity)} for scored in every.values()]
            _write_file(self.store, [*every.values()], facts, {})
        _write_file(self.path, selected, [{}] * len(keys), {**made_from, "identity": self.identity})
        if alone:
            link(self.path, self.store)
        self.journal.unlink(missing_ok=True)

    def _read_journal(self, report: Callable[[str], None]) -> Iterator[Scored]:
        """Yield the whole lines of a killed job's journal; from the torn one behind them the file is cut."""
        if not self.journal.exists():
            return
        content = self.journal.read_bytes()
        *lines, torn = content.split(b"\n")
        broken = [place for place, line in enumerate(lines, start=1) if _parsed(line) is None]
        if broken:
            message = f"{len(broken)} of {len(lines)} lines cannot be read, the first is line {broken[0]}"
            report(f"{self.journal}: {message}; these prompts are scored again")
        if torn:
            with self.journal.open("r+b") as journal:
                journal.truncate(len(content) - len(torn))
        yield from (scored for line in lines if (scored := _parsed(line)) is not None)


def store_of(path: Path) -> Path:
    """Return the file next to a scores file with every prompt that was ever scored for it."""
    return path.with_name(path.stem + STORE)


def _line(scored: Scored) -> bytes:
    """Return a prompt as a line of a journal: a checksum and JSON."""
    rows = None if scored.rows is None else scored.rows[OF_PROMPT].to_dict("list")
    entry = {"identity": dict(scored.identity), "key": scored.key, "facts": dict(scored.facts), "rows": rows}
    text = json.dumps(entry).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes) -> Scored | None:
    """Return the prompt of a line; None where the line is not as it was written."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    entry = json.loads(text)
    rows = None if entry["rows"] is None else pd.DataFrame(entry["rows"])
    return Scored(entry["identity"], entry["key"], rows, entry["facts"])


def _write_file(
    path: Path,
    prompts: Sequence[Scored],
    facts: Iterable[Mapping[str, Any]],
    made_from: Mapping[str, Any],
) -> None:
    """Write prompts as one table, numbered from 0, with what is known of each in its metadata."""
    parts = [
        scored.rows.assign(prompt=number)
        for number, scored in enumerate(prompts)
        if scored.rows is not None and not scored.rows.empty
    ]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*SCORES.columns])
    entries = [
        {"key": scored.key, **scored.facts, **more} for scored, more in zip(prompts, facts, strict=True)
    ]
    # how prompts were computed is the same for many
    runs: list[Any] = []
    for entry in entries:
        if "run" in entry:
            if entry["run"] not in runs:
                runs.append(entry["run"])
            entry["run"] = runs.index(entry["run"])
    SCORES.write(table, path, {**made_from, "runs": runs, "prompts": entries})


def _read_file(path: Path, report: Callable[[str], None]) -> Iterator[Scored]:
    """Yield the prompts of a file; none where there is no file, or none that can be read."""
    if not path.exists():
        return
    try:
        made_from, table = read_made_from(path), read_table(path)
        prompts: list[dict[str, Any]] = made_from["prompts"]
        runs: list[Any] = made_from.get("runs", [])
        of_all = made_from.get("identity", {})
        by_prompt = {number: rows[OF_PROMPT] for number, rows in table.groupby("prompt", sort=False)}
        tables = [
            Scored(entry.get("identity", of_all), entry["key"], by_prompt.get(number), _facts(entry, runs))
            for number, entry in enumerate(prompts)
        ]
    except (InputError, KeyError, IndexError, TypeError, ValueError) as error:
        report(f"{path}: cannot be read ({error}); its prompts are scored again")
        return
    # a prompt without rows was left out; if not, its rows are lost
    yield from (scored for scored in tables if scored.rows is not None or TOO_LONG in scored.facts)


def _facts(entry: Mapping[str, Any], runs: Sequence[Any]) -> dict[str, Any]:
    facts = {name: value for name, value in entry.items() if name not in ("key", "identity")}
    return facts | ({"run": runs[facts["run"]]} if "run" in facts else {})


def read_requested(path: Path, task: pd.DataFrame, evaluation: pd.DataFrame, prompts: Path) -> pd.DataFrame:
    """Return the table ``scores`` of a file, which has the scores of these prompts on these examples.

    Parameters
    ----------
    task, evaluation, prompts
        The tables ``tasks`` and ``evaluation_sets``, and the file of the table ``prompts``.

    Raises
    ------
    InputError
        If the file has the scores of other prompts or examples, or is damaged.
    """
    made_from, prompts_table = read_made_from(path), read_table(prompts)
    if made_from.get("null"):
        task, prompts_table = null_target(task, prompts_table)
    keys = prompt_keys(task, evaluation, prompts_table)
    scored = [entry["key"] for entry in made_from["prompts"]]
    if scored != keys:
        missing = len({*keys} - {*scored})
        raise InputError(
            f"{path}: expected the scores of the {len(keys)} prompts of {prompts} on the study's examples; "
            f"got {len(scored)} prompts, and {missing} of these are missing; delete {path} and run again: "
            "prompts that were scored before are not scored again"
        )
    return read_table(path)


def both_scored(
    scores: Path, null: Path, prompts: Path, task: pd.DataFrame, evaluation: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables ``scores`` of prompts, and of the same without inputs, if neither was left out.

    See ``read_requested``.
    """
    null_prompts = read_made_from(null)["prompts"]
    left_out = [number for number, entry in enumerate(null_prompts) if TOO_LONG in entry]
    given_scores, null_scores = (read_requested(path, task, evaluation, prompts) for path in (scores, null))
    common = given_scores["prompt"].unique()
    return given_scores[~given_scores["prompt"].isin(left_out)], null_scores[
        null_scores["prompt"].isin(common)
    ]


def left_out(path: Path) -> dict[str, int]:
    """Return the columns of ``LEFT_OUT`` of a scores file."""
    prompts = read_made_from(path)["prompts"]
    tokens = [entry[TOO_LONG] for entry in prompts if TOO_LONG in entry]
    return {"prompts": len(prompts), "left_out": len(tokens), "longest": max(tokens, default=0)}
