"""Scores from servers are those of the model, or there are none."""

import contextlib
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from abovechance.core.errors import InputError
from abovechance.core.tables import read_made_from, read_table
from abovechance.scoring.cells import Cell, InProcess, score_cells
from abovechance.scoring.fetching import fetch, fetch_tokenizer
from abovechance.scoring.trie import common_prefix
from abovechance.servers.adapters import ADAPTERS
from abovechance.servers.asking import ask
from abovechance.servers.scorer import Served as ServedModel
from abovechance.servers.transport import Settings, Transport
from abovechance.study.tasks import as_table
from tests.scoring.test_cells import cell, silent, with_choices
from tests.servers.served import DEFECTS, Served

KINDS = [*ADAPTERS]


def backend(
    server: Served, folder: Path, kind: str, local: InProcess | None = None, **changes: Any
) -> ServedModel:
    """The tiny model on a server; ``changes`` are those of its entry in the config."""
    entry = {"url": server.url, "kind": kind, "model": "tiny", "revision": "r", "tokenizer": str(folder)}
    entry |= {"retries": 2, **changes}
    return ServedModel(fetch_tokenizer(entry, folder), local=local)


def in_process(folder: Path) -> InProcess:
    return InProcess(fetch({"path": str(folder)}, None, folder), "float32")


def sums(choices: int = 2, examples: int = 4) -> pd.DataFrame:
    """Examples with choices of several tokens."""
    return as_table(
        {
            "example": f"e{example}",
            "text": f"Q: {example} and {example + 1}?\nA:",
            "choices": [f"{example + number}" * (1 + number % 2) for number in range(choices)],
            "correct": [number == example % choices for number in range(choices)],
        }
        for example in range(examples)
    )


def shots(number: int, prompts: int = 2, choices: int = 2) -> Cell:
    return cell(sums(choices), prompts=prompts, shots=number)


def scores(path: Path, cells: Cell, model: Any) -> pd.DataFrame:
    score_cells({path: cells}, model, silent)
    return read_table(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [0, 2])
def test_scores_of_a_server_are_those_of_the_engine(kind, number, server, folder, tmp_path):
    served = scores(tmp_path / "served.parquet", shots(number), backend(server, folder, kind))
    exact = scores(tmp_path / "engine.parquet", shots(number), in_process(folder))
    np.testing.assert_allclose(served["logprob"], exact["logprob"], atol=1e-3)
    columns = [column for column in exact if column != "logprob"]
    pd.testing.assert_frame_equal(served[columns], exact[columns])


@pytest.mark.parametrize("kind", KINDS)
def test_choices_of_one_token_are_scored_by_next_tokens(kind, server, folder, tmp_path):
    cells = cell(with_choices(" yes".strip(), "no"), prompts=1, shots=1)
    served = scores(tmp_path / "served.parquet", cells, backend(server, folder, kind))
    exact = scores(tmp_path / "engine.parquet", cells, in_process(folder))
    assert (served["tokens"] == 1).all()
    np.testing.assert_allclose(served["logprob"], exact["logprob"], atol=1e-3)


def test_one_request_answers_for_all_choices_of_one_token(server, folder, tmp_path):
    model = backend(server, folder, "sglang")
    reading = model.reading()
    tokens = reading.read(cell(with_choices("yes", "no"), prompts=1, shots=1).strings(0))
    _, spent = ask(ADAPTERS["sglang"](Transport(model.settings)), tokens, connections=1)
    texts = len(tokens.sequences) // 2
    assert texts < spent.requests <= texts + 1 + 2  # one warms the cache, and two texts are asked for twice


def test_answers_that_lack_what_is_wanted_end_requests_for_next_tokens(server, folder, monkeypatch):
    monkeypatch.setattr("abovechance.servers.adapters.TOP", 1)
    monkeypatch.setattr("abovechance.servers.asking.LEAST_WANTED", 4)
    task = sums(examples=16)
    task["choices"] = [["yes", "no"]] * len(task)
    model = backend(server, folder, "vllm")
    tokens = model.reading().read(cell(task, prompts=1, shots=1).strings(0))
    ask(ADAPTERS["vllm"](Transport(model.settings)), tokens, connections=1)
    assert 2 <= sum("prompt_logprobs" not in request for request in server.requests) <= 4


