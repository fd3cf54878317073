"""In which order a server is asked for strings, in which way, and what is compared."""

from __future__ import annotations

import threading
from collections import Counter
from random import Random

import numpy as np
import pytest

from abovechance.core.errors import InputError
from abovechance.scoring.tokens import Tokens
from abovechance.servers import asking
from abovechance.servers.asking import Spent, ask, beyond_rounding, in_parallel
from tests.servers.toy import Toy


@pytest.fixture(autouse=True)
def same_repeated_texts(monkeypatch):
    monkeypatch.setattr(asking, "_RANDOM", Random(0))


def strings(texts: int, choices: list[list[int]], trunk: int = 40) -> Tokens:
    """Texts that have their first tokens in common, each with the same choices."""
    beginning = [2 + place % 50 for place in range(trunk)]
    rows = [
        ([*beginning, 10 + text % 40, 10 + text // 40, *choice], trunk + 2)
        for text in reversed(range(texts))
        for choice in choices
    ]
    return Tokens([sequence for sequence, _ in rows], [start for _, start in rows])


LONG = [[5, 6], [5, 6, 7], [9]]  # choices of several tokens
SHORT = [[5], [6], [9]]


def exact(toy: Toy, tokens: Tokens) -> np.ndarray:
    rows = [toy.logprobs(sequence) for sequence in tokens.sequences]
    pairs = zip(rows, tokens.sequences, tokens.starts, strict=True)
    return np.array(
        [sum(row[at - 1, text[at]] for at in range(start, len(text))) for row, text, start in pairs]
    )


@pytest.mark.parametrize("choices", [LONG, SHORT])
@pytest.mark.parametrize("connections", [1, 3])
@pytest.mark.parametrize("reads_next", [True, False])
def test_scores_are_those_of_the_model_in_the_order_of_the_strings(choices, connections, reads_next):
    toy, tokens = Toy(), strings(30, choices)
    toy.reads_next, toy.cached = reads_next, 7
    logprobs, spent = ask(toy, tokens, connections)
    assert logprobs == pytest.approx(exact(toy, tokens))
    assert spent.requests == len(toy.asked_for)
    assert spent.read == sum(len(text) for _, text, _ in toy.asked_for)
    assert spent.cached == 7 * len(toy.asked_for)


def test_the_common_beginning_is_sent_first_and_then_the_strings_in_order():
    toy, tokens = Toy(), strings(30, LONG)
    ask(toy, tokens, 1)
    first = tokens.sequences[0]
    assert toy.asked_for[0] == ("next", first[:40], [first[40]])
    asked_for = [(text, start) for _, text, start in toy.asked_for[1:]]
    assert {start for _, start in asked_for} == {42}
    in_order = [*dict.fromkeys(tuple(text) for text, _ in asked_for)]
    repeated = Counter(tuple(text[:42]) for text, _ in asked_for)
    assert Counter(repeated.values()) == {3: 26, 6: 4}  # 4 texts are asked for twice
    assert repeated[tuple(sorted(tokens.sequences)[0][:42])] == 3  # not the first
    # two of these among the others, and two after them
    assert [tuple(text[:42]) for text, _ in asked_for[-6:]] == [
        text for text in dict.fromkeys(tuple(text[:42]) for text, _ in asked_for[-6:]) for _ in range(3)
    ]
    assert {*map(tuple, tokens.sequences)} == {*in_order}
    alone = [text for text in in_order if repeated[text[:42]] == 3]
    assert alone == sorted(alone)


@pytest.mark.parametrize(("texts", "twice"), [(1, 0), (3, 2), (5, 4), (100, 5), (159, 7), (160, 8)])
def test_one_text_in_twenty_is_asked_for_twice(texts, twice):
    toy = Toy()
    ask(toy, strings(texts, [[5, 6]]), 1)
    counts = Counter(tuple(text) for method, text, _ in toy.asked_for if method == "prompt")
    assert Counter(counts.values())[2] == twice
    assert len(counts) == texts


@pytest.mark.parametrize(
    ("trunk", "texts", "warmed"),
    [(31, 5, False), (32, 5, True), (40, 1, False), (40, 2, False), (40, 3, True)],
)
def test_a_long_common_beginning_of_three_strings_is_worth_a_request(trunk, texts, warmed):
    toy, tokens = Toy(), strings(texts, [[5, 6]], trunk)
    ask(toy, tokens, 1)
    assert (toy.asked_for[0][0] == "next") == warmed
    toy.reads_next = False
    toy.asked_for.clear()
    ask(toy, tokens, 1)
    assert toy.asked_for[0][0] == "prompt"


def test_one_request_answers_for_all_choices_of_one_token():
    toy, tokens = Toy(), strings(20, SHORT)
    ask(toy, tokens, 1)
    assert {method for method, *_ in toy.asked_for} == {"next"}
    assert len(toy.asked_for) == 1 + 20 + 4
    assert all(candidates == [5, 6, 9] and len(text) == 42 for _, text, candidates in toy.asked_for[1:])


def test_a_text_with_a_choice_of_two_tokens_is_asked_for_as_given_tokens():
    toy = Toy()
    ask(toy, strings(1, [[5], [6, 7]], trunk=5), 1)
    assert [method for method, *_ in toy.asked_for] == ["prompt", "prompt"]


@pytest.mark.parametrize(
    ("lacking", "next_requests"),
    [
        ({6}, 60),  # a third of the choices
        ({5, 6}, 7),  # 21 tokens, of which two thirds were missing
    ],
)
def test_missing_next_tokens_are_asked_for_as_given_ones(lacking, next_requests, monkeypatch):
    toy, tokens = Toy(), strings(60, SHORT, trunk=5)
    monkeypatch.setattr(asking, "REPEATED", 1000)
    monkeypatch.setattr(asking, "LEAST_REPEATED", 0)

    def without(row, _text):
        row = row.copy()
        row[[*lacking]] = np.nan
        return row

    toy.change_next = without
    logprobs, spent = ask(toy, tokens, 1)
    assert logprobs == pytest.approx(exact(toy, tokens))
    methods = Counter(method for method, *_ in toy.asked_for)
    assert methods["next"] == next_requests
    assert methods["prompt"] == 180 - next_requests * (3 - len(lacking))
    assert spent.requests == methods.total()


def test_half_of_the_tokens_missing_is_too_many():
    toy = Toy()
    toy.change_next = lambda row, _text: np.where(np.arange(len(row)) == 5, row, np.nan)
    ask(toy, strings(60, [[5], [6]], trunk=5), 1)
    assert sum(method == "next" for method, *_ in toy.asked_for) == 10  # 20 tokens


@pytest.mark.parametrize(("difference", "sound"), [(0.19, True), (0.21, False)])
@pytest.mark.parametrize("allowed", [None, 0.2])
def test_texts_that_are_asked_for_twice_have_one_score(difference, sound, allowed):
    """Four differences may be twice as large on average as the tolerance."""
    toy = Toy(tolerance=0.1 if allowed is None else 9.0)
    factor = 1.0 if allowed is None else 2.0
    repeated: Counter[tuple[int, ...]] = Counter()

    def change(rows, text):
        repeated[tuple(text)] += 1
        return rows - factor * difference * (repeated[tuple(text)] > 1)

    toy.change = change
    tokens = strings(30, [[5, 6, 7]], trunk=5)
    if sound:
        ask(toy, tokens, 1, allowed)
        return
    with pytest.raises(InputError) as error:
        ask(toy, tokens, 1, allowed)
    largest, limit = factor * difference, 0.1 * factor
    assert str(error.value) == (
        "vllm at http://toy: strings that were asked for twice have other log-probabilities the second time, "
        f"by up to {largest:.2g} nats a token ({limit:.2g} is rounding); expected a server that computes the "
        "same under load and all the time; the prompts before are kept"
    )


@pytest.mark.parametrize(
    ("differences", "beyond"),
    [
        ([], False),
        ([0.3], False),
        ([0.301], True),
        ([0.2] * 4, False),
        ([0.201] * 4, True),
        ([0.11] * 400, False),
        ([0.1101] * 400, True),
        ([0.5] + [0.0] * 99, False),
        ([0.501] + [0.0] * 99, True),
        ([[0.3], [0.3]], True),
        ([[0.2], [0.2]], False),
    ],
)
def test_what_is_rounding(differences, beyond):
    """The mean is at most 0.1 (1 + 2 / sqrt(n)), and each is at most 5 times 0.1."""
    assert beyond_rounding(differences, 0.1 * (1 + 1e-12)) == beyond


@pytest.mark.parametrize("connections", [1, 3])
def test_as_many_calls_at_once_as_connections(connections):
    lock, at_once, results = threading.Lock(), [0, 0], []
    barrier = threading.Barrier(connections)

    def call(item):
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
        barrier.wait(10)
        results.append(item)
        with lock:
            at_once[0] -= 1

    in_parallel(call, range(12), connections)
    assert sorted(results) == [*range(12)]
    assert at_once == [0, connections]


def test_no_call_is_begun_after_one_that_raises():
    begun = []

    def call(item):
        begun.append(item)
        if item == 1:
            raise ValueError(item)

    with pytest.raises(ValueError, match="1"):
        in_parallel(call, range(10_000), 1)
    assert len(begun) < 10_000


def test_what_was_spent_is_a_sum():
    spent = Spent(1, 2, 3)
    toy = Toy()
    toy.cached = None
    answer = toy.prompt_logprobs([3, 4, 5], 1)
    assert spent.add(answer) is answer
    assert (spent.requests, spent.read, spent.cached) == (2, 5, 3)
    assert repr(spent) == "Spent(requests=2, read=5, cached=3)"
    assert (Spent().requests, Spent().read, Spent().cached) == (0, 0, 0)
