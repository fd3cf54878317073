"""The token trie of one prompt: every token that its strings share, once.

All strings of a prompt begin with the same demonstrations, all choices of an
example with the same question. The strings are tokenized as wholes, and only
then are equal beginnings merged, so that sharing never changes a token:

    demonstrations ─┬─ question 1 ─┬─ choice a
                    │              └─ choice b
                    └─ question 2 ─┬─ choice a
                                   └─ choice b
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TokenTrie:
    """A trie of token sequences, its nodes in depth-first order, so parents come first.

    Attributes
    ----------
    tokens
        (nodes,) the token at each node.
    parents
        (nodes,) the node before it; -1 at the first token of a string.
    depths
        (nodes,) the token's position in its strings, from 0.
    ends
        (nodes,) one past the last node of the node's subtree.
    scored_nodes, scored_strings
        (scored,) the nodes whose tokens belong to a choice, and the string of each.
    strings
        The number of strings.
    """

    tokens: Ints
    parents: Ints
    depths: Ints
    ends: Ints
    scored_nodes: Ints
    scored_strings: Ints
    strings: int

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def inner(self) -> NDArray[np.bool_]:
        """(nodes,) whether a token follows; the last token of a string need not be computed."""
        inner = np.zeros(len(self), dtype=bool)
        inner[self.parents[self.parents >= 0]] = True
        return inner


def build_trie(sequences: Sequence[Sequence[int]], starts: Sequence[int]) -> TokenTrie:
    """Merge the equal beginnings of token sequences.

    Parameters
    ----------
    sequences
        (strings,) the tokens of each string.
    starts
        (strings,) the position of the first token of each string's choice, at least 1:
        the first token of a string has nothing before it that would give it a likelihood.
    """
    order = sorted(range(len(sequences)), key=lambda index: list(sequences[index]))
    tokens: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    scored_nodes: list[int] = []
    scored_strings: list[int] = []
    path: list[int] = []  # the nodes of the sequence before
    before: Sequence[int] = ()
    for string in order:
        sequence = sequences[string]
        shared = common_prefix(before, sequence)
        del path[shared:]
        for depth in range(shared, len(sequence)):
            parents.append(path[-1] if path else -1)
            path.append(len(tokens))
            tokens.append(sequence[depth])
            depths.append(depth)
        choice = path[starts[string] :]
        scored_nodes.extend(choice)
        scored_strings.extend([string] * len(choice))
        before = sequence
    depth_array = np.array(depths, dtype=np.int64)
    return TokenTrie(
        tokens=np.array(tokens, dtype=np.int64),
        parents=np.array(parents, dtype=np.int64),
        depths=depth_array,
        ends=_subtree_ends(depth_array),
        scored_nodes=np.array(scored_nodes, dtype=np.int64),
        scored_strings=np.array(scored_strings, dtype=np.int64),
        strings=len(sequences),
    )


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two sequences share from their beginning."""
    shorter = min(len(first), len(second))
    if list(first[:shorter]) == list(second[:shorter]):
        return shorter
    low, high = 0, shorter  # the first `low` are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _subtree_ends(depths: Ints) -> Ints:
    """(nodes,) the next node that is not deeper, for nodes in depth-first order."""
    ends = np.full(len(depths), len(depths), dtype=np.int64)
    open_nodes: list[int] = []
    for node, depth in enumerate(depths.tolist()):
        while open_nodes and depths[open_nodes[-1]] >= depth:
            ends[open_nodes.pop()] = node
        open_nodes.append(node)
    return ends