def test_what_all_strings_begin_with_is_sent_first_and_alone(server, folder):
    model = backend(server, folder, "sglang")
    tokens = model.reading().read(shots(2, prompts=1).strings(0))
    ask(ADAPTERS["sglang"](Transport(model.settings)), tokens, connections=4)
    first = server.requests[0]["input_ids"]
    assert len(first) >= 32
    assert all(
        sequence[: len(first)] == first and len(sequence) > len(first) for sequence in tokens.sequences
    )


@pytest.mark.parametrize("kind", KINDS)
def test_texts_with_parts_of_characters_are_scored(kind, server, folder, tmp_path):
    cells = cell(with_choices("漢字 🦆", "Đorđe"), prompts=1, shots=1)
    served = scores(tmp_path / "served.parquet", cells, backend(server, folder, kind))
    exact = scores(tmp_path / "engine.parquet", cells, in_process(folder))
    np.testing.assert_allclose(served["logprob"], exact["logprob"], atol=1e-3)


def test_llama_cpps_second_requests_for_parts_of_characters_are_counted(server, folder):
    adapter = ADAPTERS["llama.cpp"](Transport(backend(server, folder, "llama.cpp").settings))
    tokens = server.tokenizer("Q: is it so? 漢字")["input_ids"]
    answer = adapter.prompt_logprobs(tokens, len(tokens) - 6)
    assert answer.requests == len(server.requests) > 6
    assert answer.read == sum(len(request["prompt"]) for request in server.requests)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_check_names_the_known_problem(kind, server, folder, tmp_path):
    server.defects = {"zeros"}
    with pytest.raises(
        InputError, match=r"the probe 'zeros' failed: all log-probabilities are 0.*issue 27174"
    ):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, kind))


def applies(defect: str, kind: str) -> bool:
    """Whether a server of a kind can have a defect that shows without another model to compare with."""
    if defect == "first off":
        return kind == "sglang"
    if defect == "stale":  # llama.cpp gives no values of tokens in its cache
        return kind != "llama.cpp"
    if defect == "sum":
        return kind in ("vllm", "sglang")
    if defect == "decimal":
        return kind != "openai"
    return defect not in ("temperature", "other weights")


@pytest.mark.parametrize("noise", [0.0, pytest.param(1e-6, marks=pytest.mark.slow), 1e-2])
@pytest.mark.parametrize(
    ("defect", "kind"), [(defect, kind) for defect in DEFECTS for kind in KINDS if applies(defect, kind)]
)
def test_a_defect_is_noticed_before_a_prompt_is_scored(defect, kind, noise, server, folder, tmp_path):
    server.defects, server.noise = {defect}, noise
    with pytest.raises(InputError, match=server.url):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, kind))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("defect", ["temperature", "other weights", "decimal"])
def test_a_model_in_this_process_shows_what_nothing_else_does(defect, kind, server, folder, tmp_path):
    server.defects = {defect}
    with pytest.raises(InputError, match="the probe '(local model|sum)' failed"):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, kind, in_process(folder)))


def test_a_sound_server_agrees_with_a_model_in_this_process(server, folder, tmp_path):
    scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", in_process(folder)))
    (run,) = read_made_from(tmp_path / "s.parquet")["runs"]
    assert "nats a token" in run["probe"]["local model"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sound_servers_raise_no_alarm(kind, server, folder, tmp_path):
    for run in range(25):
        server.reset()
        cells = cell(sums(2 + run % 3), prompts=1, shots=run % 4)
        scores(tmp_path / f"{run}.parquet", cells, backend(server, folder, kind, connections=1 + run % 5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.slow), 0.03])
