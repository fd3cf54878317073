"""Check that names say what a value is, and that docstrings describe the parameters that exist.

    python -m tests.names

A part of ``make lint``. It prints each wrong name with its place and exits with status 1.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Pronouns, participles and adjectives, which do not say what a value is.
WORDS = frozenset(
    """
    again alike apart asked both done drawn each found given held here kept known left made most now of
    one ones other others own put right said same seen shown some taken that then there these this those
    told tried wanted what where which
    """.split()  # noqa: SIM905  (a list of words is read as text)
)
SECTION = re.compile(
    r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n[A-Z]\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL
)
ENTRY = re.compile(r"^(\w+(?:, \w+)*)$", re.MULTILINE)
# Rules are Python and more: their assignments, loops and parameters are found by their form.
IN_RULES = re.compile(
    r"^\s*(\w+) = |\b(\w+) := |\bfor (\w+(?:, \w+)*) in |\blambda (\w+(?:, \w+)*):|^def (\w+)\(", re.MULTILINE
)
Place = tuple[int, str]


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _parameters(function: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    listed = function.args
    return [
        *(*listed.posonlyargs, *listed.args, *listed.kwonlyargs),
        *(parameter for parameter in (listed.vararg, listed.kwarg) if parameter),
    ]


def assigned_names(tree: ast.AST) -> Iterator[Place]:
    """Yield line and name of each value, attribute, parameter, function and class that code names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            yield from ((parameter.lineno, parameter.arg) for parameter in _parameters(node))
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def weak_names(path: Path) -> Iterator[Place]:
    """Yield line and name where a name is one of ``WORDS``."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        # ``__eq__(self, other)`` is Python's own signature
        tree = ast.parse(text)
        compared = {
            line for function in _functions(tree) if function.name == "__eq__" for line in [function.lineno]
        }
        places = ((line, name) for line, name in assigned_names(tree) if line not in compared)
    else:
        places = (
            (text.count("\n", 0, match.start()) + 1, name)
            for match in IN_RULES.finditer(text)
            for names in filter(None, match.groups())
            for name in names.split(", ")
        )
    return ((line, name) for line, name in places if name.strip("_") in WORDS)


def unknown_parameters(path: Path) -> Iterator[Place]:
    """Yield line and name where a docstring describes a parameter that the function does not have."""
    for function in _functions(ast.parse(path.read_text(encoding="utf-8"))):
        if section := SECTION.search(ast.get_docstring(function) or ""):
            described = {name for entry in ENTRY.findall(section[1]) for name in entry.split(", ")}
            for name in described - {parameter.arg for parameter in _parameters(function)}:
                yield function.lineno, name


def main() -> None:
    """Print all wrong names; exit with status 1 if there are any."""
    code = [
        *(ROOT / "workflow").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "docs").glob("*.py"),
        *(ROOT / "envs").glob("*.py"),
    ]
    rules = [
        ROOT / "Snakefile",
        ROOT / "workflow" / "Snakefile",
        *(ROOT / "workflow" / "rules").rglob("*.smk"),
    ]
    lines = [
        f"{path.relative_to(ROOT)}:{line}: '{name}' does not say what the value is; use a noun"
        for path in sorted([*code, *rules])
        for line, name in weak_names(path)
    ]
    lines += [
        f"{path.relative_to(ROOT)}:{line}: the docstring describes '{name}', which is no parameter"
        for path in sorted(code)
        for line, name in unknown_parameters(path)
    ]
    if lines:
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
