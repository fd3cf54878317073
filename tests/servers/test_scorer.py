"""Prompts that are scored by a server of the toy model: rows, costs, facts, and scores of earlier jobs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from abovechance.core.code import module_digest
from abovechance.core.errors import InputError
from abovechance.scoring.tokens import PromptStrings, Tokens
from abovechance.servers import scorer as module
from abovechance.servers.scorer import ServerScorer
from abovechance.servers.transport import Settings
from tests.servers.toy import SIZE, Toy, ToyTokenizer

STRINGS = PromptStrings(
    examples=tuple(f"e{number}" for number in range(6) for _ in range(2)),
    numbers=(0, 1) * 6,
    contexts=tuple(f"What comes after the number {number}? It is" for number in range(6) for _ in range(2)),
    choices=(" a€c", " abcd") * 6,
)


def tokens_of(strings: PromptStrings) -> Tokens:
    tokenize = ToyTokenizer()
    texts = [tokenize(text, add_special_tokens=False)["input_ids"] for text in strings.contexts]
    choices = [tokenize(text, add_special_tokens=False)["input_ids"] for text in strings.choices]
    return Tokens(
        [text + choice for text, choice in zip(texts, choices, strict=True)], [len(text) for text in texts]
    )


def scorer(toy: Toy, local=None):
    costs = []
    reading = SimpleNamespace(read=tokens_of, context=None, vocabulary=SIZE)
    result = ServerScorer(
        toy, ToyTokenizer(), reading, lambda *names, **counts: costs.append((*names, counts)), local
    )
    return result, costs


def exact(toy: Toy) -> np.ndarray:
    tokens = tokens_of(STRINGS)
    rows = zip(map(toy.logprobs, tokens.sequences), tokens.sequences, tokens.starts, strict=True)
    return np.array(
        [sum(row[at - 1, text[at]] for at in range(start, len(text))) for row, text, start in rows]
    )


def sums(requests) -> int:
    return sum(len(text) for _, text, _ in requests)


def test_rows_and_counts_of_a_prompt():
    toy = Toy()
    toy.cached = 2
    server, costs = scorer(toy)
    rows, facts = server.score(STRINGS)
    assert rows["logprob"].to_numpy() == pytest.approx(exact(toy))
    assert rows.drop(columns="logprob").iloc[:2].to_dict("list") == {
        "example": ["e0", "e0"],
        "choice": [0, 1],
        "tokens": [4, 5],
        "characters": [4, 5],
        "bytes": [6, 5],
    }
    requests, sent = len(toy.asked_for), sums(toy.asked_for)
    counts = {"tokens": sum(map(len, tokens_of(STRINGS).sequences)), "requests": requests, "sent": sent}
    counts["cached"] = 2 * requests
    assert costs == [("prompt", {"computed": sent - 2 * requests} | counts)]
    assert facts == counts | {"run": server.facts}


def test_the_probe_comes_before_the_first_prompt_and_its_cost_is_its_own():
    toy = Toy(tolerance=0.07)
    toy.facts = {"model": "org/m", "version": "1.2", "context": 500}
    toy.cached = 1
    server, costs = scorer(toy)
    words = "vllm at http://toy, 1.2, model org/m"
    assert server.findings == f"server: {words}; "
    assert server.facts["probe"] == {}
    rows, facts = server.prove(STRINGS, 5, 70)
    assert rows["logprob"].to_numpy() == pytest.approx(exact(toy))
    (probe, probe_counts), (prompt, prompt_counts) = costs
    assert (probe, prompt) == ("probe", "prompt")
    requests = probe_counts["requests"]
    assert requests + prompt_counts["requests"] == len(toy.asked_for)
    assert probe_counts == {
        "computed": sums(toy.asked_for[:requests]) - requests,
        "requests": requests,
        "sent": sums(toy.asked_for[:requests]),
        "cached": requests,
    }
    run = facts["run"]
    assert run["server"] == {"kind": "vllm", "url": "http://toy"} | toy.facts
    assert [*run] == ["server", "probe", "tolerance", "versions"]
    assert run["tolerance"] == 0.07
    assert "torch" in run["versions"]
    assert run["probe"]["tokenizer"] == "the same tokens of 4 texts"
    parts = [f"{check}: {fact}" for check, fact in run["probe"].items()]
    assert server.findings == "; ".join([f"server: {words}", *parts])
    # after each prompt, two strings of the probe are asked for again
    assert [text for _, text, _ in toy.asked_for[-2:]] == [*server.probed.sequences[:2]]


def test_a_version_may_be_unknown():
    toy = Toy()
    toy.facts = {"model": "m"}
    assert scorer(toy)[0].findings == "server: vllm at http://toy, unknown version, model m; "


def test_the_cost_of_a_failed_probe_is_counted():
    toy = Toy()
    toy.change = lambda rows, _: 0 * rows
    server, costs = scorer(toy)
    with pytest.raises(InputError, match="'zeros' failed"):
        server.prove(STRINGS, 1, 70)
    ((kind, counts),) = costs
    assert (kind, counts["requests"]) == ("probe", len(toy.asked_for))


def test_a_server_that_changes_is_noticed_after_the_prompt():
    toy = Toy()
    server, costs = scorer(toy)
    server.prove(STRINGS, 2, 70)
    toy.change = lambda rows, _: rows - 0.5
    with pytest.raises(InputError, match="it changed during the run"):
        server.score(STRINGS)
    assert [kind for kind, _ in costs] == ["probe", "prompt"]


def test_prompts_are_scored_with_the_rounding_that_the_probe_allows():
    """A server with noise differs from itself by more than its tolerance."""
    toy = Toy(tolerance=0.02)
    generator = np.random.default_rng(0)
    toy.change = lambda rows, _: np.minimum(rows + generator.normal(0, 0.015, rows.shape), 0)
    server, _ = scorer(toy)
    server.prove(STRINGS, 1, 70)
    assert server.probed.allowed > 0.02
    toy.change = lambda rows, _: rows
    repeated = {}

    def shift_of_repeated(rows, text):
        repeated[tuple(text)] = repeated.get(tuple(text), -1) + 1
        return rows - 0.045 * min(repeated[tuple(text)], 1)

    toy.change = shift_of_repeated
    server.score(STRINGS)
    server.probed = None
    repeated.clear()
    with pytest.raises(InputError, match=r"asked for twice .* \(0.02 is rounding\)"):
        server.score(STRINGS)


@pytest.mark.parametrize(("difference", "agrees"), [(0.15, True), (0.25, False), (-0.25, False)])
def test_scores_of_an_earlier_job(difference, agrees):
    toy = Toy()
    toy.facts = {"model": "m", "version": "9"}
    server, costs = scorer(toy)
    rows, _ = server.score(STRINGS)
    costs.clear()
    toy.asked_for.clear()
    rows["logprob"] -= difference * rows["tokens"]
    if agrees:
        server.check_stored(STRINGS, rows)
    else:
        with pytest.raises(InputError) as error:
            server.check_stored(STRINGS, rows)
        assert str(error.value) == (
            "vllm at http://toy, 9, model m: scores of an earlier job differ from those that it gives now by "
            "0.25 nats a token (0.1 is rounding), so it serves another model now; use the key `revision` of "
            "the server with another text to score all prompts with this one"
        )
    # four strings from the first to the last, on one connection
    sequences = tokens_of(STRINGS).sequences
    prompts = {tuple(text) for method, text, _ in toy.asked_for if method == "prompt"}
    assert prompts == {tuple(sequences[at]) for at in (0, 3, 7, 11)}
    counts = {"requests": len(toy.asked_for), "sent": sums(toy.asked_for), "cached": 0}
    assert costs == [("check", {"computed": counts["sent"]} | counts)]


def test_an_earlier_prompt_of_two_strings():
    toy = Toy()
    server, _ = scorer(toy)
    two = PromptStrings(*(values[:2] for values in vars(STRINGS).values()))
    rows, _ = server.score(two)
    server.check_stored(two, rows)
    with pytest.raises(InputError, match="scores of an earlier job differ"):
        server.check_stored(two, pd.DataFrame({"logprob": rows["logprob"] + [0, 9]}))


class Local:
    """A model in this process that reads so many tokens."""

    def __init__(self, context):
        self.context, self.weights = context, SimpleNamespace(source="org/local")

    def reading(self):
        return SimpleNamespace(context=self.context)

    def scorer(self, reading):
        assert reading.context == self.context
        return SimpleNamespace(model="the model")


@pytest.mark.parametrize("context", [None, 500])
@pytest.mark.parametrize("difference", [0.0, 0.5])
def test_a_model_in_this_process_reads_the_same_strings(context, difference, monkeypatch):
    toy = Toy()

    def score_alone(model, sequences, starts):
        assert model == "the model"
        rows = zip(map(toy.logprobs, sequences), sequences, starts, strict=True)
        return SimpleNamespace(
            logprobs=np.array(
                [
                    sum(row[at - 1, text[at]] - difference for at in range(start, len(text)))
                    for row, text, start in rows
                ]
            )
        )

    monkeypatch.setattr(module, "score_alone", score_alone)
    server, _ = scorer(toy, Local(context))
    if not difference:
        server.prove(STRINGS, 1, 70)
        assert server.probed.facts["local model"].startswith("differs by ")
    else:
        with pytest.raises(
            InputError, match="its scores differ from those of the model in `compare_with` by 0.5"
        ):
            server.prove(STRINGS, 1, 70)


def test_a_model_in_this_process_that_reads_less():
    longest = max(map(len, tokens_of(STRINGS).sequences))
    server, _ = scorer(Toy(), Local(longest - 1))
    with pytest.raises(InputError) as error:
        server.prove(STRINGS, 1, 70)
    assert str(error.value) == (
        f"compare_with: org/local reads at most {longest - 1} tokens, and a string has {longest}; expected a "
        "model with the context of the server's"
    )


def served(monkeypatch, toy, local=None):
    """The toy model as an entry of the config, without files."""
    weights = SimpleNamespace(
        server={
            "url": "http://toy",
            "kind": "toy",
            "model": "m",
            "tolerance": 0.3,
            "tokenizer": "t",
            "hub": "h",
        },
        revision="r7",
        folder="folder",
        source="org/m",
        trust_remote_code=True,
    )
    transports = []
    monkeypatch.setitem(module.ADAPTERS, "toy", lambda transport: (transports.append(transport), toy)[1])
    monkeypatch.setattr(module, "load_tokenizer", lambda weights: (weights, "tokenizer"))
    monkeypatch.setattr(module, "reading_digest", lambda folder, code: (str(folder), code))
    reading = module.Reading(tokens_of, 5000, SIZE, True)
    monkeypatch.setattr(module.Reading, "from_weights", lambda *arguments: replace(reading, read=arguments))
    return module.Served(weights, "read", local), weights, transports


def test_a_model_on_a_server_is_known_by_its_name_and_revision(monkeypatch):
    model, _, _ = served(monkeypatch, Toy())
    assert model.settings == Settings("http://toy", "toy", "m", tolerance=0.3)
    assert model.identities == [
        {
            "server": "toy",
            "model": "m",
            "revision": "r7",
            "tokenizer": ("folder", True),
            "special_tokens": "read",
            "code": module_digest("scoring.tokens", "servers.adapters", "servers.asking"),
        }
    ]
    assert model.made_from == {"model": "org/m", "revision": "r7", "precision": "server"}


@pytest.mark.parametrize(
    ("context", "limit"), [(512, 511), (2, 1), (1, None), (0, None), (None, None), ("512", None)]
)
def test_a_server_generates_one_token_more_than_it_reads(context, limit, monkeypatch):
    toy = Toy()
    toy.facts = {"context": context}
    model, weights, transports = served(monkeypatch, toy)
    reading = model.reading()
    assert (reading.context, reading.vocabulary, reading.short_shows) == (limit, SIZE, True)
    assert reading.read == (weights, "read")
    assert [transport.settings for transport in transports] == [model.settings]


def test_the_scorer_of_a_server_has_what_the_config_names(monkeypatch):
    toy, local, costs = Toy(), object(), []
    toy.facts = {"model": "m"}
    model, weights, _ = served(monkeypatch, toy, local)
    server = model.scorer("reading", costs.append)
    assert costs == ["start"]
    assert (server.adapter, server.tokenizer) == (toy, (weights, "tokenizer"))
    assert (server.reading, server.spend, server.local) == ("reading", costs.append, local)
    assert (server.says, server.probed) == (toy.facts, None)
