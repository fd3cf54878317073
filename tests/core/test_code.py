"""Digests of code see all that a script reaches, and nothing that does not matter."""

import ast
import re
import shutil
from modulefinder import ModuleFinder
from pathlib import Path

import pytest

from abovechance.core import code
from abovechance.core.code import code_digest, module_digest, reached
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.checkout

SCRIPTS = sorted((REPOSITORY / "workflow" / "scripts").glob("*.py"))
LIBRARY = REPOSITORY / "workflow" / "lib" / "abovechance"


def forget() -> None:
    for cached in (code.code_digest, code._named_by, code._content):
        cached.cache_clear()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library of three modules and a data file, and a script that reaches two of them."""
    root = tmp_path / "abovechance"
    (root / "sub").mkdir(parents=True)
    files = {
        "script.py": '"""Doc."""\nfrom abovechance.one import g\n\nprint(g())\n',
        "abovechance/__init__.py": "X = 1\n",
        "abovechance/one.py": "def g():\n    from abovechance.sub import two\n    return two.f()\n",
        "abovechance/sub/__init__.py": "",
        "abovechance/sub/two.py": "def f():\n    return read('names.txt')\n",
        "abovechance/sub/names.txt": "a b\n",
        "abovechance/other.py": "Y = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(code, "LIBRARY", root)
    forget()
    yield tmp_path
    forget()


def digest_after(library: Path, name: str, text: str) -> str:
    (library / name).write_text(text)
    forget()
    return code_digest(library / "script.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("script.py", '"""Other."""\n# why\nfrom abovechance.one import g\n\n\nprint(\n    g()\n)\n'),
        ("abovechance/sub/two.py", "def f():\n    'What it does.'\n    return read('names.txt')  # so\n"),
        ("abovechance/other.py", "Y = 2\n"),
        ("abovechance/__init__.py", "X = 2\n"),
    ],
    ids=["layout", "docstring", "a module that is not reached", "the face"],
)
def test_what_is_not_computed_does_not_count(library, name, text):
    before = code_digest(library / "script.py")
    assert digest_after(library, name, text) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("script.py", "from abovechance.one import g\n\nprint(g() + 1)\n"),
        ("abovechance/one.py", "def g():\n    from abovechance.sub import two\n    return -two.f()\n"),
        ("abovechance/sub/two.py", "def f():\n    return read('names.txt') + '.'\n"),
        ("abovechance/sub/names.txt", "a b c\n"),
        ("abovechance/sub/__init__.py", "Z = 1\n"),
        ("script.py", "from abovechance.one import h as g\n\nprint(g())\n"),
        ("script.py", "from abovechance.one import g as h\n\nprint(g())\n"),
        ("script.py", "from abovechance.one import g\nfrom math import pi\n\nprint(g())\n"),
        ("script.py", "from abovechance.one import g\n\nprint(g)\n"),
    ],
)
def test_what_is_computed_counts_however_deep_it_lies(library, name, text):
    before = code_digest(library / "script.py")
    assert digest_after(library, name, text) != before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1", "x = 2"),
        ("x = 'a'", "x = 'b'"),
        ("x = 1", "y = 1"),
        ("x = 0", "x = None"),
        ("x = f(a=1)", "x = f(b=1)"),
        ("x = a + b", "x = a - b"),
        ("if x:\n    y = 1", "if x:\n    y = 2"),
        ("if x:\n    y = 1\nelse:\n    z = 1", "if x:\n    y = 1\nelse:\n    z = 2"),
        ("if TYPE_CHECKING:\n    y = 1\nelse:\n    z = 1", "if TYPE_CHECKING:\n    y = 1\nelse:\n    z = 2"),
        ("def f():\n    g()\n    return 1", "def f():\n    h()\n    return 1"),
        ("def f(a, b=1): ...", "def f(a, *, b=1): ..."),
        ("import numpy as np", "import numpy"),
        ("from a import b", "from a import c"),
        ("x = 1.0", "x = 1"),
    ],
)
def test_any_change_of_meaning_counts(library, before, after):
    first = digest_after(library, "abovechance/one.py", before + "\n\n\ndef g(): ...\n")
    assert digest_after(library, "abovechance/one.py", after + "\n\n\ndef g(): ...\n") != first


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('class A:\n    """One."""\n\n    x = 1', 'class A:\n    """Two."""\n\n    x = 1'),
        ('class A:\n    """One."""\n\n    x = 1', "class A:\n    x = 1"),
        ("x = (1,\n     2)", "x = (1, 2)  # two"),
        ("x = 'a'", 'x = "a"'),
    ],
)
def test_no_change_of_layout_or_docstrings_counts(library, before, after):
    first = digest_after(library, "abovechance/one.py", before + "\n\n\ndef g(): ...\n")
    assert digest_after(library, "abovechance/one.py", after + "\n\n\ndef g(): ...\n") == first


def test_what_is_only_run_is_reached_in_else_of_type_checking(library):
    text = "if TYPE_CHECKING:\n    x = 1\nelse:\n    from abovechance import other\n"
    digest_after(library, "script.py", text)
    assert library / "abovechance" / "other.py" in reached(library / "script.py")


def test_moving_modules_to_another_room_changes_no_digest(library):
    before = code_digest(library / "script.py")
    (library / "abovechance" / "sub").rename(library / "abovechance" / "room")
    moved = "def g():\n    from abovechance.room import two\n    return two.f()\n"
    assert digest_after(library, "abovechance/one.py", moved) == before


def test_what_only_type_checkers_import_does_not_count(library):
    before = code_digest(library / "script.py")
    typed = "if TYPE_CHECKING:\n    from abovechance import other\n"
    current = digest_after(library, "script.py", (library / "script.py").read_text() + typed)
    assert current != before  # the lines themselves
    assert library / "abovechance" / "other.py" not in reached(library / "script.py")


@pytest.mark.parametrize("line", ["from abovechance import RandomBaseline", "from . import job"])
def test_an_import_that_hides_where_a_thing_lies_is_an_error(library, line):
    with pytest.raises(ValueError, match="imports"):
        digest_after(library, "script.py", line + "\n")


def test_a_module_that_is_not_there_has_no_digest():
    with pytest.raises(ValueError, match="no module nowhere"):
        module_digest("nowhere")


@pytest.fixture(scope="module")
def faceless(tmp_path_factory) -> Path:
    """A copy of the library whose face imports nothing, not even for type checkers."""
    folder = tmp_path_factory.mktemp("faceless")
    shutil.copytree(LIBRARY, folder / "abovechance")
    (folder / "abovechance" / "__init__.py").write_text("")
    return folder


def modules_found(script: Path, library: Path) -> set[Path]:
    """The files of the library that the standard library's own finder reaches from a script."""
    finder = ModuleFinder(path=[str(script.parent), str(library)])
    finder.run_script(str(script))
    files = (Path(module.__file__) for module in finder.modules.values() if module.__file__)
    inside = (file.relative_to(library) for file in files if library in file.parents)
    return {LIBRARY.parent / file for file in inside} - {LIBRARY / "__init__.py"}


