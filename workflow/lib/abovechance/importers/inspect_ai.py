"""inspect: ``.eval`` logs, a zip file of JSON files, or the same log as one ``.json``.

A sample that its scorer could not score (no score, or nan) is not a wrong one: it is left out
and counted. Files in the archive are compressed with Zstandard, which Python's zipfile
reads from 3.14 on; here Arrow does.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from abovechance.core.errors import InputError
from abovechance.core.files import files_below
from abovechance.core.reading import as_written_by, number, parse_json, read_json, whole
from abovechance.core.untrusted import named, opened_zip
from abovechance.core.words import counted
from abovechance.doctor.suspicion import Suspicion, graded, of_examples
from abovechance.importers.contract import (
    Options,
    Reported,
    Run,
    UnsupportedMetric,
    not_checked,
    not_of_choice,
    number_of_shots,
    text_or_none,
    use_metric,
)
from abovechance.metrics.names import is_share_of_correct
from abovechance.results.predictions import UNKNOWN

TOOL = "inspect"
SHOTS = ("fewshot", "num_fewshot", "few_shot")  # names of a task's argument, the number of demonstrations
OPTIONS = ("metric", "epoch")
# scorers of inspect that grade the answer
OF_ANSWERS = {"choice", "answer", "pattern", "exact", "model_graded_qa", "model_graded_fact"}
LOOKS_LIKE = "inspect's .eval or .json log"
ZSTANDARD = 93
LONGEST_CONTEXT = 100_000  # characters; longer ones are transcripts of agents
COLUMNS = ["example", "predicted", "correct", "tie", "chance", "recorded", "is_key"]
# what the ways of compression raise for damaged data
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, pa.ArrowException, ValueError, RuntimeError, OSError)
VALUES = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0} | {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def find(path: Path) -> list[Path]:
    """Return the logs in a path: .eval files, or .json files that are such logs."""
    return files_below(path, "*.eval") + list(filter(_is_log, files_below(path, "*.json")))


def _is_log(path: Path) -> bool:
    """Return whether a JSON file begins as a log of inspect does, and not as its list of logs (logs.json)."""
    with path.open("rb") as file:
        head = file.read(1000)
    is_list = re.match(rb'\s*\{\s*"[^"]*\.(eval|json)"', head)
    return not is_list and all(key in head for key in (b'"version"', b'"status"', b'"eval"'))


def read(path: Path, options: Options) -> Iterator[Run]:
    """Yield the one run of a log; for ``doctor``, a run for each of its epochs and scorers."""
    yield from runs_of(*_log(path, options), path, options)


def runs_of(log: dict[str, Any], samples: list[Any], path: Path, options: Options) -> Iterator[Run]:
    """Yield the runs of a log in memory.

    Parameters
    ----------
    log
        The log as JSON; its samples are not used.
    samples
        Its samples as JSON.
    path
        The name of the log, for messages.
    """
    samples = list(map(_needed, samples))
    if log.get("status") not in (None, "success"):
        # left out of a folder, because inspect keeps the logs of failed evaluations next to their retries
        kind = InputError if options.command == "doctor" else UnsupportedMetric
        raise kind(f"{path}: its status is '{log['status']}'; expected an evaluation that ended well")
    by_epoch = _by_epoch(samples, path)
    epochs, suspicions = [options.epoch or 1], []
    runs: list[Run] = []
    unsupported: list[UnsupportedMetric] = []
    if options.command == "doctor" and options.epoch is None:
        scored = [epoch for epoch in sorted(by_epoch) if _is_scored(by_epoch[epoch], options.metric)]
        suspicions = _without_scores(by_epoch, scored)
        epochs = scored or epochs
    for epoch in epochs:
        chosen = by_epoch.get(epoch, [])
        checked = len(runs)
        for scorer in _scorers(chosen, path, options, epoch):
            try:
                run = _run(log, samples, chosen, scorer, path, epoch)
                runs.append(replace(run, part=f"epoch {epoch}") if len(epochs) > 1 else run)
            except UnsupportedMetric as error:
                unsupported.append(error)
        if len(runs) == checked:
            reason = str(unsupported[-1]).removeprefix(f"{path}, ")
            suspicions.append(not_checked(f"epoch {epoch} is left out: {reason}"))
    if unsupported and not runs:
        raise unsupported[0]
    yield from [replace(run, suspicions=suspicions) for run in runs[:1]]
    yield from runs[1:]


def _is_scored(samples: list[dict[str, Any]], scorer: str | None) -> bool:
    """Return whether a sample has a score, or one of this scorer."""
    names = {name for sample in samples for name in sample.get("scores") or {}}
    return bool(names) if scorer is None else scorer in names


def _without_scores(by_epoch: dict[int, list[dict[str, Any]]], scored: list[int]) -> list[Suspicion]:
    """Return a suspicion if other epochs than these have no scores."""
    empty_epochs = [epoch for epoch in sorted(by_epoch) if epoch not in scored]
    unscored, total = sum(len(by_epoch[epoch]) for epoch in empty_epochs), sum(map(len, by_epoch.values()))
    if not (scored and unscored) or (severity := graded(unscored / total, 0.02, 0.2)) is None:
        return []
    evidence = (
        f"{of_examples(unscored, total)} have no score: all of epoch {', '.join(map(str, empty_epochs))}"
    )
    return [Suspicion("missing-examples", severity, evidence, "the epoch may have failed")]


def _by_epoch(samples: list[Any], path: Path) -> dict[int, list[dict[str, Any]]]:
    """Return the samples of each epoch; InputError if one has no id or no number as its epoch."""
    by_epoch: dict[int, list[dict[str, Any]]] = {}
    for place, sample in enumerate(samples):
        if not isinstance(sample, dict) or sample.get("id") is None:
            raise InputError(f"{path}, sample {place}: has no id; expected {LOOKS_LIKE}")
        if type(sample.get("epoch", 1)) is not int:
            raise InputError(
                f"{path}, sample {place}: epoch is {repr(sample['epoch'])[:40]}; expected a number"
            )
        by_epoch.setdefault(sample.get("epoch", 1), []).append(sample)
    return by_epoch


def _run(
    log: dict[str, Any], samples: list[Any], chosen: list[Any], scorer: str, path: Path, epoch: int
) -> Run:
    """Return the run of one scorer.

    Parameters
    ----------
    samples, chosen
        The samples of all epochs, and those of the epoch that is read.
    """
    notes = []
    epochs = {sample.get("epoch", 1) for sample in samples}
    if len(epochs) > 1:
        notes.append(f"{path.name}: the log has {len(epochs)} epochs; epoch {epoch} is used (--epoch)")
    rows = [_row(sample, scorer, f"{path}, sample {sample['id']}") for sample in chosen]
    scored = [row for row in rows if row is not None]
    if left_out := len(rows) - len(scored):
        notes.append(f"{path.name}: samples without a score are left out: {left_out}")
    failed = [row for sample, row in zip(chosen, rows, strict=True) if row and sample.get("error")]
    if failed:
        wrong = sum(not row["correct"] for row in failed)
        notes.append(f"{path.name}: {len(failed)} samples have an error and a score; {wrong} count as wrong")
    invalid = [row for sample, row in zip(chosen, rows, strict=True) if row and sample.get("invalidation")]
    if invalid:
        correct = sum(bool(row["correct"]) for row in invalid)
        notes.append(
            f"{path.name}: {counted(len(invalid), 'sample')} marked as invalid, {correct} of them correct; "
            "inspect counts these, too"
        )
    if partial := sum(bool(row["tie"]) for row in scored):
        notes.append(
            f"{path.name}: partly correct answers count as wrong: {partial}; inspect gives each a half"
        )
    with as_written_by(TOOL, f"{path}, its header"):
        setting = log.get("eval") or {}
        arguments = setting.get("task_args") or {}
        shots, note = _shots(next((arguments[name] for name in SHOTS if name in arguments), None), str(path))
        model, task = str(setting.get("model") or "model"), str(setting.get("task") or path.stem)
        # over several epochs, inspect reports the mean of their samples' means
        reported = _reported(log, scorer) if len(epochs) == 1 and not left_out else None
        results = log.get("results") or {}
        completed, total = results.get("completed_samples"), results.get("total_samples")
        stopped = _stopped(log, path)
        not_scored = 0
        if isinstance(total, int) and isinstance(completed, int) and not stopped:
            not_scored = max(total // len(epochs) - len(scored), 0)
    if isinstance(completed, int) and completed > len(samples):
        raise InputError(
            f"{path}: has {len(samples)} samples, and its header says {completed}; expected the whole log"
        )
    columns = [*dict.fromkeys(name for row in scored for name in row)] or COLUMNS
    frame = pd.DataFrame(scored or [], columns=columns)
    is_of_choice = _is_of_choice(scorer, frame, log)
    is_other_key = (
        "right" not in frame and frame["is_key"].any() and not is_share_of_correct(scorer.rpartition("/")[2])
    )
    not_judged = ["answer", "target"] if is_other_key or not is_of_choice else []
    frame = frame.drop(columns=not_judged, errors="ignore")
    if not is_of_choice:
        frame = frame.assign(chance=math.nan, predicted=UNKNOWN)
        notes.append(not_of_choice(path.name, scorer))
    with_choices = [sample for sample in chosen if sample.get("choices")]
    if _marks_several(log) or any(
        len(_targets(sample.get("target"), sample["choices"])) > 1 for sample in with_choices
    ):
        frame["chance"] = math.nan  # also with one target, since a model cannot know that there is one
        notes.append(
            f"{path.name}: several choices can be correct, and all of them must be marked; the log does not "
            "say how probable it is to guess them"
        )
    frame = frame.drop(columns="is_key")
    names = model, task.rpartition("/")[2], shots
    unscored = max(left_out, not_scored)
    notes += note + stopped
    return Run(
        str(path), *names, frame, notes, reported, scorer, unscored=unscored, is_of_choice=is_of_choice
    )


def _is_of_choice(scorer: str, frame: pd.DataFrame, log: dict[str, Any]) -> bool:
    """Return whether a scorer says if the chosen answer is correct, as its name or the answers show.

    All known answers must agree with it, and most right answers must be known. Wrong ones may name no choice.
    """
    name = scorer.rpartition("/")[2]
    is_share = is_share_of_correct(name) and not _matches_anywhere(name, log)
    if "right" not in frame or ((is_share or grades_answers(name)) and not frame["is_key"].any()):
        return True
    agrees = [
        flags[place] == correct
        for flags, place, correct in zip(frame["right"], frame["predicted"], frame["correct"], strict=True)
        if place != UNKNOWN and isinstance(flags, list)
    ]
    known_right = int((frame["correct"] & (frame["predicted"] != UNKNOWN)).sum())
    return bool(agrees) and all(agrees) and 2 * known_right >= int(frame["correct"].sum())


def grades_answers(scorer: str) -> bool:
    """Return whether a scorer is one of inspect's that grade answers; a second one is choice1 or choice-1."""
    return re.sub(r"(?<=[a-z])-?\d+\Z", "", scorer.rpartition("/")[2]) in OF_ANSWERS


