"""The requests that each kind of server gets, and how its answers are read, word by word."""

import pytest

from abovechance.core.errors import InputError
from abovechance.servers.adapters import FORCED, MORE_THAN_ALL, TOP, Answer, LlamaCpp, OpenAi, SgLang, Vllm
from abovechance.servers.transport import Settings, _meaning


class Recorded:
    """A transport that gives prepared answers: {path: an answer, or one after the other}."""

    def __init__(self, kind, **answers):
        self.settings = Settings(kind=kind, url="http://server", model="m")
        self.answers = {f"/{path.replace('__', '/')}": answer for path, answer in answers.items()}
        self.requests = []

    def get(self, path):
        self.requests.append(path)
        return self.answers.get(path)

    def post(self, path, body, optional=False):
        self.requests.append((path, body) if not optional else (path, body, "optional"))
        answer = self.answers.get(path)
        return answer.pop(0) if isinstance(answer, list) else answer

    def quoted(self, text, limit):
        return text[:limit]


VLLM = {"model": "m", "max_tokens": 1, "temperature": 0.0, "repetition_penalty": 1.0}
USAGE = {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}}


def vllm_entry(token, logprob, text=None):
    return {str(token): {"logprob": logprob, "decoded_token": text}, "99": {"logprob": -0.1}}


def test_vllm_gives_log_probabilities_of_the_prompt():
    listed = [None, vllm_entry(6, -1.5, " a"), vllm_entry(7, -2.5)]
    transport = Recorded("vllm", v1__completions={"choices": [{"prompt_logprobs": listed}], "usage": USAGE})
    answer = Vllm(transport).prompt_logprobs([5, 6, 7], 1)
    assert answer == Answer([-1.5, -2.5], 3, 2, texts=(" a", ""))
    assert transport.requests == [("/v1/completions", VLLM | {"prompt": [5, 6, 7], "prompt_logprobs": 1})]


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([None, {}], "2 `prompt_logprobs` came back for 3 tokens; expected one each"),
        (None, "no `prompt_logprobs` came back for 3 tokens; expected one each"),
        (
            [None, vllm_entry(6, -1.5), vllm_entry(8, -2.5)],
            "its `prompt_logprobs` at place 2 are not those of token 7, which it was sent; expected the "
            "log-probability of each token at its own place",
        ),
        (
            [None, vllm_entry(6, -1.5), vllm_entry(7, None)],
            "it gives no log-probability for a token that it was asked for; expected one for each",
        ),
        (
            [None, vllm_entry(6, -1.5), vllm_entry(7, 0.5)],
            "it gives the log-probability 0.5; expected at most 0",
        ),
        (
            [None, vllm_entry(6, -1.5), vllm_entry(7, -9999.0)],
            "it gives -9999 in place of a log-probability: the token's probability is too small for it; "
            "these choices cannot be scored with this server",
        ),
    ],
)
def test_answers_of_vllm_that_are_of_something_else(listed, message):
    transport = Recorded("vllm", v1__completions={"choices": [{"prompt_logprobs": listed}], "usage": USAGE})
    with pytest.raises(InputError) as error:
        Vllm(transport).prompt_logprobs([5, 6, 7], 1)
    assert str(error.value) == f"{transport.settings.words}: {message}"


@pytest.mark.parametrize(
    ("usage", "message"),
    [
        ({}, "it does not say how many tokens it read; expected a server whose answers say that"),
        (
            {"prompt_tokens": 4},
            "it read 4 tokens of the 3 that it was sent: it adds tokens of its own, or cuts texts off; "
            "expected a server that takes token ids as they are",
        ),
    ],
)
def test_a_server_reads_the_tokens_that_it_is_sent(usage, message):
    completion = {"choices": [{"logprobs": {"top_logprobs": [{"token_id:8": -0.5}]}}], "usage": usage}
    transport = Recorded("vllm", v1__completions=completion)
    with pytest.raises(InputError) as error:
        Vllm(transport).next_logprobs([5, 6, 7], [8])
    assert str(error.value) == f"{transport.settings.words}: {message}"