def checked_only(path: Path) -> set[str]:
    """The modules that a file imports for type checkers."""
    blocks = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.If)]
    return {
        str(node.module)
        for block in blocks
        if ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    }


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_reaches_what_the_standard_librarys_finder_finds(script, faceless):
    result = modules_found(script, faceless)
    for_checkers = {name for path in result for name in checked_only(path)}
    more = (path.relative_to(LIBRARY.parent).with_suffix("") for path in result - reached(script))
    assert {".".join(path.parts).removesuffix(".__init__") for path in more} <= for_checkers


@pytest.mark.thorough
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path.stem == "report"), id=path.stem)
        for path in SCRIPTS
        if path.stem in ("score", "report")
    ],
)
def test_an_edit_of_anything_that_a_script_reaches_changes_its_digest(script, tmp_path, monkeypatch):
    shutil.copytree(LIBRARY, tmp_path / "lib" / "abovechance")
    shutil.copytree(script.parent, tmp_path / "scripts")
    monkeypatch.setattr(code, "LIBRARY", tmp_path / "lib" / "abovechance")
    forget()
    copy = tmp_path / "scripts" / script.name
    before = code_digest(copy)
    for path in reached(copy):
        text = path.read_text()
        path.write_text(text + ("\n_UNUSED = 1\n" if path.suffix == ".py" else " "))
        forget()
        assert code_digest(copy) != before, path
        path.write_text(text)
    forget()
    assert code_digest(copy) == before


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_makes_the_library_importable_before_it_imports_it(script):
    if script.stem == "script_log":
        return
    imports = re.findall(r"^ *from (abovechance|script_log)\b", script.read_text(), re.M)
    assert imports[0] == "script_log"


def test_every_data_file_of_the_library_is_reached_by_some_script():
    data = {path for path in LIBRARY.rglob("*.*") if path.suffix not in (".py", ".pyc", ".pyi", ".typed")}
    of_commands = {path for path in data if path.parent == LIBRARY / "cli" / "examples"}
    assert of_commands < data
    assert data - of_commands <= {path for script in SCRIPTS for path in reached(script)}


def test_no_module_reads_or_imports_in_a_way_that_the_digest_does_not_see():
    of_scripts = {path for script in SCRIPTS for path in reached(script)}
    for path in LIBRARY.rglob("*.py"):
        if path.parent == LIBRARY:  # the faces
            continue
        text, room = path.read_text(), ".".join(("abovechance", *path.parent.relative_to(LIBRARY).parts))
        if path.parent.name == "importers":  # which no script reaches
            assert path not in of_scripts
            continue
        assert not re.search(r"import_module\(|__import__\(|\bexec\(|pkgutil", text), path
        for package, name in re.findall(r"\bfiles\(([^)]*)\)(?:\.joinpath\(([^)]*)\))?", text):
            assert package == f'"{room}"', path
            assert (path.parent / name.strip('"')).is_file(), path
    assert all(path.name == "__pycache__" or path.is_file() for path in SCRIPTS[0].parent.iterdir())


def test_every_rule_has_the_digest_of_its_own_script():
    rules = {
        name: (
            re.search(r'"\.\./(?:\.\./)?scripts/([\w.]+)"', body),
            re.search(r'code=code_of\("([\w.]+)"\)', body),
        )
        for path in sorted((REPOSITORY / "workflow").rglob("*.smk"))
        for name, body in re.findall(r"^rule (\w+):\n(.*?)(?=^\S|\Z)", path.read_text(), re.M | re.S)
    }
    with_script = {name: by_name for name, by_name in rules.items() if by_name[0]}
    assert len(with_script) > 20
    # what the rule `download` makes is known by its hash
    assert [name for name, (_, code) in with_script.items() if code is None] == ["download"]
    assert all(code is None or code[1] == script[1] for script, code in with_script.values())


def test_a_name_that_a_package_only_lists_is_imported_from_where_it_lies(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from abovechance.chance import RandomBaseline\n")
    with pytest.raises(ValueError, match="import it from where it lies"):
        reached(script)
