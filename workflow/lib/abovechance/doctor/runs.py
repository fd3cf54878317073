"""All checks on one run, and checks on several runs of one task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

import numpy as np
import pandas as pd

from abovechance.core.reading import exact_number
from abovechance.core.untrusted import printable
from abovechance.doctor.answers import LEAST_EXAMPLES, check_answers
from abovechance.doctor.suspicion import SEVERITIES, Suspicion, graded, of_examples
from abovechance.doctor.texts import check_texts, stems
from abovechance.results.predictions import UNKNOWN

Owner = TypeVar("Owner")

LEAST_ERRORS = 10  # common errors with which identical predictions are no coincidence
BY_ANSWERS = ("predictions", "correct answers")  # kinds of fingerprints that two models can share by chance
LEAST_OUTPUT = 20  # mean number of characters of outputs with which identical outputs are none


def examine(rows: pd.DataFrame, unscored: int = 0, is_drawn: bool = False, shots: int = 0) -> list[Suspicion]:
    """Return what is suspicious about the results of one model on one task, the gravest first.

    Parameters
    ----------
    rows
        A row per prompt and example, with the columns of ``importers.contract.Run.rows``.
    unscored
        Number of examples that the log has without a score.
    is_drawn
        True if the study evaluates a randomly drawn part of the examples.
    shots
        Number of demonstrations, which a prompt need not be evaluated on.
    """
    if rows.empty:
        return []
    rows = with_lists(rows)
    suspicions = [
        *check_answers(rows),
        *check_texts(rows, shots),
        *_repeated(rows),
        *_incomplete(rows, shots),
    ]
    if not is_drawn:
        suspicions += _missing_ids(rows)
    if severity := graded(unscored / (len(rows) + unscored), 0.02, 0.2):
        suspicions.append(
            Suspicion(
                "missing-examples",
                severity,
                f"{of_examples(unscored, len(rows) + unscored)} have no score and are left out",
                "examples may have failed, often the hard ones",
            )
        )
    return sorted(suspicions, key=lambda suspicion: SEVERITIES.index(suspicion.severity))


def with_lists(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which each cell of a column of lists is a list or None."""
    columns = [name for name in ("choices", "right", "logprobs") if name in rows]
    rows = rows.copy()
    for name in columns:
        cells = [cell if isinstance(cell, list | np.ndarray) else None for cell in rows[name]]
        rows[name] = pd.Series(cells, index=rows.index, dtype=object)
    return rows