def test_vllm_gives_the_next_tokens_log_probabilities():
    top = {"token_id:8": -0.5, "token_id:9": -0.25, "token_id:4": -9999.0}
    transport = Recorded(
        "vllm", v1__completions={"choices": [{"logprobs": {"top_logprobs": [top]}}], "usage": USAGE}
    )
    answer = Vllm(transport).next_logprobs([5, 6, 7], [8, 3])
    assert answer == Answer([-0.5, None], 3, 2, top=(-0.5, -0.25), best=9)
    body = VLLM | {"prompt": [5, 6, 7], "logprobs": TOP, "return_tokens_as_token_ids": True}
    assert transport.requests == [("/v1/completions", body)]
    assert Vllm(transport).likely([5, 6, 7], 300) == (
        Answer([None], 3, 2, top=(-0.5, -0.25), best=9),
        False,
    )
    top["token_id:8"] = 0.5
    with pytest.raises(InputError, match=r"it gives the log-probability 0\.5; expected at most 0$"):
        Vllm(transport).next_logprobs([5, 6, 7], [3])


def test_what_vllm_says_of_itself():
    models = {"data": [{"id": "other"}, {"id": "m", "root": "org/m", "max_model_len": 4096}]}
    transport = Recorded("vllm", version={"version": "0.11"}, v1__models=models)
    assert Vllm(transport).says() == {"version": "0.11", "model": "org/m", "context": 4096}
    assert transport.requests == ["/version", "/v1/models"]
    assert Vllm(Recorded("vllm")).says() == {"version": None, "model": "m", "context": None}
    with pytest.raises(InputError, match="it has no model 'm'; expected one of: other, more$"):
        Vllm(Recorded("vllm", v1__models={"data": [{"id": "other"}, {"id": "more"}]})).says()


def test_vllm_tokenizes_texts():
    transport = Recorded("vllm", tokenize={"tokens": [3, 4]})
    assert Vllm(transport).tokenized("ab") == [3, 4]
    body = {"model": "m", "prompt": "ab", "add_special_tokens": False}
    assert transport.requests == [("/tokenize", body, "optional")]
    for answer in (None, {"tokens": ["a"]}, {"tokens": 3}, [3]):
        assert Vllm(Recorded("vllm", tokenize=answer)).tokenized("ab") is None


OPENAI = {"model": "m", "max_tokens": 1, "temperature": 0.0}


@pytest.mark.parametrize("generated", [0, 1])
@pytest.mark.parametrize("stated", [True, False])
def test_openai_repeats_the_prompt(generated, stated):
    logprobs = {
        "token_logprobs": [None, -1.5, -2.5, -0.5][: 3 + generated],
        "tokens": ["a", "b", "c", "d"][: 3 + generated],
    }
    usage = {"prompt_tokens": 3} | ({"completion_tokens": generated} if stated else {})
    transport = Recorded("openai", v1__completions={"choices": [{"logprobs": logprobs}], "usage": usage})
    assert OpenAi(transport).prompt_logprobs([5, 6, 7], 1) == Answer([-1.5, -2.5], 3, texts=("b", "c"))
    assert transport.requests == [
        ("/v1/completions", OPENAI | {"prompt": [5, 6, 7], "echo": True, "logprobs": 1})
    ]


@pytest.mark.parametrize(("first", "is_read"), [(None, True), (0, True), (0.0, True), (-3.5, False)])
def test_a_token_before_the_text_gives_the_first_token_a_log_probability(first, is_read):
    logprobs = {"token_logprobs": [first, -1.5, -2.5, -1.0], "tokens": ["a", "b", "c", "d"]}
    completion = {"choices": [{"logprobs": logprobs}], "usage": {"prompt_tokens": 3}}
    server = OpenAi(Recorded("openai", v1__completions=completion))
    if is_read:
        assert server.prompt_logprobs([5, 6, 7], 1).logprobs == [-1.5, -2.5]
        return
    with pytest.raises(
        InputError, match="gives the first token a log-probability, so it reads a token before it"
    ):
        server.prompt_logprobs([5, 6, 7], 1)


def test_vllm_servers_that_name_tokens_by_their_texts():
    """The text '3' is not the token 3."""
    completion = {"choices": [{"logprobs": {"top_logprobs": [{"3": -0.25, " a": -2.0}]}}], "usage": USAGE}
    answer = Vllm(Recorded("vllm", v1__completions=completion)).next_logprobs([5, 6, 7], [8])
    assert (answer.best, answer.top) == (None, (-0.25, -2.0))


def test_openai_without_echo():
    completion = {"choices": [{"logprobs": {"token_logprobs": [-1.0], "tokens": ["x"]}}], "usage": USAGE}
    transport = Recorded("openai", v1__completions=completion)
    with pytest.raises(InputError) as error:
        OpenAi(transport).prompt_logprobs([5, 6, 7], 1)
    assert str(error.value) == (
        f"{transport.settings.words}: 1 log-probabilities came back for 3 given and 1 generated tokens; "
        "expected one each: does the server heed `echo`?"
    )


