"""Adds verdicts to the aggregate records of Every Eval Ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.chance.published_scores import judge_scores
from abovechance.chance.rounding import decimals
from abovechance.core.errors import InputError
from abovechance.core.reading import as_written_by, read_json
from abovechance.extensions.verdicts import verdict_of
from abovechance.importers.contract import Options, Run, UnsupportedMetric, check_recorded, examined
from abovechance.importers.every_eval_ever import (
    OTHER_SCORE,
    PERCENT,
    TOOL,
    metric_name,
    place_of,
    read,
    rows_of,
)
from abovechance.metrics.names import accepts_several, is_other_metric, is_share_of_correct

PREFIX = "abovechance."
# The fields of ``score_details.details``, whose values are texts.
FIELDS = (
    "prompts",
    "chance_level",
    "maximum_baseline",
    "p_value",
    "better_than_chance",
    "interval",
    "confidence",
    "suspicions",
)


def is_record(path: Path) -> bool:
    """Return whether a file is an aggregate record."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(100_000)
    return all(key in head for key in (b'"schema_version"', b'"evaluation_id"')) and b"{" in head[:100]


REASON = "reason"  # for having no verdict
NO_ACCURACY = "the metric is not a share of correct answers"
NO_ROWS = "the rows of samples contain no 0 or 1 for each example of this result"
NO_CHANCE = "there are no rows of samples; use --chance or --choices"
NO_COUNT = "the record does not contain the number of samples"
NO_ID = "several results have the same evaluation_result_id, or none, so the rows may be of any of them"
SEVERAL = "the metric accepts several guesses, and --choices gives the chance of one; use --chance"
COUNTED = "num_samples"  # of the uncertainty, where a verdict added it
REPEATED = "samples have several rows each; expected one row per sample"