def _matches_anywhere(name: str, log: dict[str, Any]) -> bool:
    """Return whether a scorer looks for the target anywhere in the text, which contains most letters."""
    options = [  # also of scorers that were added later; if one is match-1 in samples, it is match here
        score.get("params")
        for score in (log.get("results") or {}).get("scores") or []
        if str(score.get("name")).rpartition("/")[2] in {name, re.sub(r"-\d+\Z", "", name)}
    ]
    times: Counter[str] = Counter()
    for entry in (log.get("eval") or {}).get("scorers") or []:
        listed = str(entry.get("name")).rpartition("/")[2]
        # the second of a name is called match1
        if name == listed + str(times[listed] or ""):
            options.append(entry.get("options"))
        times[listed] += 1
    return any((values or {}).get("location") == "any" for values in options)


def _marks_several(log: dict[str, Any]) -> bool:
    """Return whether the solver asks for all correct choices, also if there is one."""
    steps = (log.get("plan") or {}).get("steps") or []
    return any((step.get("params") or {}).get("multiple_correct") for step in steps)


def _shots(value: Any, place: str) -> tuple[int, list[str]]:
    """The number of demonstrations that a task was called with, and a note if it does not say the number."""
    if value is None or value is False:
        return 0, []
    if value is True:
        return 0, [f"{place}: fewshot is true, which does not say how many demonstrations; shown as 0-shot"]
    written = isinstance(value, str) and (read := whole(value)) is not None
    return number_of_shots(read if written else value, place), []


