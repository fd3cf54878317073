"""Small changes to the statistics, and whether a test notices each: `make mutants`, or with `SUBJECTS=best`.

A copy of the library and the tests is made for each subject in results/mutants; mutmut changes one operator,
constant, argument or condition after the other, and runs the tests that reach it. Written: its survivors.md.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conftest import REPOSITORY

ROOT = REPOSITORY / "results" / "mutants"
SERVER_TESTS = ("asking", "probe", "requests", "scorer", "transport")
# subject: the modules that are changed, and the tests that should notice
SUBJECTS = {
    "chance": (
        ["chance", "results/accuracy.py", "results/predictions.py", "results/response_matrix.py"],
        ["tests/chance", "tests/results", "tests/shown", "tests/test_compat.py"],
    ),
    "best": (["best"], ["tests/best", "tests/ladder"]),
    "compare": (
        ["compare", "core/estimates.py", "core/resampling.py"],
        ["tests/compare", "tests/core/test_estimates.py", "tests/core/test_resampling.py"],
    ),
    "doctor": (["doctor"], ["tests/doctor"]),
    "importers": (["importers"], ["tests/importers", "tests/doctor", "tests/extensions"]),
    "items": (["items"], ["tests/items"]),
    "ladder": (["ladder"], ["tests/ladder"]),
    "metrics": (["metrics"], ["tests/metrics", "tests/chance/test_null_distribution.py"]),
    "pvi": (["pvi"], ["tests/pvi"]),
    # not by tests that need a running server, which take minutes
    "servers": (["servers"], [f"tests/servers/test_{name}.py" for name in SERVER_TESTS]),
    "variance": (["variance"], ["tests/variance"]),
}
# Tests of the command line in this process reach all subjects.
COMMANDS = [
    "tests/cli/test_cli.py",
    "tests/cli/test_chance.py",
    "tests/test_bad_inputs.py",
    "tests/test_docs.py",
]
# A child process does not run the mutated library; what counts open figures is run once in a process only.
NOT_HERE = ["need_little_memory", "test_figures"]
MARKED = ["workflow", "slow", "faults", "checkout"]
CONFIG = """\
[tool.pytest.ini_options]
markers = {markers}
[tool.mutmut]
source_paths = ["src"]
only_mutate = {only}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-x", "-p", "no:cacheprovider", "-m", "{unmarked}", "-k", "{leave_out}"]
also_copy = {beside}
timeout_multiplier = 4.0
"""
# Each mutant starts as a copy of a process that has run all tests: what that one remembers is forgotten.
FORGET = """

@pytest.fixture(autouse=True)
def nothing_is_remembered():
    for name, module in [*sys.modules.items()]:
        if name.startswith("abovechance"):
            for value in [*vars(module).values()]:
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
"""
# What mutmut writes where a test failed, or ran for ever; all else is not noticed.
NOTICED = (1, 3, 24, 36, 152, 255, -24)
NO_TEST, NOT_RUN = 33, None
# Changes after which the program does the same: checks that cannot fail, types that numbers have anyway, the
# order of equal keys that do not occur, options of speed, warnings that are not shown.
EQUIVALENT = re.compile(
    r"(strict|dtype|kind|ignore_index|observed|sort|optimize|divide|invalid|vectorized|batch)=|astype\(|\bdtype\b|@overload"
)


def prepare(folder: Path, mutated: list[str], tests: list[str]) -> None:
    """Make a fresh copy of what is changed and of what notices."""
    shutil.rmtree(folder, ignore_errors=True)
    no_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "workflow" / "lib", folder / "src", ignore=no_caches)
    shutil.copytree(REPOSITORY / "tests", folder / "tests", ignore=no_caches)
    # the workflow lies in the library, as where one is installed
    no_library = shutil.ignore_patterns("__pycache__", "lib")
    shutil.copytree(REPOSITORY / "workflow", folder / "src" / "abovechance" / "workflow", ignore=no_library)
    with (folder / "tests" / "conftest.py").open("a") as conftest:
        conftest.write(FORGET)
    listed = ["git", "-C", str(REPOSITORY), "ls-files"]
    tracked = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    beside = [name for name in tracked if not name.startswith((".", "tests/", "workflow/lib/"))]
    for name in beside:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, place)
    only = [f"src/abovechance/{name}" + ("" if name.endswith(".py") else "/*.py") for name in mutated]
    text = CONFIG.format(
        only=json.dumps(only),
        markers=json.dumps(MARKED),
        unmarked=" and ".join(f"not {name}" for name in MARKED),
        tests=json.dumps(tests),
        leave_out=" and ".join(f"not {name}" for name in NOT_HERE),
        beside=json.dumps(sorted({name.partition("/")[0] for name in beside} - {"pyproject.toml"})),
    )
    (folder / "pyproject.toml").write_text(text)


def called_at_import(folder: Path) -> set[str]:
    """Return the names of functions that run when the subject's modules are imported."""
    places = [meta.with_suffix("") for meta in folder.glob("mutants/src/abovechance/**/*.py.meta")]
    sources = [ast.parse((folder / path.relative_to(folder / "mutants")).read_text()) for path in places]
    bodies: dict[str, set[str]] = {}
    called: set[str] = set()
    for source in sources:
        for statement in source.body:
            if isinstance(statement, ast.FunctionDef):
                bodies.setdefault(statement.name, set()).update(_calls(statement))
                called.update(name for node in statement.decorator_list for name in _calls(node))
            elif not isinstance(statement, ast.ClassDef):
                called |= _calls(statement)
    while more := {name for caller in called for name in bodies.get(caller, ())} - called:
        called |= more
    return called


