"""Candidates from files: results of GEPA, trial logs of DSPy, and CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.best.candidates import Candidates
from abovechance.core.arrays import Floats, Ints
from abovechance.core.errors import InputError, nearest
from abovechance.core.reading import as_written_by, heading, number, read_csv_texts, read_json, whole

GEPA, DSPY = "GEPA (`GEPAResult.to_dict()`)", "DSPy (`trial_logs` or `candidate_programs`)"
ANSWERS = ("candidate", "example", "score")
SCORES = ("candidate", "score", "examples")
LOOKS_LIKE = (
    f"a CSV with the columns {', '.join(ANSWERS)} (and optionally cluster), or {', '.join(SCORES)}; or "
    "JSON of GEPA or DSPy"
)


@dataclass(frozen=True)
class ReportedScores:
    """The scores of candidates without the answers to each example.

    Attributes
    ----------
    names
        (candidates,) their names, in the order in which they were tried.
    scores
        (candidates,) mean scores in [0, 1].
    examples
        (candidates,) on how many examples.
    """

    names: list[str]
    scores: Floats
    examples: Ints


def is_candidates_file(path: Path) -> bool:
    """Return whether a file is one that ``read_candidates`` reads, by its heading or its keys."""
    if not path.is_file():
        return False
    if path.suffix == ".csv":
        return "candidate" in heading(path)
    return path.suffix == ".json" and _tool(read_json(path)) is not None


def read_candidates(path: Path) -> Candidates | ReportedScores:
    """Return the candidates of a file, in the order in which they were tried.

    Raises
    ------
    InputError
        With file, and row or key, if something in it is wrong.
    """
    if path.suffix == ".csv":
        return _from_csv(path)
    content = read_json(path)
    tool = _tool(content)
    if tool is None:
        raise InputError(f"{path}: is not known; expected {LOOKS_LIKE}")
    with as_written_by(tool, str(path)):
        return _from_gepa(content, path) if tool == GEPA else _from_dspy(content, path)


def _tool(content: Any) -> str | None:
    """Return the tool whose results a JSON file has."""
    if isinstance(content, dict):
        if "val_subscores" in content:
            return GEPA
        if {"trial_logs", "candidate_programs"} & {*content} or _is_trial_logs(content):
            return DSPY
    is_programs = isinstance(content, list) and content and all(isinstance(row, dict) for row in content)
    return DSPY if is_programs and all("score" in row for row in content) else None


def _is_trial_logs(content: Mapping[str, Any]) -> bool:
    trials = [trial for trial in content.values() if isinstance(trial, dict)]
    return len(trials) == len(content) > 0 and any("full_eval_score" in trial for trial in trials)


def _from_gepa(content: Mapping[str, Any], path: Path) -> Candidates:
    """The validation scores of a GEPA search; its first candidate is the seed."""
    subscores = [
        scores if isinstance(scores, dict) else dict(enumerate(scores)) for scores in content["val_subscores"]
    ]
    examples = {str(example): place for place, example in enumerate(dict.fromkeys(_keys(subscores)))}
    scores = np.full((len(subscores), len(examples)), np.nan)
    for candidate, by_example in enumerate(subscores):
        for example, score in by_example.items():
            scores[candidate, examples[str(example)]] = _score(
                score, f"{path}, val_subscores {candidate}, example {example}"
            )
    candidates = _checked(path, scores, list(map(str, range(len(subscores)))), None)
    reported = content.get("val_aggregate_scores") or []
    for candidate, (mean, value) in enumerate(zip(candidates.means, reported, strict=False)):
        if abs(mean - value) > 1e-6:
            raise InputError(
                f"{path}: candidate {candidate} has a mean score of {mean:.6g}, but val_aggregate_scores has "
                f"{value:.6g}; expected the mean of val_subscores"
            )
    return candidates


def _keys(rows: Sequence[Mapping[Any, Any]]) -> list[Any]:
    return [key for row in rows for key in row]


def _from_dspy(content: Any, path: Path) -> Candidates | ReportedScores:
    """The trials of MIPROv2 or the programs of a random search; DSPy's scores are in per cent."""
    if isinstance(content, dict) and "candidate_programs" not in content:
        return _from_trials(content.get("trial_logs", content), path)
    programs = content if isinstance(content, list) else content["candidate_programs"]
    names = [str(program.get("seed", place)) for place, program in enumerate(programs)]
    names = names if len({*names}) == len(names) else list(map(str, range(len(names))))
    if all("subscores" in program for program in programs):
        lengths = {len(program["subscores"]) for program in programs}
        if len(lengths) != 1:
            raise InputError(f"{path}: subscores have {sorted(lengths)} values; expected equal numbers")
        scores = [
            [_score(score, f"{path}, candidate {name}") for score in program["subscores"]]
            for name, program in zip(names, programs, strict=True)
        ]
        # sorted by score in DSPy; the seeds are the order in which they were tried
        order = sorted(range(len(names)), key=lambda place: (number(names[place]) or 0, place))
        return _checked(path, np.array(scores)[order], [names[place] for place in order], None)
    raise InputError(
        f"{path}: its programs have no `subscores`; expected those of BootstrapFewShotWithRandomSearch, or "
        "the `trial_logs` of MIPROv2"
    )


