"""The library's rooms: who may import whom, and that nothing goes in a circle."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

pytestmark = pytest.mark.checkout

LIBRARY = REPOSITORY / "workflow" / "lib" / "abovechance"
# From the ground up. A room imports from those before it, and within itself.
ROOMS = [
    "core",
    "study",
    "results",
    "metrics",
    "scoring",
    "servers",
    "training",
    "chance",
    "best",
    "ladder",
    "pvi",
    "compare",
    "variance",
    "items",
    "shown",
    "published",
    "doctor",
    "importers",
    "archive",
    "extensions",
    "cli",
]
# These stand outside, and nothing inside imports them.
OUTSIDE = {"__init__", "__main__", "compat"}
MODULES = sorted(LIBRARY.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(LIBRARY.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


NAMES = {name_of(path): path for path in MODULES}


def imports(path: Path) -> set[str]:
    """The modules of the library that a module imports, for type checkers too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("abovechance"):
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & set(NAMES)
            names |= inside or {str(node.module)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("abovechance")}
    return names


def room(name: str) -> str:
    """The room of a module; empty for what stands outside."""
    return name.split(".")[1] if name.count(".") and name.split(".")[1] in ROOMS else ""


def test_every_module_has_a_room():
    outside = {
        name.removeprefix("abovechance").removeprefix(".") or "__init__" for name in NAMES if not room(name)
    }
    assert outside == OUTSIDE
    assert {room(name) for name in NAMES} - {""} == set(ROOMS)


@pytest.mark.parametrize("name", [name for name in NAMES if room(name)])
def test_a_room_imports_from_rooms_below_it_alone(name):
    allowed = ROOMS[: ROOMS.index(room(name)) + 1]
    wrong = {second for second in imports(NAMES[name]) if room(second) not in allowed}
    # the command line tells the version
    assert wrong <= ({"abovechance"} if name == "abovechance.cli.app" else set())


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: imports(path) - {"abovechance"} for name, path in NAMES.items() if name != "abovechance"}
    order = [*TopologicalSorter(graph).static_order()]  # CycleError has the circle
    assert {*graph} <= {*order}


def test_scoring_and_chance_know_nothing_of_each_other():
    for name, path in NAMES.items():
        rooms = {room(second) for second in imports(path)}
        assert not (room(name) == "chance" and "scoring" in rooms), name
        assert not (room(name) == "scoring" and rooms & {"chance", "results"}), name


def test_the_library_knows_nothing_of_snakemake():
    for path in MODULES:
        assert not re.search(r"^\s*(from|import) snakemake", path.read_text(), re.M), path


def test_tests_mirror_the_rooms():
    rooms = {path.parent.name for path in (REPOSITORY / "tests").glob("*/test_*.py")}
    assert set(ROOMS) <= rooms


# Packages that give names of their modules on first use, as their stubs list them.
LISTED = [name_of(path) for path in LIBRARY.rglob("__init__.py") if path.with_suffix(".pyi").is_file()]


@pytest.mark.parametrize("package", LISTED)
def test_names_are_there_whatever_was_imported_before(package):
    """A function is not hidden by a module of its name, which Python puts in its place on import."""
    modules = [name for name in NAMES if name.startswith(f"{package}.") and "__main__" not in name]
    stub = Path(NAMES[package]).with_suffix(".pyi").read_text()
    imported = [node for node in ast.walk(ast.parse(stub)) if isinstance(node, ast.ImportFrom)]
    listed = {alias.asname for node in imported for alias in node.names}
    for name in [package, *modules] if package != "abovechance" else [package]:
        importlib.import_module(name)
    result = importlib.import_module(package)
    assert listed == {*result.__all__}
    assert listed
    for name in listed:
        assert inspect.ismodule(getattr(result, name)) == (f"{package}.{name}" in NAMES), name


def test_importing_the_package_loads_no_large_library():
    run = [sys.executable, "-c", "import sys, abovechance; print(*sys.modules)"]
    loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pandas", "torch", "scipy", "matplotlib"} & {*loaded}
