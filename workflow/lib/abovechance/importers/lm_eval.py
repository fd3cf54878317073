"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` beside ``results_<date>.json``.

Numbers are written as texts. A sample stands once for each filter of its task. In a
multiple-choice task, each choice is one request; its log-likelihood is recorded, so ties are
seen, which the tool itself gives to the first choice.

A sample's target is written as a text too, whatever it was: '1' may be the choice '1' or the
choice of that number. What a target means is tried on all samples of a file: the first reading under
which the likeliest choices are right where the tool recorded so is taken.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import as_written_by, read_json, read_json_lines
from abovechance.core.untrusted import named
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    UnsupportedMetric,
    judged,
    logged,
    metric_note,
    number_of_shots,
    recorded_row,
    text_or_none,
    tied,
    truth,
)

TOOL = "lm-evaluation-harness"
OPTIONS = ("metric", "filter")
LOOKS_LIKE = f"{TOOL}'s samples_<task>_<date>.jsonl (made with --log_samples)"
METRICS = ("acc", "exact_match", "acc_norm")
DEEPEST = 20  # levels of a document
# Ends of the names of fields that differ between copies of an example.
NO_TEXTS = ("id", "idx", "index", "key", "url", "link", "hash")
# Fields of a sample that are no metrics.
FIELDS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)


class UnknownTarget(InputError):
    """The log does not say which choice is correct."""


def find(path: Path) -> list[Path]:
    """Return the sample logs in a path."""
    return files_below(path, "samples_*.jsonl")


def read(path: Path, options: Options) -> Iterator[Run]:
    """Yield the one run of a sample log; for ``doctor``, a run for each of its filters."""
    samples = [_Sample(value, f"{path}, row {row}") for row, value in read_json_lines(path)]
    if not samples:
        raise InputError(f"{path}: has no samples")
    results = _Results.beside(path)
    _name_filters(samples, results)
    for filter_name in _filters(samples, path, options):
        chosen = [sample for sample in samples if sample.filter == filter_name]
        if options.command == "doctor" and options.metric and all(sample.scores for sample in chosen):
            yield from _with_predictions(chosen, path, results, options)
        else:
            yield _run(chosen, path, results, options)


def _with_predictions(
    chosen: list[_Sample], path: Path, results: _Results, options: Options
) -> Iterator[Run]:
    """Yield the run of a metric for ``doctor``, after that of log-likelihoods, which contains predictions."""
    try:
        of_likelihoods = [_run(chosen, path, results, replace(options, metric=None))]
    except UnknownTarget:
        of_likelihoods = []
    yield from of_likelihoods
    if not of_likelihoods or options.metric != "acc":
        yield _run(chosen, path, results, options)


