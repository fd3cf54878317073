"""The scores of one (model, task, shots): a journal while the job runs, then one file.

The journal is a file of JSON lines: first what the scores belong to, then a line
a prompt. A job that is killed leaves whole lines and perhaps a torn one, which
is dropped when the next job goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from abovechance.core.tables import TableSchema, read_made_from, read_table

SCORES = TableSchema(
    "scores",
    {
        "prompt": pa.int64(),
        "example": pa.string(),
        "choice": pa.int64(),
        "logprob": pa.float64(),
        "tokens": pa.int64(),
        "characters": pa.int64(),
        "bytes": pa.int64(),
    },
)


class ScoreStore:
    """Scores of prompts, kept as soon as they are known.

    Parameters
    ----------
    path
        The final Parquet file. The journal lies beside it.
    identity
        What the scores depend on besides the prompt: model, precision, code. Scores of another
        identity are not used.
    earlier
        Identities that count as the same: their scores are used.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.path = path
        self.journal = path.with_suffix(".journal")
        self.identity = dict(identity)
        self._same = [self.identity, *map(dict, earlier)]
        self._lines: dict[str, dict[str, Any]] = {}
        self._recover_file()
        self._recover_journal()

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def add(self, key: str, rows: pd.DataFrame | None, facts: Mapping[str, Any]) -> None:
        """Keep one prompt's scores, or None for a prompt that was left out, with facts on them.

        Parameters
        ----------
        key
            Digest of the prompt and the examples it is evaluated on.
        rows
            The columns of the scores table but for ``prompt``.
        """
        line = {"key": key, "rows": None if rows is None else rows.to_dict("list"), **facts}
        if not self.journal.exists():
            self.journal.parent.mkdir(parents=True, exist_ok=True)
            self.journal.write_text(json.dumps(self.identity) + "\n", encoding="utf-8")
        with self.journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(line) + "\n")
        self._lines[key] = line

    def finish(self, keys: list[str], made_from: Mapping[str, Any]) -> None:
        """Write the file with the prompts of these keys, in this order, and drop the journal."""
        parts = []
        for prompt, key in enumerate(keys):
            rows = self._lines[key]["rows"]
            if rows is not None:
                parts.append(pd.DataFrame({"prompt": prompt, **rows}))
        columns = ["prompt", "example", "choice", "logprob", "tokens", "characters", "bytes"]
        table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
        facts = {key: {k: v for k, v in self._lines[key].items() if k != "rows"} for key in keys}
        stored = {**made_from, "identity": self.identity, "prompts": list(facts.values())}
        SCORES.write(table, self.path, stored)
        self.journal.unlink(missing_ok=True)

    def _recover_file(self) -> None:
        """Take the prompts of an earlier final file of the same identity."""
        if not self.path.exists():
            return
        made_from = read_made_from(self.path)
        if made_from.get("identity") not in self._same:
            return
        table = read_table(self.path)
        by_prompt = dict(tuple(table.groupby("prompt", sort=False)))
        for prompt, facts in enumerate(made_from["prompts"]):
            rows = by_prompt.get(prompt)
            kept = None if rows is None else rows.drop(columns="prompt").to_dict("list")
            self._lines[facts["key"]] = {**facts, "rows": kept}

    def _recover_journal(self) -> None:
        """Take the whole lines of a killed job's journal; discard one of another identity."""
        if not self.journal.exists():
            return
        head, *lines = self.journal.read_bytes().split(b"\n")
        torn = lines.pop() if lines else head  # what follows the last line break was cut off
        if (not lines and torn is head) or json.loads(head) not in self._same:
            self.journal.unlink()
            return
        for line in lines:
            entry = json.loads(line)
            self._lines[entry["key"]] = entry
        if torn:
            with self.journal.open("r+b") as journal:
                journal.truncate(self.journal.stat().st_size - len(torn))