def test_noise_of_16_bits_and_a_certain_model_raise_no_alarm(kind, noise, server, folder, tmp_path):
    server.noise = noise
    for run, server.certain in enumerate((False, True)):
        if not (kind == "openai" and server.certain):
            scores(tmp_path / f"{run}.parquet", shots(2, prompts=1), backend(server, folder, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", ["from some time on", pytest.param("under load", marks=pytest.mark.slow)])
def test_wrong_values_during_a_run_are_noticed(kind, wrong, server, folder, tmp_path):
    cells = cell(sums(examples=16), prompts=3, shots=1)
    server.seconds = 0.01 if wrong == "under load" else 0.0

    def spoil(message: str) -> None:
        if "prompts scored" in message:
            server.wrong_from, server.wrong_to = len(server.requests) + 20, 10**9
        if "prompts scored" in message and wrong == "under load":
            server.wrong_to, server.wrong_at_once = 0, 2
            server.seconds = 0.02  # so that requests are there at once, also where the machine is busy

    path = tmp_path / "s.parquet"
    with pytest.raises(InputError, match="the second time|changed during the run"):
        score_cells({path: cells}, backend(server, folder, kind), spoil)


def test_a_server_that_changes_during_a_run_is_noticed_and_the_prompts_before_are_kept(
    server, folder, tmp_path
):
    messages: list[str] = []

    def change(message: str) -> None:
        messages.append(message)
        if "prompts scored" in message:
            server.defects = {"other weights"}

    path = tmp_path / "s.parquet"
    with pytest.raises(InputError, match="it changed during the run"):
        score_cells({path: shots(1, prompts=4)}, backend(server, folder, "vllm"), change)
    server.reset()
    score_cells({path: shots(1, prompts=4)}, backend(server, folder, "vllm"), messages.append)
    assert any(
        "of 4 prompts to score" in message and not message.endswith("4 of 4 prompts to score")
        for message in messages
    )
    exact = scores(tmp_path / "engine.parquet", shots(1, prompts=4), in_process(folder))
    np.testing.assert_allclose(read_table(path)["logprob"], exact["logprob"], atol=1e-3)


def test_scores_of_an_earlier_job_are_held_against_the_server_of_this_one(server, folder, tmp_path):
    path = tmp_path / "s.parquet"
    scores(path, shots(1, prompts=2), backend(server, folder, "vllm"))
    server.defects = {"other weights"}
    with pytest.raises(InputError, match=r"scores of an earlier job differ.*use the key `revision`"):
        scores(path, shots(1, prompts=4), backend(server, folder, "vllm"))
    table = scores(path, shots(1, prompts=4), backend(server, folder, "vllm", revision="second"))
    assert table["prompt"].nunique() == 4


def test_no_request_is_repeated_for_a_finished_prompt(server, folder, tmp_path):
    path, messages = tmp_path / "s.parquet", []

    def kill(message: str) -> None:
        messages.append(message)
        if sum("prompts scored" in message for message in messages) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_cells({path: shots(2, prompts=6)}, backend(server, folder, "vllm"), kill)
    finished = {tuple(request["prompt"]) for request in server.requests}
    server.requests.clear()
    scores(path, shots(2, prompts=6), backend(server, folder, "vllm"))
    repeated_requests = [request for request in server.requests if tuple(request["prompt"]) in finished]
    # a few strings of the probe and of an earlier prompt are asked for on purpose
    assert len(repeated_requests) < len(finished) / 2 < len(server.requests)


def test_requests_follow_the_trie(server, folder, tmp_path):
    model = backend(server, folder, "sglang", connections=1)
    scores(tmp_path / "s.parquet", shots(2, prompts=1, choices=4), model)
    sequences = [request["input_ids"] for request in server.requests if request["path"] == "/generate"][-40:]
    shared = [common_prefix(first, second) for first, second in pairwise(sequences)]
    shuffled = [sequences[at] for at in np.random.default_rng(0).permutation(len(sequences))]
    assert sum(shared) > sum(common_prefix(first, second) for first, second in pairwise(shuffled))


@pytest.mark.parametrize("connections", [1, 3])
def test_no_more_requests_at_once_than_asked_for(connections, server, folder, tmp_path):
    server.seconds = 0.002
    scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "sglang", connections=connections))
    assert server.largest_at_once <= connections
    assert connections == 1 or server.largest_at_once > 1


