"""Digests of the code that a result depends on, which ignore comments, docstrings and layout.

A rule runs again when the digest of its script changes. The digest is of the script, of every
module of this library that it reaches by imports, and of the data files that these modules name.
Comments, docstrings and layout do not count, nor does the room in which a module lies, so that moving
one computes nothing anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from abovechance.core.provenance import digest, file_sha256

PACKAGE = "abovechance"
LIBRARY = Path(__file__).resolve().parents[1]


@cache
def code_digest(script: Path) -> str:
    """Digest of what a script does, with all that it reaches."""
    return digest(*sorted(f"{path.stem} {_content(path)}" for path in reached(script)))


def module_digest(*modules: str) -> str:
    """Digest of what modules do, without those they import.

    Parameters
    ----------
    modules
        Dotted names below the package, such as ``scoring.engine``.
    """
    paths = [_module(f"{PACKAGE}.{module}") for module in modules]
    if missing := [module for module, path in zip(modules, paths, strict=True) if path is None]:
        raise ValueError(f"the library has no module {', '.join(missing)}")
    return digest(*(_content(path) for path in paths if path is not None))


def reached(script: Path) -> frozenset[Path]:
    """Return the script itself, and the modules and data files that it reaches."""
    files: set[Path] = set()
    waiting = [script.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files.add(path)
            if path.suffix == ".py":
                waiting.extend(_named_by(path))
    return frozenset(files)


@cache
def _named_by(path: Path) -> frozenset[Path]:
    """Return the modules that a file imports, at its top or inside functions, and the data that it names.

    A data file lies beside the module that reads it, which has its name as a text.
    """
    named: set[Path] = set()
    data = {file.name: file for file in path.parent.iterdir() if file.suffix not in ("", ".py", ".pyi")}
    for node in _run(ast.parse(path.read_text(encoding="utf-8"))):
        for name in _imported(node):
            named.update(_files_of(name, path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in data:
            named.add(data[node.value])
    return frozenset(named - {path})


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that are for type checkers only, which are never run."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            parts = node.orelse
        waiting.extend(parts)


def _imported(node: ast.AST) -> list[str]:
    """Return the dotted names of the modules that an import may mean."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            raise ValueError(f"line {node.lineno}: imports are written out here, from {PACKAGE} on")
        inside = [f"{node.module}.{alias.name}" for alias in node.names]
        # of a package that lists names in a stub, only modules: the list would hide where a name lies
        return inside if _lists_names(str(node.module)) else [str(node.module), *inside]
    return []


def _files_of(name: str, importer: Path) -> Iterator[Path]:
    """Yield the files that importing a dotted name runs, if it is of this library or of a script's folder."""
    parts = name.split(".")
    if parts[0] == PACKAGE:
        hidden = _lists_names(".".join(parts[:-1])) and _module(name) is None
        names = (".".join(parts[:length]) for length in range(2, len(parts) + 1))
        if hidden or not (files := [path for path in map(_module, names) if path is not None]):
            raise ValueError(
                f"{importer}: imports {name}, which is not a module; import it from where it lies"
            )
        yield from files
    elif (beside := importer.with_name(f"{name}.py")).is_file() and LIBRARY not in importer.parents:
        yield beside


def _lists_names(name: str) -> bool:
    """Return whether a package gives names of its modules on first use, which its stub lists."""
    parts = name.split(".")
    return name == PACKAGE or (parts[0] == PACKAGE and LIBRARY.joinpath(*parts[1:], "__init__.pyi").is_file())


def _module(name: str) -> Path | None:
    """Return the file of a module or sub-package of this library; None where there is none."""
    path = LIBRARY.joinpath(*name.split(".")[1:])
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return file
    return None


@cache
def _content(path: Path) -> str:
    """Return the text that represents a file in digests."""
    if path.suffix != ".py":
        return file_sha256(path)
    return digest("\n".join(_meaning(ast.parse(path.read_text(encoding="utf-8")))))


def _meaning(node: object) -> Iterator[str]:
    """The parts of a syntax tree that decide what is computed, in their order."""
    if isinstance(node, list):
        # Which names come from this library counts, and not where from: that has a digest of its own.
        names = [name for item in node for name in _own_names(item)]
        yield from sorted(names)
        yield from (part for item in node if not _own_import(item) for part in _meaning(item))
    elif isinstance(node, ast.AST):
        yield type(node).__name__
        for field, value in ast.iter_fields(node):
            if field == "body" and _has_docstring(node):
                value = value[1:]
            if value not in (None, []):
                yield field
                yield from _meaning(value)
        yield "."
    else:
        yield repr(node)


def _own_names(node: object) -> list[str]:
    """Return the names that a statement imports from this library, with those they are given."""
    if not _own_import(node) or not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    last = (alias.name.split(".")[-1] for alias in node.names)
    return [f"{name} as {alias.asname or name}" for name, alias in zip(last, node.names, strict=True)]


def _has_docstring(node: ast.AST) -> bool:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _own_import(node: object) -> bool:
    """Return whether a statement imports from this library."""
    return (isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == PACKAGE) or (
        isinstance(node, ast.Import) and all(alias.name.split(".")[0] == PACKAGE for alias in node.names)
    )