def test_openai_has_likely_texts_no_ids_and_no_tokenizer():
    top = {" a": -0.5, " b": -1.5}
    completion = {"choices": [{"logprobs": {"top_logprobs": [top]}}], "usage": USAGE}
    models = {"data": [{"id": "m"}]}
    transport = Recorded("openai", v1__completions=completion, v1__models=models)
    assert OpenAi(transport).likely([5, 6, 7], 300) == (Answer([], 3, 2, top=(-0.5, -1.5)), False)
    assert transport.requests == [("/v1/completions", OPENAI | {"prompt": [5, 6, 7], "logprobs": 5})]
    assert OpenAi(transport).says() == {"version": None, "model": "m", "context": None}
    assert OpenAi(transport).tokenized("a") is None


SGLANG = {
    "input_ids": [5, 6, 7],
    "sampling_params": {"max_new_tokens": 1, "temperature": 0.0},
    "return_logprob": True,
    "return_text_in_logprobs": True,
}


def test_sglang_gives_log_probabilities_of_the_prompt():
    listed = [[None, 5, "x"], [-1.5, 6, " a"], [-2.5, 7, None]]
    info = {"input_token_logprobs": listed, "prompt_tokens": 3, "cached_tokens": 1}
    transport = Recorded("sglang", generate={"meta_info": info})
    assert SgLang(transport).prompt_logprobs([5, 6, 7], 1) == Answer([-1.5, -2.5], 3, 1, texts=(" a",))
    assert transport.requests == [("/generate", SGLANG | {"logprob_start_len": 0})]
    info["input_token_logprobs"] = [[-1.5, 6], [-2.5, 8]]
    with pytest.raises(InputError) as error:
        SgLang(transport).prompt_logprobs([5, 6, 7], 1)
    assert str(error.value) == (
        f"{transport.settings.words}: its `input_token_logprobs` are not those of the 2 tokens asked for; "
        "expected the log-probability of each token at its own place"
    )


def test_sglang_gives_the_next_tokens_log_probabilities():
    info = {"output_token_ids_logprobs": [[[-0.5, 8], [-0.25, 1]]], "prompt_tokens": 3, "cached_tokens": -1}
    transport = Recorded("sglang", generate={"meta_info": info})
    assert SgLang(transport).next_logprobs([5, 6, 7], [8, 3]) == Answer([-0.5, None], 3)
    body = SGLANG | {"token_ids_logprob": [8, 3], "logprob_start_len": -1}
    assert transport.requests == [("/generate", body)]
    info["output_token_ids_logprobs"] = [[[-2.5, 0], [-0.25, 1]]]
    assert SgLang(transport).likely([5, 6, 7], 3) == (
        Answer([-2.5, -0.25, None], 3, top=(-2.5, -0.25), best=1),
        True,
    )
    assert transport.requests[1][1]["token_ids_logprob"] == [0, 1, 2]
    for answer in ("text", {"meta_info": "text"}):
        with pytest.raises(InputError, match="expected an object in JSON, got text$"):
            SgLang(Recorded("sglang", generate=answer)).next_logprobs([5, 6, 7], [8])


@pytest.mark.parametrize("prefix", ["get_", ""])
@pytest.mark.parametrize("length", ["context_length", "max_req_input_len"])
def test_what_sglang_says_of_itself(prefix, length):
    answers = {f"{prefix}model_info": {"model_path": "org/m"}}
    answers |= {f"{prefix}server_info": {"version": "0.5", length: 4096}}
    transport = Recorded("sglang", **answers)
    assert SgLang(transport).says() == {"version": "0.5", "model": "org/m", "context": 4096}
    assert SgLang(Recorded("sglang")).says() == {"version": None, "model": "m", "context": None}


def completion(token, logprob, read, text=" a", top=(), cached=2):
    entry = {"id": token, "logprob": logprob, "token": text, "top_logprobs": list(top)}
    return {"completion_probabilities": [entry], "tokens_evaluated": read, "timings": {"cache_n": cached}}


LLAMA = {"n_predict": 1, "temperature": 0.0, "post_sampling_probs": False, "cache_prompt": True}


