"""A study as one file: made, checked, changed, and run again without its model."""

import importlib.resources
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

from abovechance import __version__
from abovechance.archive.bundle import MANIFESTS, Problem, verify, write
from abovechance.archive.rerun import Rerun, archived_code, rerun
from abovechance.core.errors import InputError
from abovechance.core.provenance import file_sha256
from abovechance.results.imported import IMPORTED, as_imported
from tests.conftest import REPOSITORY, snakemake
from tests.results.test_likelihoods import predictions
from tests.tiny import write_tiny_study

VALIDATOR = REPOSITORY / "tests" / "archive" / "crate_is_valid.py"

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study and its archive."""
    folder = tmp_path_factory.mktemp("archived")
    command = {"title": "Sums", "authors": ["Ada", "Grace"], "license": "CC-BY-4.0"}
    config = write_tiny_study(folder, "sums", archive=command)
    snakemake("--configfile", str(config), directory=folder)
    snakemake("archive", "--configfile", str(config), directory=folder)
    return folder


@pytest.fixture(scope="module")
def archive(place: Path) -> Path:
    return place / "results" / "sums" / "archive" / "sums.zip"


def test_an_archive_has_results_inputs_environment_and_code(place, archive):
    with zipfile.ZipFile(archive) as file:
        names = set(file.namelist())
        inputs = pd.read_csv(file.open("inputs.csv"), keep_default_na=False)
        crate = json.loads(file.read("ro-crate-metadata.json"))
        cited = yaml.safe_load(file.read("CITATION.cff"))
        readme = file.read("README.md").decode()
        logs = pd.read_csv(file.open("logs.csv"))
        environment = file.read("environment.txt").decode()
        bill = json.loads(file.read("sbom.cdx.json"))
    results = {path.relative_to(place / "results" / "sums").as_posix() for path in files_of(place, "sums")}
    remaining = {
        name
        for name in results
        if re.match(
            r"(logs|benchmarks|archive|cost/(\w+_)?ledgers|cost/tokens)/|.*/\.lock\Z|.*\.store\.parquet\Z",
            name,
        )
    }
    assert {f"results/{name}" for name in results - remaining} <= names
    assert {
        "code/Snakefile",
        "code/workflow/Snakefile",
        "code/envs/requirements.txt",
        "code/Makefile",
        "code/setup.py",
        "code/MANIFEST.in",
    } <= names
    assert not [name for name in names if ".pyc" in name or "egg-info" in name or "/." in name]
    by_name = inputs.set_index("name")
    assert by_name.loc["sums.jsonl", "sha256"] == file_sha256(place / "sums.jsonl")
    assert by_name.loc["tiny", "precision"] == "float32"
    components = {component["name"]: component for component in bill["components"]}
    assert components["tiny"]["version"] == by_name.loc["tiny", "revision"]
    assert f"numpy=={components['numpy']['version']}" in environment.splitlines()
    assert len(by_name.loc["tiny", "revision"]) >= 16
    assert len(by_name.loc["tiny", "tokenizer"]) >= 16
    assert (cited["title"], cited["license"]) == ("Sums", "CC-BY-4.0")
    assert [author["name"] for author in cited["authors"]] == ["Ada", "Grace"]
    assert "abovechance rerun ARCHIVE" in readme
    assert {"score/tiny/sums.log", "verdicts.log"} <= set(logs["log"])
    assert "snakemake==" in environment
    described = {entity["@id"]: entity for entity in crate["@graph"]}
    assert all(name in names for name in described if re.match(r"[\w./-]+\.\w+\Z", name))


def files_of(place: Path, study: str) -> list[Path]:
    return [path for path in (place / "results" / study).rglob("*") if path.is_file()]


def test_an_archive_made_twice_has_the_same_bytes(place, archive):
    before = file_sha256(archive)
    archive.unlink()
    completed = snakemake("archive", "--configfile", str(place / "sums.yaml"), directory=place)
    assert "The study 'sums' is archived in:\n  results/sums/archive/sums.zip" in completed.stderr
    assert file_sha256(archive) == before


@pytest.mark.slow
def test_an_archive_is_a_workflow_run_crate(archive, tmp_path):
    interpreter = tmp_path / "venv" / "bin" / "python"
    pins = REPOSITORY / "envs" / "requirements-crate.txt"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    installed = subprocess.run(
        [interpreter, "-m", "pip", "install", "--quiet", "--requirement", pins], capture_output=True
    )
    if installed.returncode:
        pytest.skip("the validator of RO-Crates cannot be installed here")
    shutil.unpack_archive(archive, tmp_path / "crate")
    context = importlib.resources.files("rocrate").joinpath("data/ro-crate.jsonld")
    command = [interpreter, VALIDATOR, tmp_path / "crate", str(context)]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    described = tmp_path / "crate" / "ro-crate-metadata.json"
    described.write_text(described.read_text().replace('"CreateAction"', '"Action"'))
    assert subprocess.run(command, capture_output=True).returncode == 1


@pytest.mark.slow
def test_another_number_is_noticed_twice_and_a_lost_result_once(archive, tmp_path):
    """By hashes, and where these are mended too, by what the analysis gives when it runs again."""
    folder = tmp_path / "unpacked"
    shutil.unpack_archive(archive, folder)
    verdicts = folder / "results" / "verdicts.csv"
    verdicts.write_text(verdicts.read_text().replace("tiny,sums,0", "tiny,sums,7"))
    assert verify(folder) == [Problem("results/verdicts.csv", "changed")]
    listed = folder / "manifest-sha256.txt"
    lines = [line for line in listed.read_text().splitlines() if "results/verdicts.csv" not in line]
    listed.write_text("\n".join([*lines, f"{file_sha256(verdicts)}  results/verdicts.csv"]) + "\n")
    lost = "results/tables/verdicts.csv"
    (folder / lost).unlink()
    listed.write_text("\n".join(line for line in listed.read_text().splitlines() if lost not in line) + "\n")
    assert verify(folder) == []
    repeated = Path(shutil.make_archive(str(tmp_path / "again"), "zip", folder))
    comparison_of_rerun = rerun(repeated, tmp_path / "there")
    assert sorted(comparison_of_rerun.different) == ["tables/verdicts.csv", "verdicts.csv"]
    assert comparison_of_rerun.equal > 35
    assert not (tmp_path / "there" / "archived" / "code").exists()


def remade(archive: Path, folder: Path, changes: dict[str, str | None]) -> Path:
    """The archive with other files, its list of hashes mended."""
    with zipfile.ZipFile(archive) as file:
        contents = {name: file.read(name) for name in file.namelist() if name not in MANIFESTS}
    contents |= {name: text.encode() for name, text in changes.items() if text is not None}
    rows = {name: content for name, content in contents.items() if changes.get(name, "") is not None}
    write(rows, folder / "remade.zip")
    assert verify(folder / "remade.zip") == []
    return folder / "remade.zip"


@pytest.mark.slow
def test_an_archives_own_code_runs_only_if_it_is_asked_for(archive, tmp_path):
    """A Snakefile that gives its own answer, in an archive whose hashes are right."""
    evil = f"open({str(tmp_path / 'was-here')!r}, 'w').close()\nrule all:\n    default_target: True\n"
    forged = remade(
        archive,
        tmp_path,
        {"code/Snakefile": evil, "code/workflow/Snakefile": evil, "results/verdicts.csv": "model\nforged\n"},
    )
    code = archived_code(forged)
    assert code.version.startswith(__version__)
    assert sorted(code.different) == ["code/Snakefile", "code/workflow/Snakefile"]
    comparison_of_rerun = rerun(forged, tmp_path / "again")
    assert comparison_of_rerun.different == ["verdicts.csv"]
    assert not (tmp_path / "was-here").exists()
    rerun(forged, tmp_path / "trusted", archived_code=True)
    assert (tmp_path / "was-here").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("study: [", "results/config.yaml, line"),
        ("- 1", "results/config.yaml: has no keys"),
        ("{study: ../, stored: x}", "results/config.yaml: key 'study' has '../'"),
        ("{study: x, tasks: 3, models: 4, shots: [1], prompts: 1}", "key 'models' is 4"),
        ("{study: x, release: /etc}", "use --release"),
        ("{study: x, evaluations: /etc}", "the config lacks the key|means nothing|starts from one of them"),
        (None, "has no results/config.yaml"),
        ("study: &a {x: *a}", "results/config.yaml: is not YAML: with its aliases written out, it has"),
    ],
)
def test_an_archived_config_is_checked_as_a_users_is(archive, tmp_path, change, message):
    changed = remade(archive, tmp_path, {"results/config.yaml": change})
    with pytest.raises(InputError, match=message):
        rerun(changed, tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.slow
def test_with_scores_beside_it_runs_again_without_a_model_and_all_is_equal_and_without_scores_not(
    place, tmp_path
):
    config = yaml.safe_load((place / "sums.yaml").read_text())
    folder = place / "results" / "sums" / "archive"
    for scores in ("beside", "left_out"):
        (place / "other.yaml").write_text(yaml.safe_dump(config | {"archive": {"scores": scores}}))
        snakemake("archive", "--configfile", str(place / "other.yaml"), directory=place)
        with zipfile.ZipFile(folder / "sums.zip") as file:
            assert not [name for name in file.namelist() if name.startswith("results/scores")]
        if scores == "beside":
            alone = tmp_path / "archive"  # where there is no model, and no task
            shutil.copytree(folder, alone)
            comparison_of_rerun = rerun(alone / "sums.zip", tmp_path / "again")
            assert comparison_of_rerun.different == []
            assert comparison_of_rerun.equal > 35
            created = tmp_path / "again" / "rerun" / "results" / "sums"
            assert (created / "report.html").read_bytes() == (place / "results/sums/report.html").read_bytes()
            with pytest.raises(InputError, match="again: is there already; expected a new folder"):
                rerun(alone / "sums.zip", tmp_path / "again")
            (folder / "sums-scores.zip").rename(tmp_path / "elsewhere.zip")
            with pytest.raises(
                InputError, match="its scores are in sums-scores.zip, which does not lie beside it"
            ):
                rerun(folder / "sums.zip", tmp_path / "never")
    with pytest.raises(InputError, match="the archive has no scores"):
        rerun(folder / "sums.zip", tmp_path / "neither")


@pytest.mark.slow
@pytest.mark.parametrize("named", ["we ird (é) #1.parquet", "we ird\u2028.parquet"])
def test_a_study_of_imported_results_is_archived_with_them(tmp_path, named):
    place = tmp_path / "place"
    choices = {"choices": [["yes", "no"]] * 4, "right": [[True, False]] * 4}
    IMPORTED.write(as_imported(predictions(0, 5).assign(**choices)), place / named, {})
    (place / "study.yaml").write_text(yaml.safe_dump({"study": "mine", "predictions": named}))
    snakemake("archive", "--configfile", str(place / "study.yaml"), directory=place)
    archive = place / "results" / "mine" / "archive" / "mine.zip"
    (place / named).unlink()
    comparison_of_rerun = rerun(archive, tmp_path / "again")
    # the archive has another name for a file that not all systems can store, and these name the file
    naming = ["accuracy/m.parquet", "imported/tasks/t.parquet", "predictions/m.parquet", "report.html"]
    different = naming if "\u2028" in named else []
    assert comparison_of_rerun == Rerun(comparison_of_rerun.equal, different)
    assert comparison_of_rerun.equal > 30
    # what guessers read of the choices, too
    with zipfile.ZipFile(archive) as file:
        assert "results/imported/tasks/t.parquet" in file.namelist()