def _from_trials(trials: Mapping[str, Any], path: Path) -> ReportedScores:
    """The scores of MIPROv2's trials, each with the number of examples that it cost."""
    names, scores, examples, before = [], [], [], 0
    for trial, log in sorted(trials.items(), key=lambda item: int(item[0])):
        kind = next((key for key in ("full_eval_score", "mb_score", "score") if key in log), None)
        total = log.get("total_eval_calls_so_far")
        if kind is None or total is None:
            continue
        names.append(f"trial {trial}")
        scores.append(_score(float(log[kind]) / 100, f"{path}, trial {trial}"))
        examples.append(int(total) - before)
        before = int(total)
    if len(names) < 2:
        raise InputError(f"{path}: has {len(names)} trials with a score; expected at least two")
    if min(examples) < 1:
        trial = names[int(np.argmin(examples))]
        raise InputError(
            f"{path}: total_eval_calls_so_far does not increase at {trial}; expected the number of "
            "evaluations up to each trial"
        )
    return ReportedScores(names, np.array(scores), np.array(examples))


def _from_csv(path: Path) -> Candidates | ReportedScores:
    table = read_csv_texts(path)
    has_answers = "example" in table
    _check_columns(table, path)
    rows = zip(table.index, table["score"], strict=True)
    values = [_score(number(text), f"{path}, row {row}", text) for row, text in rows]
    if has_answers:
        return from_rows(table.assign(score=values), path)
    sizes = [whole(text) for text in table["examples"]]
    for row, size, text in zip(table.index, sizes, table["examples"], strict=True):
        if size is None or size < 1:
            raise InputError(f"{path}, row {row}: examples is '{text}'; expected a number from 1")
    return ReportedScores(table["candidate"].tolist(), np.array(values), np.array(sizes, dtype=np.int64))


def _check_columns(table: pd.DataFrame, path: Path) -> None:
    """Raise InputError if a column is unknown or missing, a name is empty, or a row is repeated."""
    needed = ANSWERS if "example" in table else SCORES
    known_columns = [*needed, *(["cluster"] if "example" in table else [])]
    for column in table.columns:
        if column not in known_columns:
            raise InputError(f"{path}: column '{column}' is unknown; {nearest(column, known_columns)}")
    for column in needed:
        if column not in table:
            raise InputError(f"{path}: lacks the column '{column}'; expected {LOOKS_LIKE}")
    for column in {"candidate", "example", "cluster"} & {*table}:
        table[column] = table[column].str.strip()
        if (empty := table[column] == "").any():
            raise InputError(f"{path}, row {table.index[empty][0]}: {column} is empty")
    keys = [name for name in ("candidate", "example") if name in table]
    if (repeated := table.duplicated(keys)).any():
        row = table.index[repeated][0]
        raise InputError(
            f"{path}, row {row}: {' and '.join(keys)} are those of an earlier row; expected one row for each"
        )


def from_rows(table: pd.DataFrame, place: Path | str) -> Candidates:
    """Return candidates from rows with ``candidate``, ``example``, ``score`` and optionally ``cluster``.

    Raises
    ------
    InputError
        If an example has several clusters, or see ``Candidates.from_scores``.
    """
    candidate, names = pd.factorize(table["candidate"])
    example, examples = pd.factorize(table["example"])
    scores = np.full((len(names), len(examples)), np.nan)
    scores[candidate, example] = table["score"]
    clusters = None
    if "cluster" in table:
        of_example = table.groupby(example)["cluster"]
        if (several := of_example.nunique() > 1).any():
            raise InputError(f"{place}: example '{examples[int(np.argmax(several))]}' has several clusters")
        clusters = of_example.first().to_numpy()
    return _checked(place, scores, list(map(str, names)), clusters)


def _checked(place: Path | str, scores: Floats, names: list[str], clusters: Any) -> Candidates:
    try:
        return Candidates.from_scores(scores, names, clusters)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _score(value: Any, place: str, text: str | None = None) -> float:
    """Return a score; InputError with its place if it is not a number from 0 to 1."""
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = np.nan
    if not 0 <= score <= 1:
        hint = " (per cent?)" if 1 < score <= 100 else ""
        quoted = text if text is not None else repr(value)[:40]
        raise InputError(f"{place}: score is {quoted}{hint}; expected a number from 0 to 1")
    return score