def annotate(
    path: Path, prompts: int = 1, chance: float | None = None, of_one_guess: bool = False
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return an aggregate record with a verdict on each result, and the verdicts, or reasons for having none.

    The rows of samples are used if the file next to the record exists. Otherwise, the record must contain
    the number of samples, and the chance must be given. Verdicts are fields of ``score_details.details``
    that begin with ``abovechance.``; those of an earlier verdict are dropped. If there is one prompt and the
    record has no confidence interval, that of Clopper and Pearson is added in ``score_details.uncertainty``.
    All other fields stay the same.

    Parameters
    ----------
    path
        An aggregate record, ``<uuid>.json``.
    prompts
        Number of prompts tried; each result is that of the best one.
    chance
        Probability of a lucky guess, for results whose rows do not contain it.
    of_one_guess
        Whether this is the probability of one guess: it is not used for metrics that accept several.

    Raises
    ------
    InputError
        If the record or its rows are wrong.
    """
    with as_written_by(TOOL, str(path)):
        record = read_json(path)
        results, model = record["evaluation_results"], str(record["model_info"]["id"])
        times = Counter(map(place_of, results))
        other_metrics = {place_of(result) for result in results if _is_other(result)}
    runs = _runs(path, other_metrics)
    other_metrics |= {place for place, run in runs.items() if OTHER_SCORE in run.suspicions}
    has_rows = rows_of(path) is not None
    verdicts = []
    for result in results:
        with as_written_by(TOOL, str(path)):
            task, name = place_of(result)
            details = result["score_details"]
            verdict: dict[str, Any]
            unit = PERCENT if result["metric_config"].get("max_score") == PERCENT else 1
            _drop_earlier(details, unit)
            if (task, name) in other_metrics:
                verdict = {REASON: NO_ACCURACY}
            elif of_one_guess and accepts_several(metric_name(result)):
                verdict = {REASON: SEVERAL}
            elif (run := runs.get((task, name))) is not None:
                if times[task, name] > 1:
                    verdict = {REASON: NO_ID}
                elif run.rows["example"].duplicated().any():
                    verdict = {REASON: REPEATED}
                else:
                    verdict = verdict_of(run, prompts, chance)
            elif has_rows:
                verdict = {REASON: NO_ROWS}
            else:
                verdict = _of_aggregate(details, result, prompts, chance)
            if REASON not in verdict:
                _add(details, verdict, unit)
        verdicts.append({"model": model, "task": task, "metric": name, **verdict})
    return record, verdicts


def _runs(path: Path, other_metrics: Set[tuple[str, str]]) -> dict[tuple[str, str], Run]:
    """Return the runs of the rows next to a record by evaluation and result id, as far as there are some.

    Parameters
    ----------
    other_metrics
        Results that are no shares of correct answers, so the rows need not agree with them.
    """
    if (rows := rows_of(path)) is None:
        return {}
    try:
        with as_written_by(TOOL, str(rows)):
            runs = [examined(run) for run in read(rows, Options(command="doctor"))]
    except UnsupportedMetric:  # of all results
        return {}
    by_place = {(run.task, run.metric): run for run in runs}
    for place, run in by_place.items():
        if place not in other_metrics:
            check_recorded(run)
    return by_place


def _of_aggregate(
    details: dict[str, Any], result: dict[str, Any], prompts: int, chance: float | None
) -> dict[str, Any]:
    """Return the verdict on a reported accuracy without rows, or the reason for having none.

    There is none if the number of samples is unknown, or if the metric's name or its scale is not that of a
    share of correct answers.
    """
    count = (details.get("uncertainty") or {}).get("num_samples") or (result.get("source_data") or {}).get(
        "samples_number"
    )
    score, digits = float(details["score"]), decimals(repr(float(details["score"])).removesuffix(".0"))
    config = result["metric_config"]
    scale = config.get("max_score", 1)
    is_accuracy = is_share_of_correct(metric_name(result)) and config.get("min_score", 0) == 0
    # JSON omits trailing zeros, and scores have at least the precision of whole per cent
    digits = max(digits, 0 if scale == PERCENT else 2)
    if scale == PERCENT:
        score, digits = score / PERCENT, digits + 2
    if not is_accuracy or scale not in (1, PERCENT) or not 0 <= score <= 1:
        return {REASON: NO_ACCURACY}
    if chance is None:
        return {REASON: NO_CHANCE}
    if not isinstance(count, int) or count < 1:
        return {REASON: NO_COUNT}
    row = {"best_accuracy": score, "examples": count, "chance": chance, "prompts": prompts}
    judged = judge_scores(pd.DataFrame([row | {"digits": digits}])).table.iloc[0]
    return {
        "examples": count,
        "accuracy": score,
        "interval": None,
        "confidence": None,
        "prompts": prompts,
        "chance_level": chance,
        "maximum_baseline": float(judged["maximum_baseline"]),
        "p_value": float(judged["maximum_tail"]),
        "better_than_chance": str(judged["better_than_chance"]),
        "suspicions": [],
    }


def _is_other(result: dict[str, Any]) -> bool:
    """Return whether its direction or its name shows that a result is not a share of correct answers."""
    return bool(result["metric_config"]["lower_is_better"]) or is_other_metric(metric_name(result))


def _drop_earlier(details: dict[str, Any], unit: int) -> None:
    """Drop the fields of an earlier verdict from the details of a score; ``unit`` is that of the score."""
    fields, uncertainty = details.get("details") or {}, details.get("uncertainty") or {}
    interval = uncertainty.get("confidence_interval") or {}
    dropped = set()
    shares = [float(end) for end in str(fields.get(f"{PREFIX}interval") or "").split("; ") if end]
    ends = [interval.get("lower"), interval.get("upper")]
    # before 0.2, the ends were shares for every score
    if shares and ends in (shares, [unit * share for share in shares]):
        dropped.add("confidence_interval")
    if fields.get(PREFIX + COUNTED) == str(uncertainty.get(COUNTED)):
        dropped.add(COUNTED)
    if dropped:
        details["uncertainty"] = {name: value for name, value in uncertainty.items() if name not in dropped}
        if not details["uncertainty"]:
            del details["uncertainty"]
    if fields:
        details["details"] = {name: text for name, text in fields.items() if not name.startswith(PREFIX)}


def _add(details: dict[str, Any], verdict: dict[str, Any], unit: int) -> None:
    """Add the fields of a verdict to the details of a score; the interval has the score's unit."""
    fields = {f"{PREFIX}version": version("abovechance")}
    for name in FIELDS:
        value = verdict[name]
        if value not in (None, []):
            fields[PREFIX + name] = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
    uncertainty = details.get("uncertainty") or {}
    if verdict["interval"] and "confidence_interval" not in uncertainty:
        low, high = (unit * end for end in verdict["interval"])
        uncertainty["confidence_interval"] = {
            "lower": low,
            "upper": high,
            "confidence_level": verdict["confidence"],
            "method": "Clopper-Pearson",
        }
        if uncertainty.get(COUNTED) is None:
            uncertainty[COUNTED] = verdict["examples"]
            fields[PREFIX + COUNTED] = str(verdict["examples"])
        details["uncertainty"] = uncertainty
    details["details"] = (details.get("details") or {}) | fields


def records_in(paths: list[Path]) -> list[tuple[Path, Path]]:
    """Return the aggregate records in files and folders, each with its path below the given one.

    Raises
    ------
    InputError
        If a path contains no record.
    """
    records = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        of_path = [file for file in files if is_record(file)]
        if not of_path:
            raise InputError(f"{path}: has no aggregate record of {TOOL}; expected <uuid>.json")
        records += [(file, file.relative_to(path) if path.is_dir() else Path(file.name)) for file in of_path]
    return records
