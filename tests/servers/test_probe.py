"""The probe finds each defect of servers of a toy model."""

from __future__ import annotations

from itertools import accumulate
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from abovechance.core.errors import InputError
from abovechance.scoring.tokens import Tokens
from abovechance.servers import probe as module
from abovechance.servers.adapters import Answer
from abovechance.servers.asking import Spent
from abovechance.servers.probe import Probed, probe
from tests.servers.toy import SIZE, Toy, ToyTokenizer

TEXT = [(7 * place) % 30 + 2 for place in range(50)]
# (strings,) texts of 50 to 53 tokens, and choices of 1 to 5
STRINGS = Tokens(
    [[*TEXT, *range(5, 5 + text), *range(20, 21 + choice)] for text in range(4) for choice in (0, 2, 4)],
    [50 + text for text in range(4) for _ in range(3)],
)


@pytest.fixture(autouse=True)
def same_random_tokens(monkeypatch):
    monkeypatch.setattr(module.secrets, "choice", Random(0).choice)


def probed(toy: Toy, tokens: Tokens = STRINGS, context: int | None = None, **options: Any) -> Probed:
    reading = SimpleNamespace(context=context, vocabulary=options.pop("vocabulary", SIZE))
    return probe(toy, ToyTokenizer(), reading, tokens, options.pop("spent", Spent()), **options)