def _missing_ids(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """Examples are numbered from 0 or 1, and some numbers are missing."""
    ids = rows["example"].astype(str).unique()
    if len(ids) < LEAST_EXAMPLES or not all(
        text.isascii() and text.isdecimal() and len(text) < 16 for text in ids
    ):
        return
    numbers = np.array([int(text) for text in ids], dtype=object)
    expected = int(max(numbers)) + 1 - min(int(min(numbers)), 1)
    missing = expected - len(ids)
    if 0 < missing <= 0.5 * expected:
        yield Suspicion(
            "missing-examples",
            "suspicious",
            f"examples are numbered up to {max(numbers)}, but {missing} of {expected} numbers "
            f"{_is(missing)} missing",
            "examples may have failed or been dropped, often the hard ones",
        )


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _repeated(rows: pd.DataFrame) -> Iterator[Suspicion]:
    """An example has several results under one prompt."""
    keys = ["prompt", "example"] if "prompt" in rows else ["example"]
    if repeated := int(rows.duplicated(keys).sum()):
        yield Suspicion(
            "repeated-results",
            "grave",
            f"{of_examples(repeated, len(rows))} repeat an example under the same prompt",
            "results of several runs, models or prompts may be mixed in one file",
        )


def _incomplete(rows: pd.DataFrame, shots: int) -> Iterator[Suspicion]:
    """A prompt lacks more examples of the other prompts than it can have as demonstrations."""
    if "prompt" not in rows:
        return
    evaluated, total = rows.groupby("prompt", sort=False)["example"].nunique(), rows["example"].nunique()
    if evaluated.min() < total - shots:
        fewest, lacking = printable(str(evaluated.idxmin())), total - int(evaluated.min())
        yield Suspicion(
            "missing-examples",
            "suspicious",
            f"{of_examples(lacking, total)} {_is(lacking)} missing under prompt '{fewest}'",
            "examples may have failed or been dropped, often the hard ones",
        )


@dataclass(frozen=True, eq=False)
class Examined:
    """The part of a run that is compared with other runs.

    Attributes
    ----------
    name
        The name of the run, for messages.
    task
        The name of the task.
    model
        The name of the model.
    metric
        The metric of its results.
    fingerprints
        {``bytes`` (of the file), ``predictions`` (``correct answers`` where these are unknown), ``scores`` or
        ``outputs``: a digest of all of them}. A kind
        is missing if the run does not have it or if it contains too little to identify a run.
    examples
        A row per example, with ``example`` as index: ``chance`` (probability of a lucky guess), ``choices``
        (their number, missing if unknown), ``question`` (digest) and ``gold`` (texts of all choices and of
        the correct ones, or the target of an example without choices); empty if unknown.
    """

    name: str
    task: str
    model: str
    metric: str
    fingerprints: dict[str, str]
    examples: pd.DataFrame


def summarize(name: str, task: str, model: str, rows: pd.DataFrame, metric: str = "accuracy") -> Examined:
    """Return the part of a run that is compared with other runs."""
    rows = with_lists(rows)
    keys = ["prompt", "example"] if "prompt" in rows else ["example"]
    ordered = rows.sort_values(keys, kind="stable")
    fingerprints = {}
    errors = len(rows) - int(rows["correct"].sum())
    constant = rows["predicted"].nunique() == 1 and rows["predicted"].iloc[0] >= 0
    if len(rows) >= LEAST_EXAMPLES and errors >= LEAST_ERRORS and rows["correct"].any() and not constant:
        kind = "predictions" if (rows["predicted"] != UNKNOWN).any() else "correct answers"
        fingerprints[kind] = _digest(ordered[["example", "predicted", "correct"]])
    if "logprobs" in rows and len(rows) >= 2 and rows["logprobs"].notna().all():
        values = ordered["logprobs"].map(lambda scores: tuple(np.asarray(scores).tolist()))
        if values.nunique() > 1:
            fingerprints["scores"] = _digest(ordered[["example"]].assign(scores=values.map(str)))
    if "output" in rows and rows["output"].notna().all():
        lengths = rows["output"].map(len)
        if lengths.mean() >= LEAST_OUTPUT and rows["output"].nunique() > 2:
            fingerprints["outputs"] = _digest(ordered[["example", "output"]])
    examples = rows.drop_duplicates("example")
    chance = examples["chance"].to_numpy(dtype=float)
    table = pd.DataFrame({"chance": np.round(chance, 9)}, index=examples["example"].astype(str))
    marks = examples["right"] if "right" in examples else [None] * len(examples)
    table["choices"] = [np.nan if flags is None else len(flags) for flags in marks]
    table["question"] = _digests(stems(examples)) if "question" in examples else ""
    table["gold"] = _gold_texts(examples)
    return Examined(name, task, model, metric, fingerprints, table)


def _digest(table: pd.DataFrame) -> str:
    values = pd.util.hash_pandas_object(table.astype(str), index=False).to_numpy()
    return hashlib.sha256(values.tobytes()).hexdigest()


def _digests(texts: list[str]) -> list[str]:
    """Return a digest of each text without its layout; empty texts stay empty."""
    squeezed = [" ".join(text.split()) for text in texts]
    return [text and hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16] for text in squeezed]


def _gold_texts(examples: pd.DataFrame) -> list[str]:
    """Return the texts of the correct choices of each example, behind those of all of its choices, sorted.

    An example without choices has its target behind none.
    """
    unknown = [None] * len(examples)
    columns = [examples.get(name, unknown) for name in ("choices", "right", "target")]
    golds = []
    for choices, marks, target in zip(*columns, strict=True):
        if choices is None or marks is None:
            golds.append(f"\0{target}" if choices is None and isinstance(target, str) and target else "")
            continue
        correct = sorted(text for text, is_right in zip(choices, marks, strict=True) if is_right)
        golds.append("\0".join(["\1".join(sorted(choices)), *correct]))
    return golds