def test_llama_cpp_takes_a_request_for_each_token():
    answers = [completion(6, -1.5, 1, " a", cached=0), completion(7, -2.5, 2, " b", cached=1)]
    transport = Recorded("llama.cpp", completion=answers)
    answer = LlamaCpp(transport).prompt_logprobs([5, 6, 7], 1)
    assert answer == Answer([-1.5, -2.5], 3, 1, texts=(" a", " b"), requests=2)
    assert transport.requests == [
        ("/completion", LLAMA | {"prompt": [5], "n_probs": 1, "logit_bias": [[6, FORCED]]}),
        ("/completion", LLAMA | {"prompt": [5, 6], "n_probs": 1, "logit_bias": [[7, FORCED]]}),
    ]
    del (silent := completion(6, -1.5, 1))["timings"]
    assert LlamaCpp(Recorded("llama.cpp", completion=silent)).prompt_logprobs([5, 6], 1).cached is None
    del (nameless := completion(6, -1.5, 1))["completion_probabilities"][0]["token"]
    assert LlamaCpp(Recorded("llama.cpp", completion=nameless)).prompt_logprobs([5, 6], 1).texts == ("",)


def test_llama_cpp_gives_parts_of_characters_among_all_tokens():
    top = [{"id": 9, "logprob": -0.25}, {"id": 6, "logprob": -1.5}]
    answers = [{"completion_probabilities": [], "tokens_evaluated": 1}, completion(3, -8.0, 1, top=top)]
    transport = Recorded("llama.cpp", completion=answers, tokenize={"tokens": [2, 3]})
    assert LlamaCpp(transport).prompt_logprobs([5, 6], 1) == Answer([-1.5], 2, 2, requests=2)
    assert transport.requests[1:] == [
        ("/tokenize", {"content": "a", "add_special": False, "parse_special": False}, "optional"),
        ("/completion", LLAMA | {"prompt": [5], "n_probs": MORE_THAN_ALL, "logit_bias": [[3, FORCED]]}),
    ]


def test_llama_cpp_gives_the_next_tokens_log_probabilities():
    top = [{"id": 9, "logprob": -0.25}, {"id": 8, "logprob": -1.5}, {"id": 1, "logprob": -3.4e38}]
    answers = {"completion": completion(3, -8.0, 3, top=top), "tokenize": {"tokens": [2, 3]}}
    transport = Recorded("llama.cpp", **answers)
    adapter = LlamaCpp(transport)
    assert adapter.next_logprobs([5, 6, 7], [8, 4]) == Answer([-1.5, None], 3, 2, top=(-0.25, -1.5), best=9)
    assert transport.requests[1][1] == LLAMA | {
        "prompt": [5, 6, 7],
        "n_probs": TOP,
        "logit_bias": [[3, FORCED]],
    }
    assert adapter.likely([5, 6, 7], 300) == (Answer([], 3, 2, top=(-0.25, -1.5), best=9), True)
    assert transport.requests[2][1]["n_probs"] == MORE_THAN_ALL
    nothing = Recorded("llama.cpp", completion=completion(3, -8.0, 3), tokenize={"tokens": [3]})
    assert LlamaCpp(nothing).next_logprobs([5, 6, 7], [8]).best is None
    with pytest.raises(
        InputError, match="it makes no token of 'a'; expected llama.cpp's own server with /tok"
    ):
        LlamaCpp(Recorded("llama.cpp")).next_logprobs([5], [8])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            completion(4, -1.0, 1),
            "the token 6 was to come next, and 4 came; expected a server that heeds `logit_bias`",
        ),
        (
            completion(6, -1.0, 1) | {"truncated": True},
            "it cut off a text of 1 tokens; start it with a larger context (-c)",
        ),
        ("text", "expected an object in JSON, got text"),
    ],
)
def test_answers_of_llama_cpp_that_are_of_something_else(answer, message):
    transport = Recorded("llama.cpp", completion=answer)
    with pytest.raises(InputError) as error:
        LlamaCpp(transport).prompt_logprobs([5, 6], 1)
    assert str(error.value) == f"{transport.settings.words}: {message}"


def test_what_llama_cpp_says_of_itself():
    properties = {"build_info": "b1", "model_path": "m.gguf", "default_generation_settings": {"n_ctx": 512}}
    transport = Recorded("llama.cpp", props=properties)
    assert LlamaCpp(transport).says() == {"version": "b1", "model": "m.gguf", "context": 512}
    assert LlamaCpp(Recorded("llama.cpp")).says() == {"version": None, "model": "m", "context": None}


