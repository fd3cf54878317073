"""Samples of lm-evaluation-harness, as they stand in its logs."""

from __future__ import annotations

from typing import Any

from abovechance.core.errors import InputError
from abovechance.core.reading import as_written_by
from abovechance.core.untrusted import named
from abovechance.importers.contract import text_or_none, truth, use_metric

TOOL = "lm-evaluation-harness"
DEEPEST = 20  # levels of a document
# Ends of the names of fields that differ between copies of an example.
NO_TEXTS = ("id", "idx", "index", "key", "url", "link", "hash")
# Fields of a sample that are no metrics.
FIELDS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)


class Sample:
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
        The text between context and choice.
    """

    delimiter = ""

    def __init__(self, value: Any, place: str) -> None:
        self.place = place
        with as_written_by(TOOL, place):
            if not isinstance(value, dict) or value.get("doc_id") is None:
                raise InputError(f"{place}: has no 'doc_id'; expected a sample of {TOOL}")
            # truth values of NumPy are written as texts
            self.fields: dict[str, Any] = {
                name: cell == "True" if name not in FIELDS and cell in ("True", "False") else cell
                for name, cell in value.items()
            }
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
    def target(self) -> str:
        """The target as a text, which is how the tool writes it."""
        return str(self.fields.get("target", "")).strip()

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
        response, answer = (_first(self.fields.get(key)) for key in ("resps", "filtered_resps"))
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

    def lacks(self, metric: str) -> str:
        """Return the message that the sample has no value of a metric."""
        return f"{self.place}: has no metric '{metric}'; {use_metric(self.metrics)}, or leave out this file"

    def recorded(self, metric: str) -> bool:
        """Return whether the sample is correct by this metric."""
        if metric not in self.metrics:
            raise InputError(self.lacks(metric))
        return truth(self.fields[metric], metric, self.place)


def _first(value: Any) -> Any:
    """Return the first value in lists of lists."""
    while isinstance(value, list) and value:
        value = value[0]
    return value


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
