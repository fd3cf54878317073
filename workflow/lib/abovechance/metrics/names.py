"""What the name of a metric shows: a share of correct answers, or of lists that contain a correct one."""

from __future__ import annotations

import re

# Words in the names of metrics that are shares of correct answers, and in those of others.
ACCURACIES = {"acc", "accuracy", "accuracies", "match", "exactmatch", "correct", "em"}
OTHER_METRICS = {"balanced", "f", "incorrect", "macro", "mismatch", "partial", "partially", "weighted"}
# These can also be words about the share of correct answers, or about how it was estimated.
UNCLEAR = {
    *("class", "classes", "error", "errors", "false", "loss", "not", "per", "wrong"),
    *("bound", "deviation", "err", "sd", "se", "sem", "std", "stddev", "stderr", "var", "variance"),
    *("brier", "calibration", "ece", "relative", "z"),
    *("change", "delta", "diff", "difference", "drop", "gain", "gap", "improvement", "lift", "margin"),
}


def is_other_metric(name: str) -> bool:
    """Return whether a metric's name shows that it is not a share of correct answers."""
    return bool(_words(name) & OTHER_METRICS)


def is_share_of_correct(name: str) -> bool:
    """Return whether a metric's name shows that it is a share of correct answers."""
    words = _words(name)
    is_named = re.search(r"pass@1(?!\d)|chain_of_thought_correctness", name.lower()) is not None
    return is_named or bool(words & ACCURACIES and not words & (UNCLEAR | OTHER_METRICS))


def accepts_several(name: str) -> bool:
    """Return whether a metric's name shows that several guesses count, such as recall@2 or top-5 accuracy."""
    if re.search(r"\b(?:avg|cons|maj|mean)@", name.lower()):  # votes and means of several answers
        return False
    numbers = re.findall(r"(?:@|_at_|\btop[-_ ]?|@k:k=|\brecall:k=)(\d+)", name.lower())
    if numbers:
        return any(int(number) > 1 for number in numbers)
    return bool(_words(name) & {"hits", "recall"}) or "@k" in name.lower()


def _words(name: str) -> set[str]:
    name = re.sub(r"not[ _-]?correct", "incorrect", name, flags=re.IGNORECASE)
    name = re.sub(r"per[ _-]cent", "percent", name, flags=re.IGNORECASE)
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
