"""One scoring job: all prompts of a task under one model, for every number of shots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

from abovechance.core.errors import InputError, located, told_by_library
from abovechance.core.provenance import versions
from abovechance.core.settings import Setting
from abovechance.scoring import models
from abovechance.scoring.algorithms import Paths, score, unreadable
from abovechance.scoring.engine import Computed, pack_tokens, score_alone
from abovechance.scoring.identity import identities, reading_digest
from abovechance.scoring.products import MEASURED
from abovechance.scoring.store import TOO_LONG, ScoreStore
from abovechance.scoring.tokens import PromptStrings, Tokens, tokenize
from abovechance.scoring.weights import Weights, keeps_length, load_tokenizer
from abovechance.study.prompts import evaluated_on, null_target, prompt_keys


@dataclass(frozen=True)
class Cell:
    """The prompts of one (model, task, shots).

    Attributes
    ----------
    setting
        The setting of the prompts.
    task, evaluation, prompts
        The tables ``tasks``, ``evaluation_sets`` and ``prompts``.
    null
        Whether these have lost their inputs: the null-target prompts of others.
    """

    setting: Setting
    task: pd.DataFrame
    evaluation: pd.DataFrame
    prompts: pd.DataFrame
    null: bool = False

    @property
    def words(self) -> str:
        """The setting of the prompts, in words."""
        return f"{self.setting.words}, null target" if self.null else self.setting.words

    def without_inputs(self) -> Cell:
        """Return the null-target prompts of these, evaluated on the same examples."""
        task, prompts = null_target(self.task, self.prompts)
        return Cell(self.setting, task, self.evaluation, prompts, null=True)

    @cached_property
    def evaluated(self) -> pd.DataFrame:
        """The examples that are evaluated, by their ids."""
        return self.task[self.evaluation["evaluated"].to_numpy()].set_index("example")

    @cached_property
    def keys(self) -> list[str]:
        """(prompts,) see ``prompt_keys``."""
        return prompt_keys(self.task, self.evaluation, self.prompts)

    def lengths(self, read: Callable[[PromptStrings], Tokens]) -> NDArray[np.int64]:
        """(prompts,) about how many tokens the longest string of each prompt has.

        Demonstrations and examples are read apart from each other, which is much less than reading all
        strings, and a few tokens more or fewer where they meet.
        """

        def longest(demonstrations: str, examples: pd.DataFrame) -> int:
            return max(map(len, read(PromptStrings.from_examples(demonstrations, examples)).sequences))

        texts = self.prompts["text"]
        of_prompts = np.array([longest(text, self.evaluated.iloc[:1]) for text in texts])
        return of_prompts - of_prompts[0] + longest(texts.iloc[0], self.evaluated)

    def strings(self, prompt: int) -> PromptStrings:
        """Every example that a prompt is evaluated on, with each of its choices."""
        row = self.prompts.iloc[prompt]
        chosen = self.evaluated.loc[evaluated_on(self.evaluation, row["demonstrations"])]
        return PromptStrings.from_examples(row["text"], chosen)


@dataclass(frozen=True)
class Reading:
    """How a model reads texts.

    Attributes
    ----------
    read
        Tokenizes the strings of a prompt.
    context, vocabulary
        The most tokens that it reads at once, and how many it knows; None if that is unknown.
    short_shows
        Whether a token is at least a byte, so that short texts fit and need not be read.
    """

    read: Callable[[PromptStrings], Tokens]
    context: int | None
    vocabulary: int | None
    short_shows: bool

    @classmethod
    def from_weights(cls, weights: Weights, special_tokens: str) -> Reading:
        """What the tokenizer and the config beside weights say."""
        tokenizer = load_tokenizer(weights)
        context, vocabulary = models.limits(weights)
        read = partial(tokenize, tokenizer, special_tokens=special_tokens)
        return cls(read, context, vocabulary, keeps_length(tokenizer))


class PromptScorer(Protocol):
    """A model, scoring one prompt after another."""

    @property
    def findings(self) -> str:
        """What was found out before the first prompt, in words."""

    def prove(
        self, strings: PromptStrings, prompts: int, longest: int
    ) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """See ``score``; before it, the model is tested on these strings.

        ``prompts`` are scored in all, and no string of the job has more tokens than ``longest``.
        """

    def score(self, strings: PromptStrings) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """Return the scores of one prompt's strings, and facts on them."""

    def check_stored(self, strings: PromptStrings, rows: pd.DataFrame) -> None:
        """Raise InputError if scores of an earlier job are not this model's."""


