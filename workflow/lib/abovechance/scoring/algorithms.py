"""How a model can be scored, which is tried and not believed.

``tree``
    Every shared token once, in packs under a tree mask. For models whose attention takes a
    mask and whose positions are told, sliding windows included.
``batched``
    The demonstrations once; a row for each choice. For models that look back at them through
    a cache but by the places of a row, such as those with ALiBi.
``plain``
    A whole row for each choice, rows of the same length together.
``alone``
    One string after another, which is the definition. For all others.

A model is tried twice: on a few short strings when it is loaded (``Paths.for_model``), and on strings of the
job itself, among them its longest (``Paths.proved``), since windows, scaled positions and the like begin
where short strings end.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

from abovechance.core.errors import InputError
from abovechance.scoring.engine import (
    PACK_TOKENS,
    Computed,
    changing_positions,
    score_alone,
    score_rows,
    score_tree,
)
from abovechance.scoring.masks import (
    all_before,
    attention_windows,
    own_ancestors,
    selected_tokens,
    unknown_windows,
)
from abovechance.scoring.packs import Pack, cut_packs
from abovechance.scoring.tokens import Tokens
from abovechance.scoring.trie import TokenTrie

# What rounding may make of a token's log-likelihood, in nats.
ROUNDING = {torch.float32: 2e-4}
ROUNDING_16_BITS = 0.15
# What may differ where the same is computed twice, in tensors of the same shape.
SAME = {torch.float32: 1e-4}
SAME_16_BITS = 0.02


def score(model: PreTrainedModel, tokens: Tokens, path: str, limit: int = PACK_TOKENS) -> Computed:
    """Score the strings of one prompt on a path: ``tree``, ``batched``, ``plain`` or ``alone``."""
    if path == "tree":
        return score_tree(model, tokens.trie, limit)
    if path == "alone":
        return score_alone(model, tokens.sequences, tokens.starts)
    return score_rows(model, tokens.sequences, tokens.starts, limit, share=path == "batched")


@dataclass
class Paths:
    """The paths that a model may take, the fastest first, and why not the others.

    Attributes
    ----------
    model
        The model that is tried.
    names
        Those that nothing speaks against so far; the last is ``alone``.
    notes
        What was found, in words.
    """

    model: PreTrainedModel
    names: list[str]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def for_model(cls, model: PreTrainedModel, longest: int = 0) -> Paths:
        """Try a model on a few short strings.

        Parameters
        ----------
        longest
            The most tokens of a string that is to be scored.

        Raises
        ------
        InputError
            If the model does not predict a token from those before it alone, or not twice the same.
        """
        tokens = _some_strings(model)
        exact = _check_definition(model, tokens)
        changes = changing_positions(model)
        if changes is not None and longest > changes:
            return cls(model, ["alone"], [f"its positions change from {changes} tokens on"])
        selected = selected_tokens(model)
        if selected is not None and longest > selected:
            return cls(model, ["plain", "alone"], [f"a token selects {selected} of the tokens before it"])
        paths = cls(model, [])
        paths._try_tree(tokens, exact)
        for path in ("batched", "plain"):
            # once one holds, the slower ones are tried on the job's strings if need be
            if paths.names or paths._holds(path, partial(_scores, model, tokens, path), tokens, exact):
                paths.names.append(path)
        paths.names.append("alone")
        return paths

    def proved(self, tokens: Tokens, limit: int, strings: int) -> Computed:
        """Score a prompt on the fastest path that gives the scores of the definition for some of its strings.

        Paths that do not are dropped. See ``_telling`` for which strings.

        Parameters
        ----------
        limit
            The most tokens at once.
        strings
            How many strings are held against the definition, at least one.

        Raises
        ------
        InputError
            If the model cannot read them, or scores them in another way the second time.
        """
        chosen = _telling(tokens, limit, strings)
        sample = Tokens([tokens.sequences[at] for at in chosen], [tokens.starts[at] for at in chosen])
        exact = _definition(self.model, sample)
        while (path := self.path) != "alone":
            results: list[Computed] = []

            def scored(path: str = path, computed: list[Computed] = results) -> NDArray[np.float64]:
                computed.append(score(self.model, tokens, path, limit))
                return computed[0].logprobs[chosen]

            if self._holds(path, scored, sample, exact):
                return results[0]
            self.names.pop(0)
        _check_repeated(self.model, exact, _definition(self.model, sample))
        return score(self.model, tokens, "alone")

    @property
    def path(self) -> str:
        """The fastest."""
        return self.names[0]

    @property
    def why(self) -> str:
        """The findings, in words."""
        return "; ".join(self.notes) or "nothing faster gives the same"

    def _try_tree(self, tokens: Tokens, exact: NDArray[np.float64]) -> None:
        """Try the tree path: the mask must be right, and the model must heed it."""
        model = self.model
        kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or [])
        if unsupported := kinds - set(attention_windows(model)):
            self.notes.append(f"tree: it has layers of the kinds {sorted(unsupported)}")
            return
        if not takes_positions(model):
            self.notes.append("tree: it takes no positions")
            return
        if keys := unknown_windows(model):
            self.notes.append(f"tree: it may look back by places in a row ({', '.join(keys)})")
            return
        wrong = _distance(partial(_in_packs, model, tokens, all_before), tokens, exact, model.dtype)
        distance = _distance(partial(_in_packs, model, tokens, own_ancestors), tokens, exact, model.dtype)
        self.notes.append(
            f"tree: scores under its mask differ by {distance:.2g} nats a token, without one by {wrong:.2g}"
        )
        # A model that ignores the mask has both equal; one that takes it has the first at rounding error.
        if distance < min(wrong / 4, _rounding(model)):
            self.names.append("tree")

    def _holds(
        self,
        path: str,
        scores: Callable[[], NDArray[np.float64]],
        tokens: Tokens,
        exact: NDArray[np.float64],
    ) -> bool:
        """Return whether a path gives the definition's scores up to rounding; what was found is told."""
        difference = _distance(scores, tokens, exact, self.model.dtype)
        holds = difference < _rounding(self.model)
        in_16_bits = self.model.dtype not in ROUNDING
        if not holds and in_16_bits and np.isfinite(difference) and path != "plain":
            # another exact way tells how much of the difference is rounding
            distance = _distance(
                partial(_scores, self.model, tokens, "plain"), tokens, exact, self.model.dtype
            )
            holds = difference < 2 * distance and distance < 4 * _rounding(self.model)
        longest = max(map(len, tokens.sequences))
        self.notes.append(f"{path}: differs by {difference:.2g} nats a token in {longest} tokens")
        return bool(holds)


