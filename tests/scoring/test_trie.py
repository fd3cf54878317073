"""The token trie against the sequences it was made from."""

import numpy as np
from hypothesis import given, strategies as st

from abovechance.scoring.packs import cut_packs
from abovechance.scoring.trie import TokenTrie, build_trie, common_prefix

# Few tokens and a common beginning make sequences that share, repeat and contain each other.
sequences = st.lists(
    st.lists(st.integers(0, 2), min_size=2, max_size=9).map(lambda tail: [9, 9, *tail]),
    min_size=1,
    max_size=12,
)


def start_of(sequence: list[int]) -> int:
    return max(1, len(sequence) - 2)


def path_to(trie: TokenTrie, node: int) -> list[int]:
    path = []
    while node >= 0:
        path.append(node)
        node = int(trie.parents[node])
    return path[::-1]


def built(given_sequences: list[list[int]]) -> TokenTrie:
    return build_trie(given_sequences, [start_of(sequence) for sequence in given_sequences])


@given(sequences)
def test_every_distinct_beginning_is_one_node(given_sequences):
    trie = built(given_sequences)
    beginnings = {tuple(s[: i + 1]) for s in given_sequences for i in range(len(s))}
    assert {tuple(trie.tokens[path_to(trie, node)]) for node in range(len(trie))} == beginnings
    assert len(trie) == len(beginnings)


@given(sequences)
def test_the_scored_tokens_of_a_string_are_those_of_its_choice(given_sequences):
    trie = built(given_sequences)
    for string, sequence in enumerate(given_sequences):
        scored = trie.scored_nodes[trie.scored_strings == string]
        assert path_to(trie, int(scored[-1]))[start_of(sequence) :] == scored.tolist()
        assert trie.tokens[path_to(trie, int(scored[-1]))].tolist() == sequence


@given(sequences)
def test_nodes_are_in_depth_first_order_with_their_subtrees_in_one_piece(given_sequences):
    trie = built(given_sequences)
    for node in range(len(trie)):
        inside = {second for second in range(len(trie)) if node in path_to(trie, second)}
        assert inside == set(range(node, int(trie.ends[node])))
        assert len(path_to(trie, node)) == trie.depths[node] + 1


@given(sequences, st.integers(1, 12))
def test_packs_hold_every_inner_node_once_after_all_that_it_sees(given_sequences, limit):
    trie = built(given_sequences)
    present: set[int] = set()  # what the cache has after the pack before
    packs = list(cut_packs(trie, limit))
    for pack in packs:
        assert set(pack.path.tolist()) <= present
        present = set(pack.columns.tolist())
        assert all(set(path_to(trie, node)) <= present for node in pack.nodes.tolist())
        assert pack.path.tolist() == path_to(trie, int(pack.nodes[0]))[:-1]
    assert {len(pack.nodes) for pack in packs[:-1]} <= {limit}
    computed = np.concatenate([pack.nodes for pack in packs])
    assert computed.tolist() == np.flatnonzero(trie.inner).tolist()


@given(st.lists(st.integers(0, 1)), st.lists(st.integers(0, 1)))
def test_common_prefix_is_the_longest(first, second):
    length = common_prefix(first, second)
    assert first[:length] == second[:length]
    assert length in (len(first), len(second)) or first[length] != second[length]