def compare_runs(runs: Iterable[tuple[Owner, Examined]]) -> Iterator[tuple[Owner, Suspicion]]:
    """Yield what is suspicious about several runs, with the run that it is about.

    Parameters
    ----------
    runs
        Any object that stands for a run, with the output of ``summarize`` for it.
    """
    runs = list(runs)
    yield from _identical(runs)
    by_task: dict[str, dict[str, list[tuple[Owner, Examined]]]] = {}
    for owner, run in runs:
        by_task.setdefault(run.task, {}).setdefault(run.metric, []).append((owner, run))
    for by_metric in by_task.values():
        groups = [*by_metric.values(), [_fullest(group) for group in by_metric.values()]]
        for group in groups:
            _, fullest = _fullest(group)
            for owner, run in group:
                if run is not fullest:
                    for suspicion in _differences(run, fullest):
                        yield owner, suspicion


def _fullest(group: Iterable[tuple[Owner, Examined]]) -> tuple[Owner, Examined]:
    """Return the run with the most examples, with its owner."""
    return max(group, key=lambda owned: len(owned[1].examples))


def _identical(runs: list[tuple[Owner, Examined]]) -> Iterator[tuple[Owner, Suspicion]]:
    """Two runs, also of different tasks, have the same file, scores, outputs or predictions."""
    reported = []
    for kind in ("bytes", "scores", "outputs", *BY_ANSWERS):
        firsts: dict[str, Examined] = {}
        for owner, run in runs:
            digest = run.fingerprints.get(kind)
            if digest is None:
                continue
            first = firsts.setdefault(digest, run)
            differ = any(
                first.fingerprints.get(finer) != run.fingerprints.get(finer)
                for finer in ("scores", "outputs")
            )
            # a file can have several metrics of a model
            # imported results have other characters in the place of slashes
            has_same_model = first.model.replace("/", "--") == run.model.replace("/", "--")
            is_same_model = first.name == run.name and (kind == "bytes" or has_same_model)
            if is_same_model or run in reported or (kind in BY_ANSWERS and differ):
                continue
            reported.append(run)
            model = "the same model" if has_same_model else f"another model, {first.model}"
            yield (
                owner,
                Suspicion(
                    "identical-results",
                    "suspicious" if kind in BY_ANSWERS else "grave",
                    f"all {kind} are identical to those of {model} ({_place(first, run)})",
                    "one model may have been evaluated under two names, or one log copied"
                    + ", or both models may always give the same answer" * (kind == "correct answers"),
                ),
            )


def _place(run: Examined, seen_from: Examined) -> str:
    """Return where a run is, for a message about another one."""
    return run.name if run.name != seen_from.name else f"{run.model} in the same file"


def _differences(run: Examined, fullest: Examined) -> Iterator[Suspicion]:
    """Differences between the examples of two runs of one task.

    Other metrics can have other examples and choices, but not other questions.
    """
    common = run.examples.index.intersection(fullest.examples.index)
    first, second, place = run.examples.loc[common], fullest.examples.loc[common], _place(fullest, run)
    with_questions = (first["question"] != "") & (second["question"] != "")
    is_changed = with_questions & (first["question"] != second["question"])
    changed = int(is_changed.sum())
    texts, of_second = first["gold"].map(_as_number), second["gold"].map(_as_number)
    if changed >= 0.9 * max(len(common), 1):
        moved = int((is_changed & first["question"].isin(fullest.examples["question"])).sum())
        answers_changed = int(((first["gold"] != "") & (second["gold"] != "") & (texts != of_second)).sum())
        if moved >= 0.1 * len(common) or answers_changed >= 0.9 * len(common):
            yield _other_questions(changed, len(common), place)
            return
        changed = 0  # the template is another one, and not the questions
        # letters, or words that other examples have too, may stand for other choices there
        listed = first["gold"].map(_choices_of)
        is_masked = listed.duplicated(keep=False)
        # a text without choices may be written differently, unless it occurs in both, such as yes and no
        is_masked &= ~((listed == "") & texts.isin(of_second) & first["gold"].map(_is_word))
        first = first.assign(gold=first["gold"].mask(is_masked, ""))
    first = first.assign(gold=first["gold"].mask(texts == of_second, ""))  # 17 and 17.0
    is_same_metric = run.metric == fullest.metric
    if is_same_metric:
        yield from _missing_examples(run.examples.index, fullest.examples.index, place)
    if changed:
        yield _other_questions(changed, len(common), place)
    if is_same_metric and (changed := int(_choices_changed(first, second).sum())):
        yield Suspicion(
            "number-of-choices",
            "grave",
            f"{of_examples(changed, len(common))} have another number of choices than in {place}",
            "the runs may be of different versions of the task",
        )
    if len(common) and (changed := int(_gold_changed(first["gold"], second["gold"]).sum())):
        yield Suspicion(
            "different-gold-labels",
            "grave",
            f"{of_examples(changed, len(common))} have another gold label than in {place}",
            "the answer keys differ, so the scores measure different things",
        )