class Backend(Protocol):
    """What computes scores: a model in this process (``InProcess``), or a server (``servers.scorer``)."""

    @property
    def identities(self) -> Sequence[Mapping[str, Any]]:
        """What scores depend on besides the prompt, then earlier identities that count as the same."""

    @property
    def made_from(self) -> Mapping[str, Any]:
        """``model``, ``revision`` and ``precision``, for the scores files."""

    def reading(self) -> Reading:
        """Return how it reads."""

    def scorer(self, reading: Reading, spend: Callable[..., None]) -> PromptScorer:
        """Load the model. ``spend`` is told of that, and of each prompt how many tokens it took."""


@dataclass(frozen=True)
class InProcess:
    """A model that is loaded into this process.

    Attributes
    ----------
    weights
        The model's weights on disk.
    precision
        A key of ``models.DTYPES``.
    special_tokens
        See ``tokens.tokenize``.
    products
        See ``products.decide``.
    """

    weights: Weights
    precision: str
    special_tokens: str = "text"
    products: str = MEASURED

    @property
    def identities(self) -> list[dict[str, Any]]:
        """See ``identity.identities``."""
        reading = reading_digest(Path(self.weights.folder), self.weights.trust_remote_code)
        device = models.device_for(self.precision)
        return identities(
            self.weights.revision, self.precision, device, reading, self.special_tokens, self.products
        )

    @property
    def made_from(self) -> dict[str, Any]:
        """The weights and the precision."""
        weights = self.weights
        return {"model": weights.source, "revision": weights.revision, "precision": self.precision}

    def reading(self) -> Reading:
        """Return what the tokenizer and the config say."""
        return Reading.from_weights(self.weights, self.special_tokens)

    def scorer(self, reading: Reading, spend: Callable[..., None] = lambda *_, **__: None) -> Scorer:
        """Load the model; InputError if transformers cannot."""
        with told_by_library(f"{self.weights.folder}: transformers cannot load its weights"):
            model = models.load(self.weights, self.precision, self.products)
            if getattr(model.config, "quantization_config", None) is not None and not self.weights.quantized:
                with torch.no_grad():  # some kinds of quantization load, and cannot compute here
                    model(torch.zeros((1, 1), dtype=torch.long, device=model.device))
        spend("start", parameters=model.num_parameters())
        return Scorer(model, reading.read, spend)


def score_cells(
    cells: Mapping[Path, Cell],
    backend: Backend,
    report: Callable[[str], None],
    leave_out_too_long: bool = False,
    spend: Callable[..., None] = lambda *_, **__: None,
) -> None:
    """Score every prompt of the cells that has no score yet, and write the scores files.

    The model is loaded once for all, and only where something is missing. A job that is killed
    loses the prompt it was in, no more. Prompts that an earlier file of the same model, examples
    and code holds are taken from there.

    Parameters
    ----------
    cells
        {scores file: what is in it}. Each file is written as soon as its cell is scored.
    backend
        The backend that computes the scores.
    leave_out_too_long
        Whether prompts longer than the model's context are left out; else they are an error.
    spend
        Is told when the model is loaded, and of each prompt how many tokens that took: ``Ledger.add``.

    Raises
    ------
    InputError
        If a string is longer than the model's context, before the model is loaded.
    """
    identity, *earlier = backend.identities
    stores = {path: ScoreStore(path, identity, earlier, report) for path in cells}
    reading: Reading | None = None
    if any(stores[path].left_out(key) is not None for path, cell in cells.items() for key in cell.keys):
        reading = _asked_again(backend, report)  # a server may read more than before
    context = None if not leave_out_too_long else 0 if reading is None else reading.context
    missing = {path: _missing(cell, stores[path], context) for path, cell in cells.items()}
    for path, cell in cells.items():
        report(f"{cell.words}: {len(missing[path])} of {len(cell.keys)} prompts to score")
    if any(missing.values()):
        reading = reading or backend.reading()
        for cell in cells.values():
            _check_read(cell, reading)
        too_long = {
            path: prompts_too_long(cell, reading, missing[path], leave_out_too_long)
            for path, cell in cells.items()
        }
        scorer = backend.scorer(reading, spend)
        _prove(cells, stores, missing, too_long, scorer, reading, report)
    for path, cell in cells.items():
        if any(missing.values()):
            _score_missing(cell, stores[path], missing[path], too_long[path], scorer, report)
        stores[path].finish(cell.keys, {**backend.made_from, **({"null": True} if cell.null else {})})


def _asked_again(backend: Backend, report: Callable[[str], None]) -> Reading | None:
    """How the model reads now; None if its server does not answer, which may be no longer needed."""
    try:
        return backend.reading()
    except InputError as error:
        report(f"prompts that were left out are not tried again: {error}")
        return None


