"""Candidates from files: results of GEPA, trial logs of DSPy, and CSV files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.best.candidates import Candidates
from abovechance.core.arrays import Floats, Ints
from abovechance.core.csv_table import SHARE, CsvTable, whole_number
from abovechance.core.errors import InputError, located
from abovechance.core.reading import as_written_by, heading, number, read_json

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
        return "candidate" in [name.strip().lower() for name in heading(path)]
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
        value = _score(value, f"{path}, val_aggregate_scores {candidate}")
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
        if len(lengths) != 1 or lengths == {0}:
            raise InputError(
                f"{path}: subscores have {sorted(lengths)} values; expected equal numbers above 0"
            )
        scores = [
            [_score(score, f"{path}, candidate {name}") for score in program["subscores"]]
            for name, program in zip(names, programs, strict=True)
        ]
        for name, row, program in zip(names, scores, programs, strict=True):
            mean, reported = 100 * float(np.mean(row)), float(program["score"])
            if abs(mean - reported) > 0.011:  # DSPy rounds to two decimals
                raise InputError(
                    f"{path}: candidate {name} has a mean of subscores of {mean:.6g} per cent, but a score "
                    f"of {reported:.6g}; expected the same"
                )
        # sorted by score in DSPy; the seeds are the order in which they were tried
        order = sorted(range(len(names)), key=lambda place: (number(names[place]) or 0, place))
        return _checked(path, np.array(scores)[order], [names[place] for place in order], None)
    raise InputError(
        f"{path}: its programs have no `subscores`; expected those of BootstrapFewShotWithRandomSearch, or "
        "the `trial_logs` of MIPROv2"
    )


@dataclass
class Program:
    """A program that MIPROv2 tried, in one trial or in several.

    Attributes
    ----------
    name
        The first trial that evaluated it.
    full
        Its different scores on the whole validation set. A score that occurs again is the same evaluation.
    total, calls
        The sum of its scores on minibatches, and the number of their examples.
    """

    name: str
    full: dict[float, int] = field(default_factory=dict)
    total: float = 0.0
    calls: int = 0

    @property
    def minibatch_mean(self) -> float:
        """The mean score on minibatches; -1 if there is none."""
        return self.total / self.calls if self.calls else -1.0


def _from_trials(trials: Mapping[str, Any], path: Path) -> ReportedScores:
    """The scores of the programs that MIPROv2 tried, each with the number of its examples.

    Trials of the same program are one candidate. A program that has no score on the whole validation set has
    the mean score of its minibatches.
    """
    programs: dict[tuple[Any, ...], Program] = {}
    before = 0
    for trial, log in sorted(trials.items(), key=lambda item: int(item[0])):
        kind = next((key for key in ("full_eval_score", "mb_score", "score") if key in log), None)
        total = log.get("total_eval_calls_so_far")
        if kind is None or total is None:
            continue
        calls, before = int(total) - before, int(total)
        if calls < 1:
            raise InputError(
                f"{path}: total_eval_calls_so_far does not increase at trial {trial}; expected the number of "
                "evaluations up to each trial"
            )
        score = _score(float(log[kind]) / 100, f"{path}, trial {trial}")
        program = programs.setdefault(_program_of(log, trial, programs), Program(f"trial {trial}"))
        if kind == "full_eval_score":
            program.full.setdefault(score, calls)
        else:
            program.total, program.calls = program.total + score * calls, program.calls + calls
    rows = []
    for program in programs.values():
        rows += [(program.name, score, calls) for score, calls in program.full.items()]
        if not program.full:
            rows.append((program.name, program.minibatch_mean, program.calls))
    if len(rows) < 2:
        raise InputError(f"{path}: has {len(rows)} programs with a score; expected at least two")
    if 0 < max(score for _, score, _ in rows) <= 0.01:
        raise InputError(f"{path}: all scores are at most 1; expected per cent, as DSPy writes them")
    names, scores, examples = zip(*rows, strict=True)
    return ReportedScores(_unique(names), np.array(scores), np.array(examples))


def _program_of(
    log: Mapping[str, Any], trial: Any, programs: Mapping[tuple[Any, ...], Program]
) -> tuple[Any, ...]:
    """Return what identifies the program of a trial: its text, and the numbers of its instructions and demos.

    A full evaluation of a program from minibatches has no such numbers. Of several programs with its text, it
    is the one with the best minibatches, because MIPROv2 evaluates that one next.
    """
    text = next((log[key] for key in ("full_eval_program", "mb_program", "program") if log.get(key)), None)
    numbers = tuple(sorted((key, str(value)) for key, value in log.items() if "_predictor_" in key))
    if text is None and not numbers:
        return ("trial", trial)
    if numbers:
        # instruction 0 is the one that the search starts with, whose own trial has no number
        is_start = all("instruction" in key and number == "0" for key, number in numbers)
        return (text,) if is_start and (text,) in programs else (text, *numbers)
    same_text = [key for key in programs if key[0] == text]
    return max(
        same_text, key=lambda key: (not programs[key].full, programs[key].minibatch_mean), default=(text,)
    )


def _unique(names: Sequence[str]) -> list[str]:
    """Return names of which repeated ones have a number."""
    times: Counter[str] = Counter()
    unique = []
    for name in names:
        times[name] += 1
        unique.append(name if times[name] == 1 else f"{name} ({times[name]})")
    return unique


def _from_csv(path: Path) -> Candidates | ReportedScores:
    table = CsvTable.read(path)
    has_answers = "example" in table.texts
    needed, optional = (ANSWERS, ["cluster"]) if has_answers else (SCORES, [])
    table.check_columns(needed, optional, LOOKS_LIKE)
    table = table.with_names("candidate", "example", "cluster")
    table.check_unique("candidate", "example")
    scores = table.values("score", SHARE)
    if has_answers:
        return from_rows(table.texts.assign(score=scores), path)
    sizes = np.array(table.values("examples", whole_number(1)), dtype=np.int64)
    return ReportedScores(table.texts["candidate"].tolist(), np.array(scores), sizes)


def from_rows(table: pd.DataFrame, place: Path | str, shots: int = 0) -> Candidates:
    """Return candidates from rows with ``candidate``, ``example``, ``score`` and optionally ``cluster``.

    Parameters
    ----------
    shots
        Number of demonstrations. If no prompt lacks more examples of the others than these, prompts are
        compared by their scores, as in verdicts; otherwise, by standardized ones.

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
    comparable = int(np.isnan(scores).sum(axis=1).max(initial=0)) <= shots
    return _checked(place, scores, list(map(str, names)), clusters, comparable)


def _checked(
    place: Path | str, scores: Floats, names: list[str], clusters: Any, comparable: bool = False
) -> Candidates:
    with located(place):
        return Candidates.from_scores(scores, names, clusters, comparable)


def _score(value: Any, place: str) -> float:
    """Return a score; InputError with its place if it is not a number from 0 to 1."""
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = np.nan
    if not 0 <= score <= 1:
        hint = " (per cent?)" if 1 < score <= 100 else ""
        raise InputError(f"{place}: score is {repr(value)[:40]}{hint}; expected a number from 0 to 1")
    return score