def _stopped(log: dict[str, Any], path: Path) -> list[str]:
    """Return a note if samples were not run because of early stopping."""
    stopping = (log.get("results") or {}).get("early_stopping") or {}
    if not (early_stops := stopping.get("early_stops")):
        return []
    return [
        f"{path.name}: {stopping.get('manager')} stopped the evaluation early, so {len(early_stops)} samples "
        "were not run; tests and intervals assume that the number of samples is independent of the scores"
    ]


def _reported(log: dict[str, Any], scorer: str) -> Reported | None:
    """Return the accuracy of all samples in the log's header."""
    names: list[tuple[str | None, ...]] = []
    values: list[float] = []
    for score in (log.get("results") or {}).get("scores") or []:
        value = ((score.get("metrics") or {}).get("accuracy") or {}).get("value")
        if value is not None:
            name, of_scorer = score.get("name"), score.get("scorer")
            names.append((name if of_scorer in (None, name) else None, f"{of_scorer}/{name}", name))
            values.append(float(value))
    # a key of another scorer can have the name of this one
    for forms in zip(*names, strict=True):
        if scorer in forms:
            return Reported(f"its header ({scorer}, accuracy)", values[forms.index(scorer)])
    return None


def _log(path: Path, options: Options) -> tuple[dict[str, Any], list[Any]]:
    """Return the log's header and samples."""
    if path.suffix == ".json":
        log = read_json(path)
        if not isinstance(log, dict) or not isinstance(log.get("samples") or [], list):
            raise InputError(f"{path}: has no samples; expected {LOOKS_LIKE}")
        return log, log.get("samples") or []
    try:
        with opened_zip(path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                kind = InputError if options.command == "doctor" else UnsupportedMetric
                raise kind(f"{path}: has no header.json; was the evaluation stopped before its end?")
            if any(re.fullmatch(r"samples/.+_epoch_\d+/.+", name) for name in names):
                raise InputError(
                    f"{path}: each sample is in several files; expected one file for each sample"
                )
            # a sample that was written again replaces the earlier one of this name
            of_samples = (name for name in names if name.startswith("samples/") and name.endswith(".json"))
            members = list(dict.fromkeys(of_samples))
            header = _member(path, archive, "header.json")
            # the rest of a sample is much larger
            samples = [_needed(_member(path, archive, name)) for name in members]
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{path}: is not an archive ({error}); was the file cut off?") from None
    if not isinstance(header, dict):
        raise InputError(f"{path}: its header.json has no keys; expected {LOOKS_LIKE}")
    return header, samples


def _needed(sample: Any) -> Any:
    """Return the used parts of a sample."""
    if not isinstance(sample, dict) or "evidence" in sample:
        return sample
    used = ("id", "epoch", "scores", "choices", "target", "error", "invalidation")
    needed = {name: sample[name] for name in used if name in sample} | {"evidence": _evidence(sample)}
    if "score" in sample and "scores" not in sample:  # version 1 of the format
        sample = sample | {"scores": {"score": sample["score"]}}
    if isinstance(scores := sample.get("scores"), dict):
        needed["scores"] = dict(_by_key(scores))
    return needed


def _by_key(scores: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the scores of a sample; each value of one that is a dictionary as ``scorer/key``."""
    for name, score in scores.items():
        if isinstance(score, dict) and isinstance(score.get("value"), dict):
            for key, value in score["value"].items():
                yield f"{name}/{key}", score | {"value": value, "is_key": True}
        else:
            yield name, score


def _evidence(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the columns ``EVIDENCE`` of a sample."""
    messages, question, output = sample.get("messages"), sample.get("input"), sample.get("output")
    if isinstance(question, list):
        question = "\n".join(map(_content, question))
    has_images = isinstance(sample.get("input"), list) and not all(map(_is_text, sample["input"]))
    context, answered = _context(messages if isinstance(messages, list) else [])
    completions = (output.get("choices") or []) if isinstance(output, dict) else []
    first = completions[0] if completions and isinstance(completions[0], dict) else {}
    reason = first.get("stop_reason")
    return {
        "question": None if has_images else text_or_none(question),
        "context": context,
        "output": _content(first.get("message")) if first else None if answered or output is None else "",
        "truncated": reason == "model_length" if first else None,
        "cut_off": reason == "max_tokens" if first else None,
    }


def _context(messages: list[Any]) -> tuple[str | None, bool]:
    """Return the texts before the model's last answer (None if they are very long), and if there is one."""
    places = [
        place
        for place, message in enumerate(messages)
        if isinstance(message, dict) and message.get("role") == "assistant"
    ]
    text = "\n".join(map(_content, messages[: places[-1]] if places else messages))
    return (text if 0 < len(text) <= LONGEST_CONTEXT else None), bool(places)


def _is_text(message: Any) -> bool:
    """Return whether a message consists of text only."""
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else []
    return all(isinstance(part, dict) and part.get("type", "text") == "text" for part in parts)


def _content(message: Any) -> str:
    """Return the text of a message."""
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """Return a JSON file of the archive, in whichever way it is compressed."""
    place = f"{path}, {name}"
    try:
        content = _unpacked(path, archive, archive.getinfo(name))
    except DAMAGED as error:
        raise InputError(f"{place}: cannot be unpacked ({error}); was the file damaged?") from None
    return parse_json(content, place)


def _unpacked(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a file of the archive; its checksum is held against that of the archive."""
    if member.compress_type != ZSTANDARD:
        return archive.read(member)
    with path.open("rb") as file:
        file.seek(member.header_offset)
        # a zip file's local header: 30 bytes, the last four of them the lengths of name and extra field
        name, extra = struct.unpack("<HH", file.read(30)[26:30])
        file.seek(name + extra, 1)
        packed = file.read(member.compress_size)
    content: bytes = pa.decompress(packed, member.file_size, "zstd", asbytes=True)
    if zlib.crc32(content) != member.CRC:
        raise ValueError("its checksum differs")
    return content


def _scorers(samples: list[dict[str, Any]], path: Path, options: Options, epoch: int) -> list[str]:
    """Return the scorers to read: the requested or the only one, or all of them for ``doctor``."""
    with as_written_by(TOOL, str(path)):
        names = list(dict.fromkeys(name for sample in samples for name in sample.get("scores") or {}))
    by_key = {name.rpartition("/")[0] for name in names}
    # a sample that was not scored has one nan in place of all keys
    names = [name for name in names if name not in by_key or not _is_unscored(samples, name)]
    if not names:
        kind = InputError if options.epoch is None else UnsupportedMetric
        raise kind(f"{path}: no sample of epoch {epoch} has a score")
    if options.metric is None and len(names) > 1:
        if options.command == "doctor":
            return names
        raise InputError(f"{path}: has the scorers {', '.join(names)}; {use_metric(names)}")
    scorer_name = options.metric or names[0]
    if scorer_name not in names:
        raise UnsupportedMetric(f"{path}: has no scorer '{scorer_name}'; {use_metric(names)}")
    return [scorer_name]


def _is_unscored(samples: list[dict[str, Any]], scorer: str) -> bool:
    """Return whether each value of a scorer is missing."""
    scores = (sample["scores"][scorer] or {} for sample in samples if scorer in (sample.get("scores") or {}))
    values = (score.get("value") for score in scores)
    return all(value is None or (isinstance(value, float) and math.isnan(value)) for value in values)


def _row(sample: dict[str, Any], scorer: str, place: str) -> dict[str, object] | None:
    """Return a sample's row; None where it was not scored."""
    with as_written_by(TOOL, place):
        score = (sample.get("scores") or {}).get(scorer) or {}
        value = credit(score.get("value"), scorer, place)
        if value is None:
            return None
        answer = str(score.get("answer") or "")
        return {
            "example": named(sample["id"], place),
            "predicted": _place_of(answer, sample.get("choices")),
            "correct": value == 1,
            "tie": value == 0.5,
            "chance": chance_of(sample, place),
            "recorded": value,
            "is_key": bool(score.get("is_key")),
            **_choices(sample),
            **sample.get("evidence", {}),
            "answer": text_or_none(score.get("answer")),
            "target": text_or_none(sample.get("target")),
        }


def credit(value: Any, scorer: str, place: str) -> float | None:
    """Return the value of a score as 0, 0.5 (partly correct) or 1; None if there is none.

    Raises
    ------
    UnsupportedMetric
        If the value is another number or text.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        value = VALUES[text] if text in VALUES else number(value)
        if value is None:
            raise UnsupportedMetric(f"{place}: {scorer} is {text!r}; expected correct or incorrect")
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, bool | int | float) or float(value) not in (0.0, 0.5, 1.0):
        raise UnsupportedMetric(f"{place}: {scorer} is {value!r}; expected correct or incorrect")
    return float(value)


def _choices(sample: dict[str, Any]) -> dict[str, object]:
    """Return the texts of the choices and which one is correct, if the log says so."""
    texts = sample.get("choices") or []
    targets = _targets(sample.get("target") or "", texts)
    target = targets[0] if len(targets) == 1 else ""
    letters = _letters(len(texts))
    marks = letters if target in letters else [str(text) for text in texts]
    if marks.count(target) != 1:
        return {}
    return {"choices": [str(text).strip() for text in texts], "right": [mark == target for mark in marks]}


def chance_of(sample: dict[str, Any], location: str) -> float:
    """Return the chance of a lucky guess; nan without choices, or if several of them must be marked."""
    choices = sample.get("choices") or []
    target = sample.get("target")
    if not isinstance(choices, list):
        raise InputError(f"{location}: its choices are {repr(choices)[:40]}; expected a list")
    if not choices:
        return float("nan")
    if not target:
        raise InputError(f"{location}: its target is {target!r}; expected one or some of its choices")
    targets = _targets(target, choices)
    # all of several targets must be marked, and no others: how that is guessed is for the user to say
    gradable = len(targets) == 1 and targets[0] in {*_letters(len(choices)), *map(str, choices)}
    return 1 / len(choices) if gradable else float("nan")


def _letters(choices: int) -> list[str]:
    """Return the names that inspect gives to choices: A to Z, then 1, 2 and so on."""
    return [chr(ord("A") + place) if place < 26 else str(place - 25) for place in range(choices)]


def _place_of(answer: str, choices: Any) -> int:
    """Return the place of the choice that an answer names, by its letter or text; of unknown ones, of 26."""
    listed = choices if isinstance(choices, list) else []
    letters, texts = _letters(len(listed) or 26), [str(text).strip() for text in listed]
    if answer in letters:
        return letters.index(answer)
    if answer.strip() and texts.count(answer.strip()) == 1:
        return texts.index(answer.strip())
    return letters.index(answer.upper()) if listed and answer.upper() in letters else UNKNOWN


def _targets(target: Any, choices: list[Any]) -> list[str]:
    """Return the targets of a sample with choices: a list, the letters of 'A,C', or a single text."""
    if isinstance(target, list):
        return [str(text) for text in target]
    target = str(target)
    if not choices or target in map(str, choices):
        return [target]
    is_letters = re.fullmatch(r"[A-Z](\s*,?\s*[A-Z])*", target.strip())
    return re.findall("[A-Z]", target) if is_letters else [target]
