"""Examples of a task that belong together, so that their answers are no independent evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from abovechance.core.arrays import Ints

# A sentence of so many words can be a passage.
PASSAGE_WORDS = 8
# (in at most so many examples, at least this share of an example's words): what many examples have, such as
# an instruction, says less than what few have.
PASSAGES = ((12, 1 / 5), (50, 1 / 3))


def clusters_of(tasks: Mapping[str, pd.DataFrame]) -> dict[str, pd.Series[int]]:
    """{task: the cluster of each example, by its name} from the tables ``tasks`` that have clusters."""
    return {name: task.set_index("example")["cluster"] for name, task in tasks.items() if "cluster" in task}


def clusters(keys: Sequence[Iterable[Hashable]]) -> Ints:
    """(examples,) the number of each example's cluster, from 0: those with a key in common, and their like.

    Parameters
    ----------
    keys
        Values that examples of one cluster have in common.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[Hashable, int] = {}
    pairs = [
        (example, len(keys) + numbers.setdefault(key, len(numbers)))
        for example, keys_of_example in enumerate(keys)
        for key in keys_of_example
    ]
    size = len(keys) + len(numbers)
    weights = np.ones(len(pairs), dtype=bool)
    graph = coo_array((weights, tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    # numbered as they come
    first: dict[int, int] = {}
    return np.array(
        [first.setdefault(int(name), len(first)) for name in component[: len(keys)]], dtype=np.int64
    )


def passages(inputs: Sequence[str]) -> list[set[Hashable]]:
    """Return the visible parts that questions share: for each, its passages, and its words in any order.

    A passage is a sentence of at least ``PASSAGE_WORDS`` words that some inputs have and that is a good
    part of each (``PASSAGES``). Inputs of the same words are the same with parts swapped.
    """
    split = [re.split(r"(?<=[.!?])\s+|\n", text) for text in inputs]
    sentences = [
        {part: len(part.split()) for part in map(str.strip, parts) if len(part.split()) >= PASSAGE_WORDS}
        for parts in split
    ]
    times = Counter(sentence for sentences_of_text in sentences for sentence in sentences_of_text)
    most_of_all = max(10, 0.1 * len(inputs))  # in a small task, what a tenth has is an instruction
    shared_keys: list[set[Hashable]] = []
    for text, sentences_of_text in zip(inputs, sentences, strict=True):
        words = re.findall(r"\w+|[^\w\s]", text.lower())
        length = len(text.split())
        keys: set[Hashable] = {
            sentence
            for sentence, size in sentences_of_text.items()
            for most_examples, share in PASSAGES
            if times[sentence] <= min(most_examples, most_of_all) and size >= share * length
        }
        shared_keys.append(keys | ({tuple(sorted(words))} if words else set()))
    return without_common(shared_keys)


def without_common(keys: Sequence[set[Hashable]]) -> list[set[Hashable]]:
    """Keys without those that say nothing, since all examples have them, or more than a tenth (and ten)."""
    times = Counter(key for keys_of_example in keys for key in keys_of_example)
    limit = min(max(10, 0.1 * len(keys)), len(keys) - 1)
    return [{key for key in keys_of_example if times[key] <= limit} for keys_of_example in keys]
