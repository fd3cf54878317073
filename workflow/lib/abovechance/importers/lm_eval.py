"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` beside ``results_<date>.json``.

Numbers are written as texts. A sample stands once for each filter of its task. In a
multiple-choice task, each choice is one request; its log-likelihood is recorded, so ties are
seen, which the tool itself gives to the first choice.
"""

from __future__ import annotations

import codecs
import glob
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import as_written_by, parse_json, read_json, read_json_lines
from abovechance.core.untrusted import check_regular
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    UnsupportedMetric,
    metric_note,
    number_of_shots,
    tied,
    use_metric,
)
from abovechance.importers.lm_eval_samples import TOOL, Sample
from abovechance.importers.lm_eval_targets import UnknownTarget, is_tie, rows_of
from abovechance.metrics.names import is_share_of_correct
from abovechance.variance.results_files import model_arguments

OPTIONS = ("metric", "filter")
LOOKS_LIKE = f"{TOOL}'s samples_<task>_<date>.jsonl or .json (made with --log_samples)"
DATE = r"\d{4}-\d\d-\d\dT[\d.-]+"
METRICS = ("acc", "exact_match", "acc_norm")


def find(path: Path) -> list[Path]:
    """Return the sample logs in a path."""
    lines = files_below(path, "samples_*.jsonl")
    lists = [file for file in files_below(path, "samples_*.json") if file.with_suffix(".jsonl") not in lines]
    return lines + list(filter(_is_list_of_samples, lists))


def _is_list_of_samples(path: Path) -> bool:
    """Return whether a JSON file begins as version 0.4.3 writes samples."""
    with path.open("rb") as file:
        head = file.read(1_000_000).removeprefix(codecs.BOM_UTF8)
    return head.lstrip().startswith(b"[") and b'"doc_id"' in head


def read(path: Path, options: Options) -> Iterator[Run]:
    """Yield the one run of a sample log; for ``doctor``, a run for each of its filters."""
    samples = [Sample(value, f"{path}, row {row}") for row, value in _values(path)]
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


def _values(path: Path) -> Iterable[tuple[int, Any]]:
    """Return row and value of each sample; version 0.4.3 writes all of them as one list."""
    if path.suffix == ".jsonl":
        return read_json_lines(path)
    return enumerate(read_json(path), start=1)


def _with_predictions(chosen: list[Sample], path: Path, results: _Results, options: Options) -> Iterator[Run]:
    """Yield the run of a metric for ``doctor``, after that of log-likelihoods, which contains predictions.

    The latter is left out if the targets are unclear, or if the log has several metrics and no usual one.
    """
    try:
        of_likelihoods = [_run(chosen, path, results, replace(options, metric=None))]
    except (UnknownTarget, UnsupportedMetric):
        of_likelihoods = []
    yield from of_likelihoods
    if not of_likelihoods or options.metric != "acc":
        yield _run(chosen, path, results, options)


def is_summary(path: Path) -> bool:
    """Return whether a file has the scores of lm-evaluation-harness."""
    return bool(_summary(path))


def missing_logs(path: Path) -> list[Path]:
    """Return where the logs of the tasks of a ``results_<date>.json`` were written, if they are not there."""
    configs = _summary(path).get("configs")
    if not (date := re.fullmatch(f"results_({DATE})", path.stem)) or not isinstance(configs, dict):
        return []
    logs = [path.with_name(f"samples_{task}_{date[1]}.jsonl") for task in configs if "/" not in task]
    return [log for log in logs if not any(path.parent.glob(f"{glob.escape(log.stem)}.json*"))]


def _summary(path: Path) -> dict[str, Any]:
    """Return the content of a file with the scores of lm-evaluation-harness; empty if it is another file."""
    try:
        check_regular(path)
        content = parse_json(path.read_text(encoding="utf-8-sig"), str(path))
    except (InputError, OSError, UnicodeDecodeError):
        return {}
    return content if isinstance(content, dict) and {"n-shot", "configs"} & {*content} else {}


@dataclass(frozen=True)
class _Results:
    """The file ``results_<date>.json`` beside a log.

    Attributes
    ----------
    file
        Its path; None if there is none.
    content
        The content of the file.
    task, date
        From the name of the log.
    """

    file: Path | None
    content: dict[str, Any]
    task: str
    date: str

    @classmethod
    def beside(cls, path: Path) -> _Results:
        match = re.fullmatch(rf"samples_(.+)_({DATE})\.jsonl?", path.name)
        task, date = match.groups() if match else (path.stem.removeprefix("samples_"), "")
        # results_<date>.json, or another name before the date where the tool was told one
        beside = sorted(path.parent.glob(f"*_{date}.json")) if date else []
        file = next((file for file in beside if not file.name.startswith("samples_")), None)
        with as_written_by(TOOL, str(file)):
            return cls(file, dict(read_json(file)) if file else {}, task, date)

    def of_task(self, key: str) -> dict[str, Any]:
        """Return what it has on the task."""
        with as_written_by(TOOL, str(self.file)):
            return dict(self.content.get(key, {}).get(self.task, {}))

    def reported(self, metric: str, filter_name: str) -> Reported:
        """Return the task's score, without a value if it is not the mean over examples."""
        if self.of_task("higher_is_better").get(metric) is False:
            raise UnsupportedMetric(
                f"{self.file}, {self.task}: {metric} is better if it is lower; expected an accuracy"
            )
        name = f"{metric},{filter_name}"
        value = self.of_task("results").get(name) if self._is_mean(metric) else None
        return Reported(
            f"{self.file} ({name})",
            None if value is None else float(value),
            self.of_task("n-samples").get("effective"),
        )

    def check_direction(self, samples: list[Sample]) -> None:
        """Raise UnsupportedMetric if the task's metrics are all better if they are lower."""
        names = list(dict.fromkeys(name for sample in samples for name in sample.metrics))
        if names and all(self.of_task("higher_is_better").get(name) is False for name in names):
            raise UnsupportedMetric(
                f"{self.file}, {self.task}: {', '.join(names)} are better if they are lower; expected an "
                "accuracy"
            )

    def _is_mean(self, metric: str) -> bool:
        """Return whether the tool reports a metric's mean, and nothing that is estimated from its values."""
        listed = self.of_task("configs").get("metric_list") or []
        return all(
            entry.get("aggregation") in (None, "mean", "nanmean")
            for entry in listed
            if entry.get("metric") == metric
        )


