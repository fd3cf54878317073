"""What a result was made from: digests of texts, files and code, and library versions."""

from __future__ import annotations

import ast
import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from abovechance import __version__

LIBRARY = Path(__file__).parent


def digest(*texts: str) -> str:
    """16 hexadecimal digits that stand for these texts in this order."""
    joined = "\0".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that results depend on, where installed."""
    found = {"python": platform.python_version(), "abovechance": __version__}
    for package in ("numpy", "pandas", "pyarrow", "torch", "transformers", "bitsandbytes"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def code_digest(*modules: str) -> str:
    """Digest of what the named modules do, with every module of the library they import.

    Comments, docstrings and layout do not count, so that only a change of what is computed
    makes a workflow compute again.

    Parameters
    ----------
    modules
        Dotted names below ``abovechance``, such as ``scoring.engine``.
    """
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting.extend(_imports(module))
    return digest(*(_code_of(module) for module in sorted(reached)))


def module_digest(*modules: str) -> str:
    """Digest of what the named modules do, without those they import."""
    return digest(*(_code_of(module) for module in modules))


def _module_path(module: str) -> Path:
    path = LIBRARY.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _parsed(module: str) -> ast.Module:
    return ast.parse(_module_path(module).read_text(encoding="utf-8"))


@cache
def _code_of(module: str) -> str:
    tree = ast.parse(_module_path(module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules of this library that a module imports, at its top or inside functions."""
    found = []
    for node in ast.walk(_parsed(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "abovechance":
            inside = (node.module or "").split(".")[1:]
            # `from abovechance import tasks` names modules, `from abovechance.tasks import x` does not
            for name in [".".join([*inside, alias.name]) for alias in node.names] + [".".join(inside)]:
                if name and _module_path(name).is_file():
                    found.append(name)
    return tuple(found)