@pytest.mark.parametrize("adapter", [Vllm, OpenAi, SgLang, LlamaCpp])
@pytest.mark.parametrize("answer", [{"choices": 3, "meta_info": {"input_token_logprobs": 3}}, {}])
def test_an_answer_of_another_form_is_told_in_one_line(adapter, answer):
    transport = Recorded("vllm", v1__completions=answer, generate=answer, completion=answer)
    with pytest.raises(InputError) as error:
        adapter(transport).prompt_logprobs([5, 6, 7], 1)
    assert str(error.value).startswith(f"{transport.settings.words}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("statuses", "meaning"),
    [
        ((301, 302, 303, 307, 308), "the server moved; expected its address in `url`"),
        (
            (401, 403),
            "the server does not accept the key; `key_from` names the environment variable with it",
        ),
        ((404,), "the server has no such path; check `url` and `kind`"),
        ((408, 425, 429, 500, 503, 529, 599), "the server stays busy or fails"),
        ((304, 400, 405, 418, 422, 501, 505), "the server refuses the request"),
    ],
)
def test_what_statuses_mean(statuses, meaning):
    assert {_meaning(status) for status in statuses} == {meaning}


@pytest.mark.parametrize(
    ("value", "logprob"), [(1e-3, 0.0), (0.5e-3, 0.0), (0, 0.0), (-9000.0, -9000.0), (-1, -1.0)]
)
def test_log_probabilities_at_the_limits(value, logprob):
    completion = {"choices": [{"logprobs": {"top_logprobs": [{"token_id:8": value}]}}], "usage": USAGE}
    answer = Vllm(Recorded("vllm", v1__completions=completion)).next_logprobs([5, 6, 7], [8])
    assert answer.logprobs == [logprob]
    assert answer.top == ((value,) if value > -9000 else ())


@pytest.mark.parametrize("value", [1.1e-3, "text" * 20, float("nan"), float("-inf"), float("inf"), -9000.5])
def test_what_is_no_log_probability_is_told_also_behind_a_missing_one(value):
    top = {"token_id:8": value}
    completion = {"choices": [{"logprobs": {"top_logprobs": [top]}}], "usage": USAGE}
    transport = Recorded("vllm", v1__completions=completion)
    with pytest.raises(InputError) as error:
        Vllm(transport).next_logprobs([5, 6, 7], [3, 8])
    quoted = f"log-probability {str(value)[:40]}; expected at most 0"
    too_small = f"it gives {value} in place of a log-probability"
    assert (too_small if value in (-9000.5, float("-inf")) else quoted) in str(error.value)


@pytest.mark.parametrize("choices", [[], {}, [3], 3, None])
def test_completions_without_an_object_have_nothing(choices):
    transport = Recorded("vllm", v1__completions={"choices": choices, "usage": USAGE})
    assert Vllm(transport).next_logprobs([5, 6, 7], [8]) == Answer([None], 3, 2)
    for listed in ([], 3, [3]):
        completion = {"choices": [{"logprobs": {"top_logprobs": listed}}], "usage": USAGE}
        transport = Recorded("vllm", v1__completions=completion)
        assert Vllm(transport).next_logprobs([5, 6, 7], [8]) == Answer([None], 3, 2)


@pytest.mark.parametrize(("cached", "counted"), [(0, 0), (1, 1), (-1, None), ("1", None), (None, None)])
def test_numbers_of_cached_tokens_are_counts(cached, counted):
    usage = {"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": cached}}
    transport = Recorded("vllm", v1__completions={"choices": [], "usage": usage})
    assert Vllm(transport).next_logprobs([5, 6, 7], [8]).cached == counted


def test_long_texts_of_servers_are_cut_in_messages():
    names = ["x" * 40 + str(place) for place in range(12)]
    models = {"data": [{"id": name} for name in names]}
    with pytest.raises(InputError) as error:
        Vllm(Recorded("vllm", v1__models=models)).says()
    assert str(error.value).endswith("expected one of: " + ", ".join(names)[:300])
    short_names = [str(place) for place in range(12)]
    with pytest.raises(InputError, match="expected one of: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9$"):
        Vllm(Recorded("vllm", v1__models={"data": [{"id": name} for name in short_names]})).says()
    transport = Recorded("vllm", v1__completions="y" * 100)
    with pytest.raises(InputError) as error:
        Vllm(transport).next_logprobs([5], [8])
    assert str(error.value) == f"{transport.settings.words}: expected an object in JSON, got {'y' * 60}"
    with pytest.raises(InputError, match=f" and {'z' * 20} came; "):
        LlamaCpp(Recorded("llama.cpp", completion=completion("z" * 30, -1.0, 1))).prompt_logprobs([5, 6], 1)