def _missing(cell: Cell, store: ScoreStore, context: int | None) -> list[int]:
    """Return the prompts that have no score, also those that were left out and fit into the context now.

    The context is None if none is to be left out.
    """
    return [
        prompt
        for prompt, key in enumerate(cell.keys)
        if key not in store
        or ((tokens := store.left_out(key)) is not None and (context is None or tokens <= context))
    ]


def _check_read(cell: Cell, reading: Reading) -> None:
    """Raise InputError, before the model is loaded, where an example cannot be read.

    Two prompts have all examples: one lacks its own demonstrations alone.
    """
    for prompt in range(min(2, len(cell.prompts))):
        try:
            tokens = reading.read(cell.strings(prompt))
        except InputError as error:
            remedy = _OF_NULL if cell.null else ""
            raise InputError(f"{cell.words}, prompt {prompt}: {error}{remedy}") from None
        largest = max(map(max, tokens.sequences))
        if reading.vocabulary is not None and largest >= reading.vocabulary:
            raise InputError(
                f"{cell.words}, prompt {prompt}: the tokenizer gives the token {largest}, and the model "
                f"has {reading.vocabulary}; expected the model's own tokenizer"
            )


_OF_NULL = "; of null-target prompts, the field `null` of the task's file, or its format, says what they are"


def _prove(
    cells: Mapping[Path, Cell],
    stores: Mapping[Path, ScoreStore],
    missing: Mapping[Path, list[int]],
    too_long: Mapping[Path, Mapping[int, int]],
    scorer: PromptScorer,
    reading: Reading,
    report: Callable[[str], None],
) -> None:
    """Score the prompt with the longest strings first, and hold some of these against the definition.

    It is the same prompt however many have scores already, so that a job that was killed goes on as it began.
    """
    prompts = sum(len({*missing[path]} - {*too_long[path]}) for path in cells)
    if not prompts:
        return
    lengths = {
        (path, prompt): int(length)
        for path, cell in cells.items()
        for prompt, length in enumerate(cell.lengths(reading.read))
        if prompt not in too_long[path]
        and (prompt in missing[path] or stores[path].left_out(cell.keys[prompt]) is None)
    }
    path, prompt = max(lengths, key=lambda case: lengths[case])
    with located(f"{cells[path].words}, prompt {prompt}"):
        rows, counts = scorer.prove(cells[path].strings(prompt), prompts, lengths[path, prompt] + MEETING)
    report(scorer.findings)
    for scores_file, cell in cells.items():
        _check_stored(cell, stores[scores_file], scorer)
    if prompt in missing[path]:
        stores[path].add(cells[path].keys[prompt], rows, counts)


MEETING = 16  # tokens that texts can have more together than apart


def _check_stored(cell: Cell, store: ScoreStore, scorer: PromptScorer) -> None:
    """Hold the first stored prompt against the model."""
    for prompt, key in enumerate(cell.keys):
        rows = store.rows(key)
        if rows is not None:
            scorer.check_stored(cell.strings(prompt), rows)
            return


def _score_missing(
    cell: Cell,
    store: ScoreStore,
    missing: list[int],
    too_long: Mapping[int, int],
    scorer: PromptScorer,
    report: Callable[[str], None],
) -> None:
    for scored, prompt in enumerate(missing, start=1):
        if store.rows(cell.keys[prompt]) is not None and prompt not in too_long:
            continue  # the first that was scored
        if prompt in too_long:
            store.add(cell.keys[prompt], None, {TOO_LONG: too_long[prompt]})
        else:
            with located(f"{cell.words}, prompt {prompt}"):
                rows, counts = scorer.score(cell.strings(prompt))
            store.add(cell.keys[prompt], rows, counts)
        report(f"{cell.words}: {scored} of {len(missing)} prompts scored")