def problem(toy: Toy, tokens: Tokens = STRINGS, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        probed(toy, tokens, **options)
    message = str(error.value)
    start, end = "vllm at http://toy: the probe ", "; no prompt was scored with it"
    assert message.startswith(start)
    assert message.endswith(end)
    return message.removeprefix(start).removesuffix(end)


def test_a_sound_server_is_described():
    toy, spent = Toy(), Spent()
    toy.cached = 3
    result = probed(toy, spent=spent)
    exact = toy.logprobs
    text = next(tokens for method, tokens, _ in toy.asked_for if method == "next")
    likely = np.exp(np.sort(exact(text)[-1])[-5:]).sum()
    assert result.facts == {
        "tokenizer": "the same tokens of 4 texts",
        "repeated": "differs by at most 0 nats a token",
        "sum": f"{likely:.4f} over 5 next tokens",
        "two ways": "compared for 7 tokens",
    }
    assert result.allowed == 0.1
    # the longest string, one with the longest choice, the shortest, and others from the first to the last
    assert result.sequences == tuple(STRINGS.sequences[at] for at in (11, 2, 0, 4, 6, 8))
    assert result.starts == tuple(STRINGS.starts[at] for at in (11, 2, 0, 4, 6, 8))
    for sequence, start, logprobs in zip(result.sequences, result.starts, result.logprobs, strict=True):
        rows = exact(sequence)
        assert logprobs == pytest.approx([rows[at - 1, sequence[at]] for at in range(start, len(sequence))])
    assert spent.requests == len(toy.asked_for)
    assert spent.read == sum(len(tokens) for _, tokens, _ in toy.asked_for)
    assert spent.cached == 3 * len(toy.asked_for)


def test_strings_begin_with_random_tokens_that_are_not_special():
    toy = Toy()
    probed(toy)
    beginnings = [tokens[:32] for _, tokens, _ in toy.asked_for[:6]]
    assert all(tokens[32:34] == TEXT[:2] for _, tokens, _ in toy.asked_for[:6])
    assert len({*map(tuple, beginnings)}) == 6
    assert min(map(min, beginnings)) >= 2
    assert len({token for beginning in beginnings for token in beginning}) > SIZE / 2


@pytest.mark.parametrize(("context", "room"), [(None, 32), (1000, 32), (70, 12), (58, 0), (40, 0)])
def test_random_tokens_leave_room_for_the_string(context, room):
    toy = Toy()
    probed(toy, context=context)
    assert len(toy.asked_for[0][1]) == len(STRINGS.sequences[11]) + room


def test_strings_are_repeated_backwards_and_beside_others():
    toy = Toy(connections=3)
    probed(toy)
    first, backwards, beside = (toy.asked_for[begin : begin + 6] for begin in (0, 6, 12))
    assert backwards == first[::-1]
    assert sorted(beside) == sorted(first)
    # 64 tokens are compared
    assert [len(tokens) - start for _, tokens, start in first] == [64] * 6


def test_fewer_tokens_are_compared_if_each_takes_a_request():
    toy = Toy()
    toy.one_request_per_string = False
    probed(toy)
    assert [len(tokens) - start for _, tokens, start in toy.asked_for[:6]] == [5, 5, 4, 4, 4, 5]


def shifted(rows: np.ndarray, _tokens: list[int]) -> np.ndarray:
    """The values are those of the model one token before."""
    return np.vstack([rows[:1], rows[:-1]])


def of_the_token_before(rows: np.ndarray, tokens: list[int]) -> np.ndarray:
    """The value of each token is that of the token before it."""
    before = [rows[max(at - 1, 0), tokens[at]] for at in range(len(tokens))]
    return np.repeat(np.array(before)[:, None], SIZE, axis=1)


def of_a_set(_rows: np.ndarray, tokens: list[int]) -> np.ndarray:
    """The sum of values of a string depends on which tokens it has, and not on their order."""
    sums = np.array([*accumulate(1 + 0.37 * token % 1 for token in tokens)])
    return sums[:, None] ** 1.5 - (sums[:, None] + 1 + 0.37 * np.arange(SIZE)[None] % 1) ** 1.5


DEFECTS = {
    "zeros": (
        lambda rows, _: 0 * rows,
        "'zeros' failed: all log-probabilities are 0, so all choices are equal (llama.cpp issue 27174)",
    ),
    "constant": (
        lambda rows, _: 0 * rows - 3.5,
        "'zeros' failed: all log-probabilities are -3.5, so the server computes none",
    ),
    "rounded": (
        lambda rows, _: rows.round(1),
        "'digits' failed: all log-probabilities are rounded to one decimal; expected more digits",
    ),
    "of the token before": (
        of_the_token_before,
        "'own token' failed: another last token has the same log-probability; expected that of each token at "
        "its own place (are the values those of the tokens before?)",
    ),
    "shifted": (
        shifted,
        "'own place' failed: another token right before one does not change its log-probability; expected "
        "values that depend on all earlier tokens (are they one place off?)",
    ),
    "of a set": (
        of_a_set,
        "'order' failed: a choice with its tokens in reverse order has the same score",
    ),
    "by the last token": (
        lambda rows, tokens: rows - 0.5 * tokens[-1],
        "'own token' failed: another last token changes the log-probabilities of those before it; expected "
        "values that depend on earlier tokens only (are they one place off?)",
    ),
}


@pytest.mark.parametrize(("change", "message"), DEFECTS.values(), ids=DEFECTS)
def test_a_defect_of_values(change, message):
    toy = Toy()
    toy.change = change
    assert problem(toy) == message


def test_values_of_two_decimals_or_few_tokens_are_no_defect():
    toy = Toy()
    toy.change = lambda rows, _: rows.round(2)
    toy.one_request_per_string = False
    assert probed(toy).facts["two ways"] == "compared for 7 tokens"
    few = Tokens([[2, 3, 4, 5], [2, 3, 4, 6]], [3, 3])  # 3 tokens are compared of each, less than 12 in all
    toy.change = lambda rows, _: rows.round(1)
    assert probed(toy, few, context=4).facts["two ways"] == "compared for 3 tokens"


def test_a_first_value_that_is_one_place_off():
    toy = Toy()

    def change(rows, tokens):
        """The first value that was asked for is that of the token before."""
        start = toy.asked_for[-1][2]
        if isinstance(start, int) and start > 1:
            rows[start - 1] = rows[start - 2, tokens[start - 1]]
        return rows

    toy.change = change
    assert problem(toy) == (
        "'own place' failed: another first token of the choice has the same log-probability; expected that "
        "of each token at its own place (is the first value one place off?)"
    )


def test_a_first_value_that_depends_on_what_follows():
    toy = Toy()
    toy.change = lambda rows, tokens: rows - 0.6 * len(tokens)
    assert problem(toy) == (
        "'own place' failed: the first token of a choice has another log-probability if nothing follows it, "
        "by 2.4 nats; expected values that depend on earlier tokens only"
    )


def test_a_text_that_loses_its_beginning():
    toy = Toy()
    toy.window = 30
    assert problem(toy) == (
        "'beginning' failed: other tokens at the beginning of a text of 90 tokens change nothing; expected a "
        "server that reads the whole text (does its context hold it?)"
    )


def test_a_text_whose_order_does_not_count():
    toy = Toy()
    toy.has_order = False
    assert problem(toy) == (
        "'order' failed: a text with its tokens in reverse order gives its choices the same scores"
    )


@pytest.mark.parametrize(("every", "at_most"), [(False, "at most 1"), (True, "1")])
def test_probabilities_that_add_up_to_more_than_one(every, at_most):
    toy = Toy()
    toy.likely = lambda tokens, vocabulary: (toy.next_logprobs(tokens, [0]), every)
    toy.change = lambda rows, _: rows / np.log(10)
    message = problem(toy)
    assert message.startswith("'sum' failed: the probabilities of 5 next tokens add up to ")
    assert message.endswith(f"; expected natural logarithms of probabilities, which add up to {at_most}")


@pytest.mark.parametrize(
    ("total", "every", "sound"),
    [
        (1.019, True, True),
        (1.021, True, False),
        (0.981, True, True),
        (0.979, True, False),
        (0.1, False, True),
    ],
)
def test_how_far_probabilities_may_be_from_one(total, every, sound):
    toy = Toy()

    def likely(tokens, vocabulary):
        assert vocabulary == SIZE
        answer = toy.next_logprobs(tokens, [0])
        answer.__dict__["top"] = tuple(np.log([total / 2, total / 2]))
        answer.__dict__["best"] = None
        return answer, every

    toy.likely = likely
    if sound:
        assert probed(toy).facts["sum"] == f"{total:.4f} over 2 next tokens"
    else:
        assert f"'sum' failed: the probabilities of 2 next tokens add up to {total:.4g}; " in problem(toy)


def test_next_tokens_that_have_other_values_than_given_ones():
    toy = Toy()
    toy.change_next = lambda row, _: row - 1.3
    assert problem(toy) == (
        "'two ways' failed: a token's log-probability as the next token and as a given one differ by 1.3 "
        "nats; expected log-probabilities before temperature, penalties and other sampling settings"
    )


def test_the_likeliest_next_token_is_compared_even_if_no_choice_is_answered():
    toy = Toy()

    def change(row, _tokens):
        """Only the likeliest next token is answered, with a value of its own."""
        only = np.full(SIZE, np.nan)
        only[np.argmax(row)] = row.max() - 1.0
        return only

    toy.change_next = change
    sequences = [
        sequence[: start + 1] for sequence, start in zip(STRINGS.sequences, STRINGS.starts, strict=True)
    ]
    assert problem(toy, Tokens(sequences, STRINGS.starts)).startswith("'two ways' failed")
    toy.reads_next = False
    assert "two ways" not in probed(toy).facts


@pytest.mark.parametrize(("difference", "sound"), [(0.05, True), (0.12, True), (0.3, False)])
def test_a_model_in_this_process(difference, sound):
    toy = Toy()

    def local(tokens):
        exact = [toy.logprobs(sequence) for sequence in tokens.sequences]
        return np.array(
            [
                sum(rows[at - 1, sequence[at]] - difference for at in range(start, len(sequence)))
                for rows, sequence, start in zip(exact, tokens.sequences, tokens.starts, strict=True)
            ]
        )

    if sound:
        assert probed(toy, local=local).facts["local model"] == f"differs by {difference:.2g} nats a token"
    else:
        assert problem(toy, local=local) == (
            "'local model' failed: its scores differ from those of the model in `compare_with` by 0.3 nats a "
            "token (the tolerance is 0.1); expected the same weights"
        )


def noisy(toy: Toy, deviation: float) -> None:
    generator = np.random.default_rng(0)
    toy.change = lambda rows, _: np.minimum(rows + generator.normal(0, deviation, rows.shape), 0)


def test_a_server_with_noise_allows_as_much_as_it_shows():
    toy = Toy(tolerance=0.02)
    noisy(toy, 0.015)
    result = probed(toy)
    # two values with this noise differ by 2 / sqrt(pi) times as much on average
    assert result.allowed == pytest.approx(2 * 0.015 * 2 / np.pi**0.5, rel=0.1)
    assert 0.05 < float(result.facts["repeated"].split()[4]) < 0.09


def test_a_server_with_too_much_noise():
    toy = Toy()
    noisy(toy, 0.3)
    message = problem(toy)
    assert message.startswith(
        "'repeated' failed: a string has other log-probabilities when it is asked for in another order, by "
        "up to 1."
    )
    assert message.endswith(
        " nats a token (the tolerance is 0.1); a known cause is vLLM's prefix cache (vLLM issue 42019: start "
        "it with --no-enable-prefix-caching)"
    )


def test_a_tokenizer_that_makes_other_tokens():
    toy = Toy()
    toy.tokens_of = lambda text, **_: {"input_ids": [5, 6]}
    expected = ToyTokenizer()("Is it so? Yes, 1 time.", add_special_tokens=False)["input_ids"]
    assert problem(toy) == (
        "'tokenizer' failed: it makes the tokens [5, 6] of 'Is it so? Yes, 1 time.', and the model's "
        f"tokenizer {str(expected)[:60]}; expected the tokenizer of the server's model in `tokenizer`"
    )


@pytest.mark.parametrize(
    ("first", "fact"),
    [
        (None, "not told by the server"),
        ("", "not told by the server"),
        (" w{}", "the same texts of tokens"),
        ("\u2581w{}", "the same texts of tokens"),
        ("\u0120w{}", "the same texts of tokens"),
        ("token_id:{}", "the same texts of tokens"),
        ("w1{}", None),
        ("token_id:1{}", None),
    ],
)
def test_a_server_that_calls_tokens_by_texts(first, fact, monkeypatch):
    toy = Toy()
    toy.tokens_of = None
    # the server calls the second token of the first text
    token = ToyTokenizer()(module.TEXTS[0], add_special_tokens=False)["input_ids"][1]
    toy.texts = () if first is None else (first.format(token),)
    if fact:
        later = toy.prompt_logprobs

        def only_of_the_first(tokens, start):
            """The other texts begin with other tokens."""
            toy.texts = toy.texts if tokens[1] == token else ()
            return later(tokens, start)

        toy.prompt_logprobs = only_of_the_first
        monkeypatch.setattr(module, "TEXTS", module.TEXTS[:1])
        assert probed(toy).facts["tokenizer"] == fact
    else:
        assert problem(toy) == (
            f"'tokenizer' failed: it calls the token {token} {first.format(token)!r}, and the model's "
            f"tokenizer ' w{token}'; expected the tokenizer of the server's model in `tokenizer`"
        )


def test_a_change_during_the_run_is_noticed_by_two_strings():
    toy, spent = Toy(), Spent()
    result = probed(toy)
    requests = len(toy.asked_for)
    result.compare(toy, spent)
    assert [tokens for _, tokens, _ in toy.asked_for[requests:]] == [*result.sequences[:2]]
    assert spent.requests == 2
    toy.change = lambda rows, _: rows - 0.15
    result.compare(toy, spent)  # less than 0.1 (1 + 2 / sqrt(2))
    toy.change = lambda rows, _: rows - 0.25
    with pytest.raises(InputError) as error:
        result.compare(toy, spent)
    assert str(error.value) == (
        "vllm at http://toy: it changed during the run: strings that were asked for before have other "
        "log-probabilities now, by 0.25 nats a token; expected the same model with the same settings; the "
        "prompts before are kept"
    )


def test_strings_with_all_tokens_of_a_small_vocabulary():
    every = [*range(2, SIZE)]
    tokens = Tokens([[*every, *every[::2]], [*every, 5]], [SIZE - 2, SIZE - 2])
    assert probed(Toy(), tokens).facts["two ways"] == "compared for 3 tokens"
    toy = Toy()
    toy.change = of_the_token_before
    assert problem(toy, tokens).startswith("'own token' failed")


def test_the_vocabulary_is_that_of_the_model_or_of_the_tokenizer():
    for vocabulary, expected in ((70, 70), (None, SIZE)):
        toy, sizes = Toy(), []

        def likely(tokens, size, toy=toy, sizes=sizes):
            sizes.append(size)
            return toy.next_logprobs(tokens, [0]), False

        toy.likely = likely
        probed(toy, vocabulary=vocabulary)
        assert sizes == [expected]


def test_a_server_that_lists_no_likely_tokens_is_compared_by_choices():
    toy = Toy()

    def likely(tokens, _):
        answer = toy.next_logprobs(tokens, [0])
        return Answer(answer.logprobs, answer.read), False

    toy.likely = likely
    assert probed(toy).facts["two ways"] == "compared for 6 tokens"


def test_the_longest_choices_get_other_tokens():
    toy = Toy()
    tokens = Tokens([[*TEXT, 20], [*TEXT[:20], *range(30, 35)]], [50, 20])
    probed(toy, tokens)
    # after each of the two is asked for three times
    assert toy.asked_for[6] == ("prompt", [*toy.asked_for[6][1][:32], *tokens.sequences[1]], 52)
    # of choices of a single token, the last three tokens of the string
    toy = Toy()
    probed(toy, Tokens([[*TEXT[:9], 20 + place] for place in range(4)], [9] * 4))
    assert [(len(text), start) for _, text, start in toy.asked_for[12:14]] == [(42, 39)] * 2


def test_the_third_text_of_the_tokenizer_counts_too():
    toy = Toy()
    toy.tokens_of = lambda text, **_: {
        "input_ids": [5]
        if text == module.TEXTS[2]
        else ToyTokenizer()(text, add_special_tokens=False)["input_ids"]
    }
    assert problem(toy).startswith("'tokenizer' failed: it makes the tokens [5] of 'The  two   spaces")


def test_no_noise_is_allowed_before_any_is_measured():
    toy = Toy(tolerance=0.2)
    checks = module._Checks(toy, ToyTokenizer(), SIZE, Spent())
    assert (checks.allowed, checks.noise, checks.facts) == (0.2, 1e-9, {})