@dataclass(frozen=True)
class _Results:
    """The file ``results_<date>.json`` beside a log.

    Attributes
    ----------
    file
        Its path; None if there is none.
    content
        What it contains.
    task, date
        From the name of the log.
    """

    file: Path | None
    content: dict[str, Any]
    task: str
    date: str

    @classmethod
    def beside(cls, path: Path) -> _Results:
        match = re.fullmatch(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl", path.name)
        task, date = match.groups() if match else (path.stem.removeprefix("samples_"), "")
        # results_<date>.json, or another name before the date where the tool was told one
        file = next(iter(sorted(path.parent.glob(f"*_{date}.json"))), None) if date else None
        with as_written_by(TOOL, str(file)):
            return cls(file, dict(read_json(file)) if file else {}, task, date)

    def of_task(self, key: str) -> dict[str, Any]:
        """Return what it has on the task."""
        with as_written_by(TOOL, str(self.file)):
            return dict(self.content.get(key, {}).get(self.task, {}))


def _name_filters(samples: list[_Sample], results: _Results) -> None:
    """Name the filters of a log that does not name them.

    Versions before 0.4.6 write all samples once for each filter, in the order in which results are listed.
    """
    if any("filter" in sample.fields for sample in samples):
        return
    names = list(dict.fromkeys(key.partition(",")[2] for key in results.of_task("results") if "," in key))
    blocks = Counter(sample.example for sample in samples)
    if {*blocks.values()} != {len(names)}:
        return
    times_seen: Counter[str] = Counter()
    for sample in samples:
        sample.filter = names[times_seen[sample.example]]
        times_seen[sample.example] += 1


def _run(chosen: list[_Sample], path: Path, beside: _Results, options: Options) -> Run:
    """Return the run of the samples of one filter."""
    notes = []
    task, date, results_file, results = beside.task, beside.date, beside.file, beside.content
    delimiter = beside.of_task("configs").get("target_delimiter")
    for sample in chosen:
        sample.delimiter = delimiter if isinstance(delimiter, str) else ""
    metric = _metric(chosen, options)
    rows = _rows(chosen, metric)
    if options.metric is None:
        notes += metric_note(path.name, _named(metric, chosen), _other_metrics(chosen, metric or "acc"))
    if ties := int(rows["tie"].sum()):
        notes.append(f"{path.name}: {tied(ties)}")
    elif metric == "acc" and (ties := sum(map(_is_tie, chosen))):
        notes.append(
            f"{path.name}: acc is as the tool recorded it; choices tie in {ties} of {len(chosen)} examples, "
            "where the tool chooses the first one (without --metric, ties count as wrong)"
        )
    if not results:
        notes.append(f"{path.name}: there is no results_{date}.json in its folder, so 0 shots are assumed")
    with as_written_by(TOOL, str(results_file)):
        shots = results.get("n-shot", {}).get(task) or 0
        shots = number_of_shots(shots, f"{results_file}, n-shot of {task}")
        model = results.get("model_name") or path.parent.name or "model"
        name = f"{metric or 'acc'},{chosen[0].filter}"
        if results.get("higher_is_better", {}).get(task, {}).get(metric or "acc") is False:
            raise UnsupportedMetric(
                f"{results_file}: {metric} is better if it is lower; expected an accuracy"
            )
        value = results.get("results", {}).get(task, {}).get(name)
        if not _is_mean(results.get("configs", {}).get(task, {}), metric or "acc"):
            value = None
        examples = results.get("n-samples", {}).get(task, {}).get("effective")
        reported = Reported(f"{results_file} ({name})", None if value is None else float(value), examples)
        if _is_selection(rows, reported):
            notes.append(
                f"{path.name}: has {len(rows)} of {examples} examples; {reported.place} is the mean of these"
            )
            reported = replace(reported, examples=None)
    return Run(str(path), str(model), task, shots, rows, notes, reported, _named(metric, chosen))


def _is_selection(rows: pd.DataFrame, reported: Reported) -> bool:
    """Return whether the rows are a selection of examples, of which the tool writes the whole number.

    The tool's own mean is then theirs. The first examples are no selection: the log may be cut off.
    """
    if reported.accuracy is None or "recorded" not in rows or reported.examples in (None, len(rows)):
        return False
    is_beginning = [*rows["example"]] == [*map(str, range(len(rows)))]
    return not is_beginning and abs(float(rows["recorded"].mean()) - reported.accuracy) < 1e-9


def _is_mean(config: dict[str, Any], metric: str) -> bool:
    """Return whether the tool reports a metric's mean, and nothing that is estimated from its values."""
    entries = [entry for entry in config.get("metric_list") or [] if entry.get("metric") == metric]
    return all(entry.get("aggregation") in (None, "mean", "nanmean") for entry in entries)


class _Sample:
    """One line of a log.

    Attributes
    ----------
    place
        File and row, for messages.
    example
        The example's id.
    scores
        The log-likelihood of each choice; none where the sample is not of a multiple-choice task.
    texts
        The choices as they were scored, behind the context; None where the log lacks one.
    delimiter
        What stands between context and choice.
    """

    delimiter = ""

    def __init__(self, value: Any, place: str) -> None:
        self.place = place
        with as_written_by(TOOL, place):
            if not isinstance(value, dict) or value.get("doc_id") is None:
                raise InputError(f"{place}: has no 'doc_id'; expected a sample of {TOOL}")
            self.fields: dict[str, Any] = value
            self.example = named(value["doc_id"], place)
            self.filter = str(value.get("filter", "none"))
            self.scores = self._scores()
            self.texts = self._texts()

    def _scores(self) -> list[float]:
        answers = self.fields.get("filtered_resps") or []
        if len(answers) < 2 or not all(isinstance(answer, list) and len(answer) == 2 for answer in answers):
            return []
        if "acc_mutual_info" in self.fields:
            answers = answers[: len(answers) // 2]  # the rest are without the context
        return [float(answer[0]) for answer in answers]

    def _texts(self) -> list[str | None]:
        requests = self.fields.get("arguments") or {}
        if isinstance(requests, dict):
            texts = [requests.get(f"gen_args_{i}", {}).get("arg_1") for i in range(len(self.scores))]
        else:  # older logs: a list of context and choice
            pairs = [request for request in requests if isinstance(request, list) and len(request) == 2]
            texts = [pairs[i][1] if i < len(pairs) else None for i in range(len(self.scores))]
        return [None if text is None else str(text) for text in texts]

    @property
    def evidence(self) -> dict[str, str | None]:
        """The columns ``EVIDENCE`` that the sample has."""
        requests = self.fields.get("arguments") or {}
        request = requests.get("gen_args_0") if isinstance(requests, dict) else requests[0]
        parts = [*request.values()] if isinstance(request, dict) else request
        context = text_or_none(parts[0]) if isinstance(parts, list) and parts else None
        question = text_or_none("\n".join(_texts_of(self.fields.get("doc"))))
        texts = {"question": question or None, "context": context}
        if self.scores:
            return texts
        response, answer = self.fields.get("resps"), self.fields.get("filtered_resps")
        while isinstance(response, list) and response:
            response = response[0]
        while isinstance(answer, list) and answer:
            answer = answer[0]
        return texts | {
            "output": text_or_none(response) if response else "",
            "answer": "" if answer in (None, []) else text_or_none(str(answer)),
            "target": text_or_none(str(self.fields.get("target", ""))),
        }

    @property
    def metrics(self) -> list[str]:
        """The metrics that the sample has values of."""
        listed = self.fields.get("metrics")
        names = listed if isinstance(listed, list) else [name for name in self.fields if name not in FIELDS]
        return [name for name in names if name in self.fields]

    def recorded(self, metric: str) -> bool:
        """Return whether the sample is correct by this metric."""
        if metric not in self.metrics:
            options = " or ".join(self.metrics) or "NAME"
            raise InputError(
                f"{self.place}: has no metric '{metric}'; use --metric {options}, or leave out this file"
            )
        return truth(self.fields[metric], metric, self.place)


def _filters(samples: list[_Sample], path: Path, options: Options) -> list[str]:
    """Return the names of the filters to read: one, or all of them for ``doctor``."""
    filters = list(dict.fromkeys(sample.filter for sample in samples))
    # a task of one filter needs no choice, whatever was asked for of the others
    filter_name = options.filter if options.filter and len(filters) > 1 else filters[0]
    if filter_name not in filters:
        raise InputError(f"{path}: has no filter '{filter_name}'; it has {', '.join(filters)}")
    if len(filters) > 1 and options.filter is None:
        if options.command == "doctor":
            return filters
        if options.command == "pvi":  # from log-likelihoods, which are the same for all
            return filters[:1]
        raise InputError(
            f"{path}: has the results of several filters, {', '.join(filters)}; choose one, such as "
            f"--filter {filters[0]}"
        )
    return [filter_name]


def _metric(samples: list[_Sample], options: Options) -> str | None:
    """Return the metric whose recorded values are taken; None where log-likelihoods decide."""
    if options.metric:
        return options.metric
    scored = all(sample.scores for sample in samples)
    # with log-likelihoods, exact_match compares the correct choice with all texts that could be generated
    names = sorted(METRICS, key=lambda name: scored and name == "exact_match")
    usual = next((name for name in names if any(name in sample.metrics for sample in samples)), None)
    if usual == "acc" and scored:
        return None
    graded = _other_metrics(samples, usual)
    if usual or not graded:
        return usual or (None if scored else METRICS[0])
    if len(graded) > 1:
        raise UnsupportedMetric(
            f"{samples[0].place}: has the metrics {', '.join(graded)}; use --metric {' or '.join(graded)}"
        )
    return graded[0]


def _named(metric: str | None, samples: list[_Sample]) -> str:
    """Return the metric's name, with that of the filter if the log has one, as in the tool's results."""
    name, filter_ = metric or "acc", samples[0].filter
    return name if filter_ == "none" else f"{name},{filter_}"


def _other_metrics(samples: list[_Sample], metric: str | None) -> list[str]:
    """Return the other metrics that say of each sample whether it is correct."""
    values: dict[str, list[Any]] = {}
    for sample in samples:
        for name in sample.metrics:
            values.setdefault(name, []).append(sample.fields[name])
    return [
        name for name, cells in values.items() if name != metric and all(cell in (0.0, 1.0) for cell in cells)
    ]


def _rows(samples: list[_Sample], metric: str | None) -> pd.DataFrame:
    """Return the rows of all samples, under the first reading of their targets that agrees with the log."""
    readings, problems = [], []
    for reading in (_by_text, _by_number, _by_context):
        try:
            readings.append([reading(sample) for sample in samples])
        except InputError as error:
            problems.append(error)
    if metric is not None:  # targets are needed for the chance and the correct choices alone
        agreed = _agreed(samples, readings)
        rights = [None] * len(samples) if agreed is None else agreed
        return pd.DataFrame(
            [
                _recorded(sample, metric, correct_choices)
                for sample, correct_choices in zip(samples, rights, strict=True)
            ]
        )
    if not readings:
        raise problems[0]
    candidates = [
        [_judged(sample, correct_choices) for sample, correct_choices in zip(samples, rights, strict=True)]
        for rights in readings
    ]
    if readings[0] != readings[-1] and not all("recorded" in row for row in candidates[0]):
        raise UnknownTarget(
            f"{samples[0].place}: target '{samples[0].fields.get('target')}' may be a text or a number of a "
            f"choice, and no 'acc' says which; use --metric {' or '.join(samples[0].metrics)}"
        )
    # where none agrees, the first is held against the log, which tells
    return pd.DataFrame(next((rows for rows in candidates if all(map(_agrees, rows))), candidates[0]))


def _agreed(samples: list[_Sample], readings: list[list[set[int]]]) -> list[set[int]] | None:
    """Return the reading of targets that agrees with ``acc``; None if no reading does, or several can."""
    if all("acc" in sample.metrics and sample.fields["acc"] in (0, 1) for sample in samples):
        readings = [rights for rights in readings if all(map(_agrees_with_acc, samples, rights))]
        return readings[0] if readings else None
    return readings[0] if readings and readings[0] == readings[-1] else None


def _is_tie(sample: _Sample) -> bool:
    return len(sample.scores) > 1 and sample.scores.count(max(sample.scores)) > 1


def _agrees_with_acc(sample: _Sample, correct_choices: set[int]) -> bool:
    largest = max(sample.scores)
    likeliest = {place for place, score in enumerate(sample.scores) if score == largest}
    return len(likeliest) != 1 or bool(likeliest & correct_choices) == sample.recorded("acc")


def _agrees(row: dict[str, Any]) -> bool:
    return "recorded" not in row or row["tie"] or row["recorded"] == float(row["correct"])


def _recorded(sample: _Sample, metric: str, correct_choices: set[int] | None) -> dict[str, Any]:
    """Return a row by what the tool recorded."""
    row = recorded_row(sample.recorded(metric), len(sample.scores), correct_choices)
    if correct_choices is None and sample.scores and not _list(str(sample.fields.get("target", "")).strip()):
        row["chance"] = 1 / len(sample.scores)  # one of them is correct, whichever it is
    if metric == "exact_match" and sample.scores:  # is the correct choice the likeliest of all texts?
        row["chance"] = float("nan")
    likelihoods = logged(sample.scores, correct_choices, sample.texts) if correct_choices else {}
    return {"example": sample.example, **row, **likelihoods, **sample.evidence}


def _judged(sample: _Sample, correct_choices: set[int]) -> dict[str, Any]:
    """Return a row by the log-likelihoods of the choices, beside what the tool recorded."""
    with as_written_by(TOOL, sample.place):
        row = judged(sample.scores, correct_choices, sample.texts, sample.place)
    recorded = {"recorded": float(sample.recorded("acc"))} if "acc" in sample.metrics else {}
    return {"example": sample.example, **row, **recorded, **sample.evidence}


def _by_text(sample: _Sample) -> set[int]:
    """Return the correct choices where the target is the text of one, or a list of such texts."""
    texts = [None if text is None else text.removeprefix(sample.delimiter).strip() for text in sample.texts]
    target = str(sample.fields.get("target", "")).strip()
    targets = [target] if target in texts else [str(value).strip() for value in _list(target)]
    # choices that read the same are all correct, unless all do: then they differ in the context
    matching = {place for place, text in enumerate(texts) if text in targets}
    if (
        not targets
        or not set(targets) <= set(texts)
        or (len(matching) == len(texts) and len(set(texts)) == 1)
    ):
        remedy = "; use --metric acc, which takes what the tool recorded"
        raise UnknownTarget(
            f"{sample.place}: target '{target[:60]}' is none of its {len(texts)} choices"
            + remedy * ("acc" in sample.metrics)
        )
    return matching


def _by_number(sample: _Sample) -> set[int]:
    """Return the correct choices where the target is the number of one, or a list of such numbers."""
    target = str(sample.fields.get("target", "")).strip()
    numbers = _list(target) or [_literal(target)]
    if not all(isinstance(number, int | float) and number in range(len(sample.scores)) for number in numbers):
        raise UnknownTarget(f"{sample.place}: target '{target}' is no number of its choices")
    return {int(number) for number in numbers}


def _by_context(sample: _Sample) -> set[int]:
    """The correct choice where choices stand in the context, and the text scored is the target for all.

    What is correct is known only from what the tool recorded, to which the first of the likeliest is chosen.
    """
    if len(sample.scores) != 2 or len(set(sample.texts)) != 1 or "acc" not in sample.metrics:
        raise UnknownTarget(
            f"{sample.place}: nothing says which of its choices is correct; use --metric "
            f"{' or '.join(sample.metrics) or 'NAME'}"
        )
    likeliest = int(np.argmax(sample.scores))
    return {likeliest if sample.recorded("acc") else 1 - likeliest}


def _list(text: str) -> list[Any]:
    """Return the values of a list that is written as Python or NumPy writes it; none if it is no list."""
    value = _literal(re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)) if text.startswith("[") else None
    return value if isinstance(value, list) else []


def _texts_of(value: Any, depth: int = 0) -> list[str]:
    """Return all texts in a document, without its ids."""
    if depth > DEEPEST:
        return []
    if isinstance(value, dict):
        fields = [field for key, field in value.items() if not str(key).lower().endswith(NO_TEXTS)]
        return [text for field in fields for text in _texts_of(field, depth + 1)]
    if isinstance(value, list):
        return [text for field in value for text in _texts_of(field, depth + 1)]
    return [value] if isinstance(value, str) else []


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