class Scorer:
    """A model, scoring one prompt after another on the path that suits it.

    Attributes
    ----------
    limit
        The most tokens that go through the model at once. It is halved when an accelerator
        runs out of memory.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        read: Callable[[PromptStrings], Tokens],
        spend: Callable[..., None] = lambda *_, **__: None,
    ) -> None:
        self.model, self.read, self.spend = model, read, spend
        self.limit = pack_tokens(model)
        self.paths: Paths | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """How scores were computed, for the record: the same whichever prompts a job had left to score."""
        path_facts = {} if self.paths is None else {"path": self.paths.path, "why": self._why(self.paths)}
        return {**models.describe(self.model), **path_facts, "versions": versions()}

    @staticmethod
    def _why(paths: Paths) -> str:
        """Return the findings, without the used path's error on this job (the log has it)."""
        return "; ".join(note for note in paths.notes if not note.startswith(f"{paths.path}: differs"))

    @property
    def findings(self) -> str:
        """The path and why."""
        return "" if self.paths is None else f"path: {self.paths.path} ({self.paths.why})"

    def check_stored(self, strings: PromptStrings, rows: pd.DataFrame) -> None:
        """Nothing is checked: the identity of stored scores names the weights and the code."""

    def prove(
        self, strings: PromptStrings, prompts: int, longest: int
    ) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """See ``score``; before it, the path is chosen that gives the definition's scores.

        Parameters
        ----------
        prompts
            How many prompts are scored in all. Strings are held against the definition for at most about 2 %
            of their tokens, but two at least: windows show in the longest, places of a row in another.
        longest
            The most tokens of a string in the job.
        """
        tokens = self.read(strings)
        own_longest = max(map(len, tokens.sequences))
        self.paths = Paths.for_model(self.model, max(longest, own_longest))
        affordable = len(tokens.trie) * prompts // (50 * own_longest)
        paths, number = self.paths, min(max(affordable, LEAST_PROVED), MOST_PROVED, len(tokens.sequences))
        return self._scored(strings, tokens, lambda: paths.proved(tokens, self.limit, number))

    def score(self, strings: PromptStrings) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        """Return the scores of one prompt's strings, and how many tokens that took.

        Returns
        -------
        rows
            (strings,) the columns of the scores table but for ``prompt``.
        counts
            Tokens of all strings, of their trie, through the model, and the most at once.
        """
        tokens = self.read(strings)
        path = "alone" if self.paths is None else self.paths.path
        return self._scored(strings, tokens, lambda: score(self.model, tokens, path, self.limit))

    def _scored(
        self, strings: PromptStrings, tokens: Tokens, compute: Callable[[], Computed]
    ) -> tuple[pd.DataFrame, Mapping[str, Any]]:
        while True:
            try:
                computed = compute()
                break
            except torch.OutOfMemoryError:
                if self.limit <= 16:
                    raise
                self.limit //= 2
                torch.cuda.empty_cache()
            except torch.AcceleratorError:
                raise
            except (RuntimeError, IndexError) as error:
                raise unreadable(tokens, error) from error
        self._check_finite(strings, tokens, computed.logprobs)
        went = {"tokens": sum(map(len, tokens.sequences)), "computed": computed.tokens}
        self.spend("prompt", **went)
        counts = {**went, "trie": len(tokens.trie), "pack": self.limit, "run": self.facts}
        return scores_rows(strings, tokens, computed.logprobs), counts

    def _check_finite(self, strings: PromptStrings, tokens: Tokens, logprobs: NDArray[np.float64]) -> None:
        """Raise InputError with an example and choice whose score is no number.

        In a pack, what is no number spreads to strings beside it: the one is named that has it alone.
        """
        strange: list[int] = np.flatnonzero(~np.isfinite(logprobs)).tolist()

        def alone(at: int) -> bool:
            logprobs = score_alone(self.model, [tokens.sequences[at]], [tokens.starts[at]]).logprobs
            return not bool(np.isfinite(logprobs).all())

        if strange:
            at = next(filter(alone, strange), strange[0])
            raise InputError(
                f"example '{strings.examples[at]}', choice {strings.numbers[at]}: the model gives "
                f"{logprobs[at]}; use another precision (float32), or weights that are whole"
            )


LEAST_PROVED, MOST_PROVED = 2, 8  # strings of a job that are held against the definition


def scores_rows(strings: PromptStrings, tokens: Tokens, logprobs: Iterable[float]) -> pd.DataFrame:
    """Return the rows of the scores table but for ``prompt``, of strings with these log-likelihoods."""
    return pd.DataFrame(
        {
            "example": strings.examples,
            "choice": strings.numbers,
            "logprob": logprobs,
            "tokens": tokens.scored,
            "characters": [len(choice) for choice in strings.choices],
            "bytes": [len(choice.encode()) for choice in strings.choices],
        }
    )


def prompts_too_long(cell: Cell, reading: Reading, prompts: Iterable[int], leave_out: bool) -> dict[int, int]:
    """{prompt: its longest string in tokens} of those that do not fit the model's context.

    InputError if there are some and they are not to be left out.
    """
    context = reading.context
    if context is None:
        return {}
    too_long = {}
    for prompt in prompts:
        strings = cell.strings(prompt)
        # but for a few special tokens
        if reading.short_shows and max(len(text.encode()) for text in strings.texts) + 8 <= context:
            continue
        longest = max(map(len, reading.read(strings).sequences))
        if longest > context:
            too_long[prompt] = longest
    if too_long and not leave_out:
        prompt, longest = max(too_long.items(), key=lambda item: item[1])
        raise InputError(
            f"{cell.words}: {len(too_long)} of {len(cell.prompts)} prompts are longer than the model's "
            f"context of {context} tokens (prompt {prompt} has {longest}); use fewer "
            "shots, another model, or the key `too_long: leave_out` in the config"
        )
    return too_long