def _missing_examples(ids: pd.Index, fullest: pd.Index, place: str) -> Iterator[Suspicion]:
    """A run lacks examples of the run with the most examples, or names them differently."""
    missing, added = fullest.difference(ids, sort=False), ids.difference(fullest, sort=False)
    if missing.empty:
        return
    is_limit = [*ids] == [*fullest[: len(ids)]]
    cause = "examples may have failed or been dropped, often the hard ones"
    if len(added) >= 0.5 * len(missing):
        cause = "the runs may be of other examples, or name them differently"
    by_reading = {_as_read(name): name for name in missing}
    pairs = [(name, by_reading[_as_read(name)]) for name in added if _as_read(name) in by_reading]
    if len(pairs) >= 0.5 * len(missing):
        first, second = (printable(str(name)) for name in pairs[0])
        cause = f"the ids may be written differently, such as '{first}' and '{second}'"
    yield Suspicion(
        "missing-examples",
        "note" if is_limit else "suspicious",
        f"{of_examples(len(missing), len(fullest))} of {place} {_is(len(missing))} missing",
        "the run may have a limit of examples" if is_limit else cause,
    )


def _as_read(name: object) -> str:
    """Return an id without what may differ between two files: spaces, capital letters and leading zeros."""
    text = str(name).strip().casefold()
    return text.removesuffix(".0").lstrip("0") or "0"


def _other_questions(changed: int, examples: int, place: str) -> Suspicion:
    return Suspicion(
        "different-questions",
        "grave" if changed >= 0.1 * examples else "suspicious",
        f"{of_examples(changed, examples)} have another question than in {place}",
        "the examples may be numbered or ordered differently, or be of another task with the same name, so "
        "pairs do not match",
    )


def _choices_changed(first: pd.DataFrame, second: pd.DataFrame) -> pd.Series:
    """Return whether the numbers of choices differ, or if they are unknown, the chances."""
    counted = first["choices"].notna() & second["choices"].notna()
    with_chance = first["chance"].notna() & second["chance"].notna()
    return (first["choices"] != second["choices"]).where(
        counted, with_chance & (first["chance"] != second["chance"])
    )


def _is_word(gold: str) -> bool:
    """Return whether a gold label is more than a letter or a digit, which may be that of a choice."""
    return len(gold.strip("\0 ")) > 1


def _as_number(gold: str) -> Decimal | str:
    """Return a gold label without choices as a number, if it is one."""
    value = exact_number(gold.strip("\0 "))
    return gold if value is None else value


def _choices_of(gold: str) -> str:
    """Return the choices in a text of ``Examined.examples``' column ``gold``."""
    return gold.partition("\0")[0]


def _gold_changed(first: pd.Series, second: pd.Series) -> pd.Series:
    """Return whether the gold labels of two runs differ although the choices are the same."""
    has_same_choices = first.map(_choices_of) == second.map(_choices_of)
    return has_same_choices & (first != second) & (first != "") & (second != "")
