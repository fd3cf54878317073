"""Reruns are compared with the archived results, and archived code with the installed code."""

import zipfile

import pytest

from abovechance.archive import rerun
from abovechance.archive.bundle import write
from abovechance.archive.rerun import archived_code, compared


def written(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_steps_and_logs_are_not_results(tmp_path):
    archived = written(tmp_path / "a", tables__x="1", tables__y="2", config="3", scores__s="4")
    remade = written(tmp_path / "b", tables__x="1", tables__z="2", config="5", logs__l="6")
    written(remade, likelihoods__m="7", benchmarks__b="8", tables__y="0")
    result = compared(archived, remade)
    assert result.equal == 1
    assert result.different == ["config", "tables/y", "tables/z"]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A library that is installed as a wheel installs it: the workflow inside, and little beside it."""
    package = tmp_path / "site" / "abovechance"
    written(package, **{"main.py": "", "core__a.py": "x = 1", "results__README.md": "columns"})
    written(package, workflow__Snakefile="rule: x", LICENSE="free")
    written(tmp_path / "site", **{"snakemake_logger_plugin_abovechance__b.py": ""})
    monkeypatch.setattr(rerun, "workflow_folder", lambda: package / "workflow")
    return package


CODE = {
    "code/workflow/Snakefile": b"rule: x",
    "code/workflow/lib/abovechance/main.py": b"",
    "code/workflow/lib/abovechance/core/a.py": b"x = 1",
    "code/workflow/lib/snakemake_logger_plugin_abovechance/b.py": b"",
    "code/results/README.md": b"columns",
    "code/LICENSE": b"free",
    "README.md": b"Made by abovechance 9.9. What is here:",
}


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({}, []),
        ({"code/Makefile": b"all:"}, []),  # which a wheel does not have
        ({"code/LICENSE": b"other"}, ["code/LICENSE"]),
        ({"code/workflow/lib/evil.py": b""}, ["code/workflow/lib/evil.py"]),
        ({"code/workflow/Snakefile": None}, ["code/workflow/Snakefile"]),
        (
            {"code/LICENSE": b"other", "code/workflow/lib/abovechance/core/a.py": b"x = 2"},
            ["code/workflow/lib/abovechance/core/a.py", "code/LICENSE"],
        ),
    ],
)
def test_code_that_differs_from_a_wheel(change, different, installed, tmp_path):
    contents = {name: content for name, content in (CODE | change).items() if content is not None}
    write(contents, tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert "code/results/README.md" in archive.namelist()
    code = archived_code(tmp_path / "x.zip")
    assert code.different == different
    assert code.version == "9.9"