def _name_filters(samples: list[Sample], results: _Results) -> None:
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


def _run(chosen: list[Sample], path: Path, results: _Results, options: Options) -> Run:
    """Return the run of the samples of one filter."""
    notes = []
    delimiter = results.of_task("configs").get("target_delimiter")
    for sample in chosen:
        sample.delimiter = delimiter if isinstance(delimiter, str) else ""
    metric = _metric(chosen, options)
    rows = rows_of(chosen, metric)
    if options.metric is None:
        notes += metric_note(results.task, _named(metric, chosen), _other_metrics(chosen, metric or "acc"))
    notes += _metric_notes(chosen, metric, rows, path)
    if not results.content:
        direction = (
            "" if metric is None or is_share_of_correct(metric) else f", and that a higher {metric} is better"
        )
        notes.append(
            f"{path.name}: there is no results_{results.date}.json in its folder, so 0 shots are "
            f"assumed{direction}"
        )
    with as_written_by(TOOL, str(results.file)):
        shots = results.content.get("n-shot", {}).get(results.task) or 0
        shots = number_of_shots(shots, f"{results.file}, n-shot of {results.task}")
        model = results.content.get("model_name") or path.parent.name or "model"
        model = _with_variant(str(model), results.content.get("config"))
        reported = results.reported(metric or "acc", chosen[0].filter)
        if metric is None and options.command != "doctor":
            results.check_direction(chosen)
        score = results.of_task("results").get(f"{metric or 'acc'},{chosen[0].filter}")
    is_other = isinstance(score, int | float) and abs(score - float(rows["correct"].mean())) > 1e-9
    if reported.accuracy is None and is_other:
        notes.append(
            f"{path.name}: {reported.place}, {score:g}, is not the mean over examples, which is judged here"
        )
    if _is_selection(rows, reported):
        notes.append(
            f"{path.name}: has {len(rows)} of {reported.examples} examples; "
            f"{reported.place} is the mean of these"
        )
        reported = replace(reported, examples=None)
    return Run(
        file=str(path),
        model=str(model),
        task=results.task,
        shots=shots,
        rows=rows,
        notes=notes,
        reported=reported,
        metric=_named(metric, chosen),
    )


def _metric_notes(chosen: list[Sample], metric: str | None, rows: pd.DataFrame, path: Path) -> list[str]:
    """Return notes on what is judged: log-likelihoods, or what the tool recorded."""
    notes = []
    if metric is None and chosen[0].metrics and not any("acc" in sample.metrics for sample in chosen):
        notes.append(
            f"{path.name}: its metrics ({', '.join(chosen[0].metrics)}) do not say whether an example is "
            "correct; the choice with the largest log-likelihood is compared with the target"
        )
    if metric not in (None, "exact_match") and chosen[0].scores and rows["chance"].isna().all():
        notes.append(
            f"{path.name}: its targets do not say which choices {metric} counts as correct; for --choices or "
            "--chance, note that these can be several"
        )
    if ties := int(rows["tie"].sum()):
        notes.append(f"{path.name}: {tied(ties)}")
    elif metric == "acc" and (ties := sum(map(is_tie, chosen))):
        notes.append(
            f"{path.name}: acc is as the tool recorded it; choices tie in {ties} of {len(chosen)} examples, "
            "where the tool chooses the first one (without --metric, ties count as wrong)"
        )
    return notes


