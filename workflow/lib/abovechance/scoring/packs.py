"""The order in which a trie is computed: its inner nodes depth-first, cut into full packs.

A pack is one pass of the model. While it is computed, the key-value cache holds the path to the
pack's first node and nothing else: in depth-first order, whatever a node sees is on that path or
in the pack. For a trunk ``t``, a question ``q`` whose first choice token ``a`` was computed before,
and a question ``r``, a pack and what its nodes see are

           path     pack
           t t t q  b  r r a b
        b  x x x x  x  . . . .
        r  x x x .  .  x . . .
        r  x x x .  .  x x . .
        a  x x x .  .  x x x .
        b  x x x .  .  x x . x
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from abovechance.scoring.trie import Ints, TokenTrie


@dataclass(frozen=True)
class Pack:
    """Nodes that are computed together.

    Attributes
    ----------
    path
        (path,) the ancestors of the first node from the root on: what has to be in the cache.
    nodes
        (pack,) nodes in depth-first order, inner ones alone.
    """

    path: Ints
    nodes: Ints

    @property
    def columns(self) -> Ints:
        """(path + pack,) the nodes whose keys and values are there, in their order."""
        return np.concatenate([self.path, self.nodes])


def cut_packs(trie: TokenTrie, limit: int) -> Iterator[Pack]:
    """Cut the trie's inner nodes into packs of ``limit`` nodes, the last of what is left."""
    inner = np.flatnonzero(trie.inner)
    for begin in range(0, len(inner), limit):
        nodes = inner[begin : begin + limit]
        yield Pack(_ancestors(trie, int(nodes[0])), nodes)


def _ancestors(trie: TokenTrie, node: int) -> Ints:
    """(depth,) the nodes above a node, from the root on."""
    path = np.empty(trie.depths[node], dtype=np.int64)
    for depth in range(len(path) - 1, -1, -1):
        node = int(trie.parents[node])
        path[depth] = node
    return path
