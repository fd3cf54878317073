"""The strings of one prompt, and their tokens."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from tokenizers import Encoding
from transformers import PreTrainedTokenizerFast

from abovechance.core.errors import InputError
from abovechance.scoring.trie import TokenTrie, build_trie


@dataclass(frozen=True)
class PromptStrings:
    """Every (example, choice) of one prompt; all fields are of equal length.

    Attributes
    ----------
    examples, numbers
        Which example and which of its choices.
    contexts, choices
        What the model reads, and the text whose likelihood is wanted, with its leading blank.
    """

    examples: tuple[str, ...]
    numbers: tuple[int, ...]
    contexts: tuple[str, ...]
    choices: tuple[str, ...]

    @classmethod
    def from_examples(cls, demonstrations: str, examples: pd.DataFrame) -> PromptStrings:
        """Return the strings of examples, indexed by id, behind the text of the demonstrations."""
        rows = [
            (example, number, demonstrations + text, f" {choice}")
            for example, text, choices in zip(
                examples.index, examples["text"], examples["choices"], strict=True
            )
            for number, choice in enumerate(choices)
        ]
        return cls(*zip(*rows, strict=True))

    @property
    def texts(self) -> list[str]:
        """(strings,) the whole strings."""
        return [context + choice for context, choice in zip(self.contexts, self.choices, strict=True)]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a prompt's strings.

    Attributes
    ----------
    sequences
        (strings,) the tokens of each string.
    starts
        (strings,) where the tokens of its choice begin.
    """

    sequences: list[list[int]]
    starts: list[int]

    @cached_property
    def trie(self) -> TokenTrie:
        """The common beginning of the sequences."""
        return build_trie(self.sequences, self.starts)

    @property
    def scored(self) -> list[int]:
        """(strings,) the number of each choice's tokens."""
        return [len(s) - start for s, start in zip(self.sequences, self.starts, strict=True)]


SPECIAL_TOKENS = ("text", "read")


def tokenize(
    tokenizer: PreTrainedTokenizerFast, strings: PromptStrings, special_tokens: str = "text"
) -> Tokens:
    """Tokenize whole strings; a choice's tokens are those that end after the choice's start.

    A token across that border counts as the choice's. Special tokens that a tokenizer puts
    before the string are read; one that it puts behind it is not.

    Parameters
    ----------
    special_tokens
        What a string is that reads like a special token, such as ``</s>``: ``text`` as any other, or
        ``read`` as that token, so that a task can steer the model.

    Raises
    ------
    InputError
        With the example and choice that has no token of its own, none before it, or the same tokens as
        another choice; or whose text is read as a special token although it should be taken as text.
    """
    _report_whole_spans(tokenizer)
    encoded = tokenizer(
        strings.texts,
        return_offsets_mapping=True,
        return_attention_mask=False,
        verbose=False,
        split_special_tokens=special_tokens == "text",
    )
    if special_tokens == "text":
        _check_text(tokenizer, encoded.encodings, strings)
    sequences, starts = [], []
    numbers: dict[tuple[str, tuple[int, ...]], int] = {}
    for tokens, spans, context, example, number in zip(
        encoded["input_ids"],
        encoded["offset_mapping"],
        strings.contexts,
        strings.examples,
        strings.numbers,
        strict=True,
    ):
        covered = np.flatnonzero(np.array([end for _, end in spans]) > len(context))
        if not len(covered):
            raise InputError(
                f"example '{example}', choice {number}: the tokenizer makes no token of it; expected a "
                "choice of characters that it knows"
            )
        if covered[0] == 0:
            raise InputError(
                f"example '{example}': the model reads nothing before its choices; expected a text, "
                "or shots above 0"
            )
        sequence = tokens[: covered[-1] + 1]
        number_of_text = numbers.setdefault((example, tuple(sequence)), number)
        if number_of_text != number:
            raise InputError(
                f"example '{example}': its choices {number_of_text} and {number} are the same tokens to this "
                "tokenizer; expected choices that differ in more"
            )
        sequences.append(sequence)
        starts.append(int(covered[0]))
    return Tokens(sequences, starts)


def _report_whole_spans(tokenizer: PreTrainedTokenizerFast) -> None:
    """Have a tokenizer report spans with the blanks of a token, which some leave out.

    A newline with blanks behind it can be one token. If it ends in a choice, it is the choice's.
    """
    processor = tokenizer.backend_tokenizer.post_processor
    state = b"" if processor is None else processor.__getstate__()
    if b'"trim_offsets":true' in state:
        whole = deepcopy(processor)
        whole.__setstate__(state.replace(b'"trim_offsets":true', b'"trim_offsets":false'))
        tokenizer.backend_tokenizer.post_processor = whole


def _check_text(
    tokenizer: PreTrainedTokenizerFast, encodings: list[Encoding], strings: PromptStrings
) -> None:
    """Raise InputError if a text is read as a special token, because the vocabulary has it as a text too."""
    named = {
        token: name
        for token, name in zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True)
        if len(name) > 1
    }
    texts = strings.texts
    for place, encoding in enumerate(encodings):
        special = [(at, named[token]) for at, token in enumerate(encoding.ids) if token in named]
        mask = encoding.special_tokens_mask if special else []  # what is not in the text
        names = [name for at, name in special if not mask[at]]
        for name in (name for name in names if name != tokenizer.unk_token or name in texts[place]):
            raise InputError(
                f"example '{strings.examples[place]}', choice {strings.numbers[place]}: the tokenizer reads "
                f"'{name}' as its special token, also as text; expected 'special_tokens: read' or other texts"
            )