def _calls(node: ast.AST) -> set[str]:
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def run_survivors(folder: Path, tests: list[str]) -> None:
    """Run the tests on each survivor of a function that runs when its module is imported.

    mutmut imports modules once, before it chooses a mutant, so these are run in processes of their own.
    """
    options = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["mutmut"]
    command = [ROOT / "venv/bin/python", "-m", "pytest", "-q", *options["pytest_add_cli_args"], *tests]
    functions = called_at_import(folder)

    def status(name: str) -> int:
        environment = {**os.environ, "MUTANT_UNDER_TEST": name, "PYTHONPATH": "src"}
        place = folder / "mutants"
        return subprocess.run(command, cwd=place, env=environment, capture_output=True).returncode

    for meta in sorted(folder.glob("mutants/src/abovechance/**/*.py.meta")):
        content = json.loads(meta.read_text())
        codes = content["exit_code_by_key"]
        names = [
            name
            for name, function, change, code in survivors(meta)
            if code == 0 and function in functions and not is_equivalent(change)
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            codes |= dict(zip(names, pool.map(status, names), strict=True))
        meta.write_text(json.dumps(content))


def survivors(meta: Path) -> Iterator[tuple[str, str, str, int]]:
    """(mutant, function, what was changed, exit status) of each mutant of a module that no test noticed."""
    lines = (source := meta.with_suffix("").read_text()).splitlines()
    functions = {
        node.name: lines[node.lineno : node.end_lineno]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    }
    for name, status in json.loads(meta.read_text())["exit_code_by_key"].items():
        if status not in NOTICED:
            rows = name.rsplit(".", 1)[-1]
            function = rows.rsplit("__mutmut_", 1)[0]
            before, after = functions[f"{function}__mutmut_orig"], functions[rows]
            changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
            words = function.replace("xǁ", "").replace("ǁ", ".").removeprefix("x_")
            yield name, words, "\n".join(changed), status


def shared(first: str, second: str) -> int:
    """With how many characters two texts begin alike."""
    shorter = min(len(first), len(second))
    return next((n for n in range(shorter) if first[n] != second[n]), shorter)


def is_equivalent(change: str) -> bool:
    """Whether a change is one of those after which the program does the same: by what changed alone."""
    before, after = (
        "".join(line[2:].strip() for line in change.splitlines() if line[0] == sign) for sign in "-+"
    )
    begin = shared(before, after)
    end = shared(before[begin:][::-1], after[begin:][::-1])
    # the word before it too, such as the name of an argument
    name = re.search(r'[\w.]*[=(]?"?$', before[:begin])
    return bool(EQUIVALENT.search((name.group() if name else "") + before[begin : len(before) - end]))


def report(folder: Path) -> str:
    """The share of mutants that are noticed, and those that are not."""
    rows, listed, total, equivalent, remaining = [], [], 0, 0, 0
    for meta in sorted(folder.glob("mutants/src/abovechance/**/*.py.meta")):
        statuses = list(json.loads(meta.read_text())["exit_code_by_key"].values())
        if not statuses:
            continue
        if NOT_RUN in statuses:
            raise SystemExit(f"{meta.name}: not all mutants were run; run it again")
        module = meta.relative_to(folder / "mutants/src/abovechance").with_suffix("").as_posix()
        items = list(survivors(meta))
        similar = sum(is_equivalent(change) for _, _, change, _ in items)
        rows.append(f"| {module} | {len(statuses)} | {similar} | {len(items) - similar} |")
        total, equivalent, remaining = (
            total + len(statuses),
            equivalent + similar,
            remaining + len(items) - similar,
        )
        for _, function, change, status in items:
            visible = (
                " (does the same)" if is_equivalent(change) else " (no test)" if status == NO_TEST else ""
            )
            listed.append(f"{module}, {function}{visible}:\n\n```diff\n{change}\n```\n")
    share = 1 - remaining / (total - equivalent)
    head = f"{share:.1%} of {total - equivalent} mutants are noticed ({equivalent} more do the same).\n"
    table = ["| module | mutants | do the same | not noticed |", "|---|---|---|---|", *rows]
    return "\n".join([head, *table, "", *listed])


def main() -> None:
    """Make the mutants, run the tests on each, and write what is not noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("subjects", nargs="*", help=f"all if none is named: {', '.join(SUBJECTS)}")
    parser.add_argument("--report", action="store_true", help="only write the report of an earlier run")
    choices = parser.parse_args()
    for subject in choices.subjects or SUBJECTS:
        folder = ROOT / subject
        if not choices.report:
            mutated, tests = SUBJECTS[subject]
            prepare(folder, mutated, [*tests, *COMMANDS])
            programs = f"{REPOSITORY / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
            # child processes run the library as it is
            environment = {"PATH": programs, "PYTHONPATH": str(REPOSITORY / "workflow" / "lib")}
            mutmut = [str(ROOT / "venv/bin/mutmut"), "run"]
            subprocess.run(mutmut, cwd=folder, check=True, env={**os.environ, **environment})
            run_survivors(folder, tests)
        text = report(folder)
        (folder / "survivors.md").write_text(text)
        print(f"{subject}: {text.splitlines()[0]}")


if __name__ == "__main__":
    main()