def _rounding(model: PreTrainedModel) -> float:
    return ROUNDING.get(model.dtype, ROUNDING_16_BITS)


def _distance(
    scores: Callable[[], NDArray[np.float64]],
    tokens: Tokens,
    exact: NDArray[np.float64],
    dtype: torch.dtype,
) -> float:
    """Absolute difference from exact scores, in nats a token; nan where the model refuses the path.

    The largest of all strings; in 16 bits, where single ones are far off by rounding, their mean. Models
    raise anything for inputs that they do not take.
    """
    try:
        computed = scores()
    except (torch.OutOfMemoryError, torch.AcceleratorError):  # after the second, a GPU computes no more
        raise
    except Exception:
        return float("nan")
    differences = np.abs(computed - exact) / np.array(tokens.scored)
    return float(np.max(differences) if dtype in ROUNDING else np.mean(differences))


def _check_definition(model: PreTrainedModel, tokens: Tokens) -> NDArray[np.float64]:
    """Return the scores of strings one by one, once they are what they should be.

    Raises
    ------
    InputError
        If the model cannot read a string, sees tokens behind those that it predicts, or scores a string in
        another way the second time.
    """
    model_is = f"a model of the type '{model.config.model_type}'"
    expected = "expected a model that predicts the next token"
    try:
        exact = score_alone(model, tokens.sequences, tokens.starts).logprobs
        first = tokens.sequences[0], tokens.starts[0]
        repeated = score_alone(model, [first[0]], [first[1]]).logprobs[0]
        # as many tokens behind, since another length is rounded in another way
        first_scores, second_scores = (_with_behind(model, *first, behind) for behind in _two_ends(tokens))
    except (InputError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        raise InputError(f"{model_is} cannot read a text by itself ({_reason(error)}); {expected}") from None
    if not np.isfinite(exact).all():
        raise InputError(f"{model_is} gives {exact[~np.isfinite(exact)][0]} for a short text; {expected}")
    _check_repeated(model, exact[:1], np.array([repeated]))
    if abs(first_scores - second_scores) > SAME.get(model.dtype, SAME_16_BITS):
        raise InputError(f"{model_is} sees the tokens behind those that it predicts; {expected}")
    return exact


def _check_repeated(model: PreTrainedModel, first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
    """Raise InputError if a model does not score (strings,) texts in the same way twice."""
    if (abs(first - second) > SAME.get(model.dtype, SAME_16_BITS)).any():
        raise InputError(
            f"a model of the type '{model.config.model_type}' scores a text in another way the second time; "
            "expected a model that predicts the next token"
        )


def _definition(model: PreTrainedModel, tokens: Tokens) -> NDArray[np.float64]:
    """Return the scores of strings one by one; InputError where the model cannot read them."""
    try:
        return score_alone(model, tokens.sequences, tokens.starts).logprobs
    except (InputError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        raise unreadable(tokens, error) from None


def unreadable(tokens: Tokens, error: Exception) -> InputError:
    """Return an error about strings that the model raises an error for."""
    longest = max(map(len, tokens.sequences))
    return InputError(
        f"the model cannot read a string of {longest} tokens ({_reason(error)}); use fewer shots, "
        "shorter examples or another model"
    )


def _reason(error: Exception) -> str:
    """Return an error's name and words in one line, without CUDA's advice on debugging."""
    words = str(error).partition("\nSearch for `cuda")[0].split()
    return f"{type(error).__name__}: {' '.join(words)[:200]}"


def _two_ends(tokens: Tokens) -> tuple[list[int], list[int]]:
    """Return two ends of the same length."""
    return tokens.sequences[0][:3], tokens.sequences[0][3:6]


def _with_behind(model: PreTrainedModel, sequence: Sequence[int], start: int, end: Sequence[int]) -> float:
    """Return the score of a string's tokens where these tokens stand behind them."""
    longer = [*sequence, *end]
    whole, behind = score_alone(model, [longer, longer], [start, len(sequence)]).logprobs
    return float(whole - behind)


def _scores(model: PreTrainedModel, tokens: Tokens, path: str) -> NDArray[np.float64]:
    return score(model, tokens, path, limit=64).logprobs


def _in_packs(
    model: PreTrainedModel, tokens: Tokens, sees: Callable[[TokenTrie, Pack, torch.device], torch.Tensor]
) -> NDArray[np.float64]:
    # so small a limit makes two packs, the second with what it sees of the first in the cache
    return score_tree(model, tokens.trie, limit=10, sees=sees).logprobs


def takes_positions(model: PreTrainedModel) -> bool:
    """Return whether positions are what the model is told, and not the places in its row, as with ALiBi.

    Short strings cannot show this in 16 bits: there, ALiBi's error in a short row is as small
    as rounding.
    """
    config = model.config.get_text_config()
    settings = getattr(config, "attn_config", None)
    alibi = getattr(config, "alibi", False) or getattr(settings, "alibi", False)
    return "position_ids" in inspect.signature(model.forward).parameters and not alibi


def _telling(tokens: Tokens, limit: int, strings: int) -> list[int]:
    """Return the places of the strings that show most.

    First the one that stands furthest from its place: in a pack, other strings' tokens stand between a
    string and its beginning, and a model that goes by the places of a row errs there. The longest, for what
    begins late; where strings share long demonstrations, the first is nearly as long. The shortest. Then the
    next longest.
    """
    lengths = np.array([len(sequence) for sequence in tokens.sequences])
    by_length = np.argsort(-lengths, kind="stable").tolist()
    furthest = int(np.argmax(_displacement(tokens, limit)))
    order = [furthest, by_length[0], by_length[-1], *by_length]
    return list(dict.fromkeys(order))[:strings]


def _displacement(tokens: Tokens, limit: int) -> NDArray[np.int64]:
    """(strings,) how far behind its position the last computed token of each string stands in its pack."""
    trie = tokens.trie
    places = np.zeros(len(trie), dtype=np.int64)
    for pack in cut_packs(trie, limit):
        places[pack.nodes] = len(pack.path) + np.arange(len(pack.nodes)) - trie.depths[pack.nodes]
    displacement = np.zeros(trie.strings, dtype=np.int64)
    np.maximum.at(displacement, trie.scored_strings, places[trie.parents[trie.scored_nodes]])
    return displacement


def _some_strings(model: PreTrainedModel) -> Tokens:
    """Return two questions with two choices of two tokens each, behind the same four tokens."""
    generator = np.random.default_rng(0)
    embeddings: Any = model.get_input_embeddings()
    vocabulary = int(embeddings.weight.shape[0])

    def texts_of(length: int) -> list[int]:
        return generator.integers(vocabulary // 10, vocabulary, length).tolist()

    trunk, questions, ends = texts_of(4), [texts_of(3), texts_of(3)], [texts_of(2), texts_of(2)]
    sequences = [trunk + question + end for question in questions for end in ends]
    return Tokens(sequences, [len(trunk) + 3] * len(sequences))