def _with_variant(model: str, config: Any) -> str:
    """Return a model's name with its revision, subfolder and adapter.

    The tool names a model after its adapter, if it has one. Other arguments, such as the precision, are not
    part of the name.
    """
    arguments = model_arguments(config.get("model_args")) if isinstance(config, dict) else {}
    texts = {key: text for key, text in arguments.items() if text not in ("", "None")}
    if "peft" in texts or "delta" in texts:
        model = texts.get("pretrained", model)
    revision = texts.get("revision", "main")
    model += f"@{revision}" * (revision != "main")
    signs = {"subfolder": "/", "peft": "+", "delta": "+delta "}
    return model + "".join(f"{sign}{texts[key]}" for key, sign in signs.items() if key in texts)


def _is_selection(rows: pd.DataFrame, reported: Reported) -> bool:
    """Return whether the rows are a selection of examples, of which the tool writes the whole number.

    The tool's own mean is then theirs. The first examples are no selection: the log may be cut off.
    """
    if reported.accuracy is None or "recorded" not in rows or reported.examples in (None, len(rows)):
        return False
    is_beginning = [*rows["example"]] == [*map(str, range(len(rows)))]
    return not is_beginning and abs(float(rows["recorded"].mean()) - reported.accuracy) < 1e-9


def _filters(samples: list[Sample], path: Path, options: Options) -> list[str]:
    """Return the names of the filters to read: one, or all of them for ``doctor``."""
    filters = list(dict.fromkeys(sample.filter for sample in samples))
    # a task without filters needs no choice, whatever was asked for of the others
    filter_name = options.filter if options.filter and filters != ["none"] else filters[0]
    if filter_name not in filters:
        raise UnsupportedMetric(f"{path}: has no filter '{filter_name}'; it has {', '.join(filters)}")
    if options.metric and not any(options.metric in sample.metrics for sample in samples):
        raise UnsupportedMetric(samples[0].lacks(options.metric), has_filter=options.filter in filters)
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


def _metric(samples: list[Sample], options: Options) -> str | None:
    """Return the metric whose recorded values are taken; None if log-likelihoods decide."""
    if options.metric:
        if not any(options.metric in sample.metrics for sample in samples):
            raise UnsupportedMetric(samples[0].lacks(options.metric))
        return options.metric
    scored = all(sample.scores for sample in samples)
    # with log-likelihoods, exact_match compares the correct choice with all texts that could be generated
    by_preference = sorted(METRICS, key=lambda name: scored and name == "exact_match")
    usual = next((name for name in by_preference if any(name in sample.metrics for sample in samples)), None)
    if usual == "acc" and scored:
        return None
    if usual:
        return usual
    graded = _other_metrics(samples, None)
    if not graded:
        names = samples[0].metrics
        # an accuracy of another form, such as a pair of values, is not that of the likeliest choice
        is_judged = scored and (
            options.command == "doctor" or not any(name.startswith("acc") for name in names)
        )
        if names and not is_judged:
            raise UnsupportedMetric(
                f"{samples[0].place}: has the metrics {', '.join(names)}; expected one that is 0 or 1 for "
                "each example"
            )
        return None if scored else METRICS[0]
    if len(graded) > 1:
        raise UnsupportedMetric(
            f"{samples[0].place}: has the metrics {', '.join(graded)}; {use_metric(graded)}"
        )
    return graded[0]


def _named(metric: str | None, samples: list[Sample]) -> str:
    """Return the metric's name, with that of the filter if the log has one, as in the tool's results."""
    name, filter_ = metric or "acc", samples[0].filter
    return name if filter_ == "none" else f"{name},{filter_}"


def _other_metrics(samples: list[Sample], metric: str | None) -> list[str]:
    """Return the other metrics that say of each sample whether it is correct."""
    values: dict[str, list[Any]] = {}
    for sample in samples:
        for name in sample.metrics:
            values.setdefault(name, []).append(sample.fields[name])
    return [
        name for name, cells in values.items() if name != metric and all(cell in (0.0, 1.0) for cell in cells)
    ]