@pytest.mark.parametrize("failures", [[429, 503], [0, 500], [408, 0], [520, 529], [524]])
def test_failed_requests_are_repeated(failures, server, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("urllib3.Retry.get_backoff_time", lambda _: 0.0)
    server.failures = failures
    served = scores(tmp_path / "served.parquet", shots(1), backend(server, folder, "vllm"))
    exact = scores(tmp_path / "engine.parquet", shots(1), in_process(folder))
    np.testing.assert_allclose(served["logprob"], exact["logprob"], atol=1e-3)


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        ([0] * 50, "no answer after 3 attempts .*start the server and run again"),
        ([503] * 50, "status 503: the server stays busy or fails"),
        ([418] * 50, "status 418: the server refuses the request"),
        ([302] * 50, "status 302: the server moved"),
        ([308] * 50, "status 308: the server moved"),
        ([501] * 50, "status 501: the server refuses the request"),
    ],
)
def test_a_server_that_does_not_answer_is_told_in_one_line(
    failures, message, server, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("urllib3.Retry.get_backoff_time", lambda _: 0.0)
    server.failures = failures
    with pytest.raises(InputError, match=message):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm"))


def test_a_request_that_takes_too_long_is_repeated_and_then_told(server, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("urllib3.Retry.get_backoff_time", lambda _: 0.0)
    server.seconds = 0.5
    with pytest.raises(InputError, match=r"no answer after 1 attempts .*timed out"):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", timeout=0.1, retries=0))


def test_no_server_at_all_is_told(server, folder, tmp_path):
    model = backend(server, folder, "vllm", url="http://127.0.0.1:9", retries=0)
    with pytest.raises(InputError, match="vllm at http://127.0.0.1:9: /version: no answer"):
        scores(tmp_path / "s.parquet", shots(1), model)


def test_a_model_that_the_server_does_not_have_is_told(server, folder, tmp_path):
    with pytest.raises(InputError, match="it has no model 'large'; expected one of: tiny"):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", model="large"))


def test_a_key_comes_from_the_environment_and_is_written_nowhere(server, folder, tmp_path, monkeypatch):
    server.key = "secret-7"
    with pytest.raises(InputError, match="the environment variable SERVER_KEY is empty or not set"):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", key_from="SERVER_KEY"))
    monkeypatch.setenv("SERVER_KEY", "wrong")
    with pytest.raises(InputError, match="does not accept the key"):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", key_from="SERVER_KEY"))
    monkeypatch.setenv("SERVER_KEY", server.key)
    scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", key_from="SERVER_KEY"))
    assert server.key not in repr(read_made_from(tmp_path / "s.parquet"))


@pytest.mark.parametrize("key", ["secret-7\n", "sec\rret-7", "secr\u0151t-7"])
def test_a_key_that_cannot_be_sent_is_not_shown(key, server, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SERVER_KEY", key)
    with pytest.raises(InputError, match="has characters that no key has") as caught:
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", key_from="SERVER_KEY"))
    assert "ret-7" not in str(caught.value)


def test_a_key_that_the_server_repeats_is_not_shown(server, folder, tmp_path, monkeypatch):
    server.key, server.repeats_key = "other", True
    monkeypatch.setenv("SERVER_KEY", "secret-7")
    with pytest.raises(InputError, match=r"it says: .*Bearer \.\.\.") as caught:
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm", key_from="SERVER_KEY"))
    assert "secret-7" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "seconds"), [("1.5", 1.5), ("-5", 0.0), ("7", 7.0), ("100000", 60.0), ("nan", 60.0)]
)
def test_a_servers_pause_is_kept_as_far_as_it_is_no_longer_than_others(header, seconds):
    retries = Transport(Settings("http://localhost", "vllm", "m"))._pool.connection_pool_kw["retries"]
    assert retries.parse_retry_after(header) == seconds


def test_a_key_is_not_shown_however_it_is_written(monkeypatch):
    monkeypatch.setenv("SERVER_KEY", 'sk/"7')
    transport = Transport(Settings("http://localhost", "vllm", "m", key_from="SERVER_KEY"))
    for text in ('sk/"7', 'sk/\\"7', 'sk\\/\\"7', "sk%2F%227"):
        assert transport.quoted(f"the key {text} is bad", 80) == "the key ... is bad"


def test_answers_to_another_text_are_noticed_by_its_tokens(server, folder, tmp_path):
    server.swapped = True
    with pytest.raises(InputError, match="its `prompt_logprobs` at place 5 are not those of token"):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm"))


def test_prompts_that_were_left_out_are_scored_when_the_server_reads_more(server, folder, tmp_path):
    path, cells, served = tmp_path / "s.parquet", shots(2), backend(server, folder, "vllm")
    server.context = 20
    score_cells({path: cells}, served, silent, leave_out_too_long=True)
    assert read_table(path).empty
    score_cells({path: cells}, served, silent, leave_out_too_long=True)  # still too long
    assert read_table(path).empty
    assert not server.requests
    away = backend(server, folder, "vllm", url="http://127.0.0.1:9", retries=0)
    score_cells({path: cells}, away, silent, leave_out_too_long=True)  # nothing is to be scored
    assert read_table(path).empty
    server.context = 400
    score_cells({path: cells}, served, silent, leave_out_too_long=True)
    exact = scores(tmp_path / "engine.parquet", cells, in_process(folder))
    np.testing.assert_allclose(read_table(path)["logprob"], exact["logprob"], atol=1e-3)


@pytest.mark.parametrize("header", ["100000", "soon", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_server_cannot_make_a_request_wait_for_long(header):
    assert (
        Transport(Settings("http://localhost", "vllm", "m"))
        ._pool.connection_pool_kw["retries"]
        .parse_retry_after(header)
        <= 60
    )


def test_an_address_may_end_as_clients_of_openais_have_it(server, folder, tmp_path):
    table = scores(
        tmp_path / "s.parquet", shots(1), backend(server, folder, "openai", url=f"{server.url}/v1")
    )
    assert table["logprob"].notna().all()


def test_what_the_server_says_of_itself_is_kept_with_the_scores(server, folder, tmp_path):
    scores(tmp_path / "s.parquet", shots(1), backend(server, folder, "vllm"))
    made_from = read_made_from(tmp_path / "s.parquet")
    (run,) = made_from["runs"]
    assert run["server"] == {
        "kind": "vllm",
        "url": server.url,
        "version": "0.11.0",
        "model": "org/tiny",
        "context": 4096,
    }
    assert "differs by at most" in run["probe"]["repeated"]
    assert all(
        entry["requests"] > 0 and entry["sent"] >= entry["cached"] > 0 for entry in made_from["prompts"]
    )


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama.cpp"])
def test_prompts_longer_than_the_servers_context_are_told_before_they_are_sent(
    kind, server, folder, tmp_path
):
    server.context = 20
    with pytest.raises(InputError, match="longer than the model's context of 19 tokens"):
        scores(tmp_path / "s.parquet", shots(2), backend(server, folder, kind))
    assert not server.requests


@pytest.mark.parametrize("content", [b"<html>busy</html>", b"[]", b"{}", b'{"choices": 3}', b"[" * 100_000])
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_of_any_other_form_is_refused(content, kind, server, folder, tmp_path, monkeypatch):
    sequences = Transport.post

    def answer(self: Transport, path: str, body: Any, optional: bool = False) -> Any:
        if path == "/tokenize":
            return sequences(self, path, body, optional)
        monkeypatch.setattr(self._pool, "request", lambda *_, **__: Raw(content))
        return sequences(self, path, body, optional)

    monkeypatch.setattr(Transport, "post", answer)
    with pytest.raises(InputError, match=server.url):
        scores(tmp_path / "s.parquet", shots(1), backend(server, folder, kind))


class Raw:
    """An answer of these bytes."""

    status = 200

    def __init__(self, data: bytes) -> None:
        self.data = data


def test_settings_are_those_of_the_config(server, folder):
    model = backend(server, folder, "sglang", connections=3, tolerance=0.2)
    assert model.settings == replace(
        Settings(server.url, "sglang", "tiny"), connections=3, tolerance=0.2, retries=2
    )


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 10))]
)
def test_any_value_in_the_place_of_any_other_is_read_or_refused_in_one_line(
    kind, seed, server, folder, tmp_path, monkeypatch
):
    generator, rate = random.Random(seed), (0.01, 0.03, 0.1)[seed % 3]
    answered = Transport._request

    def answer(self: Transport, *arguments: Any, **options: Any) -> Any:
        value = answered(self, *arguments, **options)
        return replaced(value, generator) if generator.random() < rate else value

    monkeypatch.setattr(Transport, "_request", answer)
    for run in range(5):
        with contextlib.suppress(InputError):
            scores(tmp_path / f"{run}.parquet", shots(1, prompts=1), backend(server, folder, kind))


def replaced(value: Any, generator: random.Random) -> Any:
    """A JSON value in which one value is another."""
    if isinstance(value, dict | list) and value and generator.random() < 0.8:
        copy: Any = value.copy()
        place = generator.choice([*copy] if isinstance(copy, dict) else range(len(copy)))
        copy[place] = replaced(copy[place], generator)
        return copy
    return generator.choice([None, [], {}, "x", 3, -1, 0.5, True, float("nan"), [[]], {"x": 1}])
