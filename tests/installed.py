"""The built wheel in an empty environment: its commands, and the tests of what they do.

    python tests/installed.py [--python 3.14] [--resolution lowest-direct]    # after `make dist`
    python tests/installed.py --extra workflow --torch 2.13.0+cpu

`make compat` runs the first. uv makes the environment and must be on the path. `lowest-direct` installs the
lowest versions that the package's metadata allow and that have wheels for this Python. With an extra, the
study in `.test/` and the tests of scoring run too; torch has the version that is named. The script needs only
the standard library.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
# Snakemake, torch and transformers are not needed for these
ROOMS = (
    *("core", "chance", "results", "metrics", "best", "ladder", "pvi", "compare", "variance", "items"),
    *("shown", "published", "doctor", "importers", "archive", "cli"),
)
ROOMS_OF_EXTRA = ("scoring", "servers", "training", "study")
WITHOUT_WHEELS = "connection-pool"  # which Snakemake needs
TOOLS = ["pytest", "pytest-xdist", "hypothesis", "mpmath", "max-random-baseline", "cyclonedx-python-lib"]
LEFT_OUT = "not checkout and not workflow and not thorough and not slow and not faults"
COMMANDS = [
    "--version",
    "--help",
    "check --help",
    "check --example",
    "best --example",
    "compare --example",
    "items --example",
    "baseline -n 100 -c 2 -t 200 --accuracy 0.62",
    "plan -n 100 -c 4 -t 20 --figure plan.png",
    "chance --example",
    "init --task emoji_movie --model org/model --output mine.yaml",
]


def run(*command: str | Path, folder: Path) -> None:
    """Run a command; exit with its output if it fails."""
    completed = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if completed.returncode:
        sys.stdout.buffer.write(completed.stdout)
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {completed.returncode}")


def pins(names: list[str]) -> list[str]:
    """Return packages with their pinned versions."""
    lines = [
        line
        for name in ("requirements.txt", "requirements-dev.txt")
        for line in (REPOSITORY / "envs" / name).read_text(encoding="utf-8").splitlines()
    ]
    return [line for line in lines if line.partition("==")[0] in names]


def set_up(environment: Path, python: str, resolution: str, extra: str | None, torch: str) -> Path:
    """Install the wheel and the tools of the tests; return the environment's Python."""
    (wheel,) = (REPOSITORY / "results" / "dist").glob("*.whl")
    uv = ["uv", "--quiet", "--no-config"]
    run(*uv, "venv", "--seed", "--python", python, environment, folder=environment.parent)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    version = subprocess.check_output(
        [programs / "python", "-c", "import platform; print(platform.python_version())"], text=True
    ).strip()
    lock, constraint = environment.parent / "versions.txt", environment.parent / "torch.txt"
    constraint.write_text(f"torch=={torch}\n", encoding="utf-8")
    binary = ["--only-binary", ":all:", "--no-binary", WITHOUT_WHEELS]
    run(
        *(*uv, "pip", "compile", *binary, "--python-version", version, "--no-header", "--no-annotate"),
        *(["--extra", extra] if extra else []),
        *("--constraint", constraint, "--resolution", resolution),
        *(REPOSITORY / "pyproject.toml", "--output-file", lock),
        folder=environment.parent,
    )
    install = [*uv, "pip", "install", "--python", programs / "python", *binary]
    run(*install, wheel, "--requirement", lock, *pins(TOOLS), folder=environment.parent)
    direct = re.findall(r'^  "([a-z0-9-]+)>=', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    versions = [line for line in lock.read_text().splitlines() if line.partition("==")[0] in direct]
    print(f"Python {version}, {resolution}: {', '.join(versions)}", flush=True)
    return programs / "python"


def main() -> None:
    pinned = dict(line.split("==") for line in pins(["torch"]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="version or path, as uv takes it")
    parser.add_argument("--resolution", default="highest", choices=["highest", "lowest-direct"])
    parser.add_argument("--extra", choices=["scoring", "workflow"])
    parser.add_argument(
        "--torch", default=pinned["torch"], help="its version, such as one for processors only"
    )
    parser.add_argument("--commands-only", action="store_true", help="no tests (Windows)")
    choices = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        environment = folder / "environment"
        python = set_up(environment, choices.python, choices.resolution, choices.extra, choices.torch)
        (folder / "empty").mkdir()
        for command in COMMANDS:
            run(python, "-m", "abovechance", *command.split(), folder=folder / "empty")
        mistaken = subprocess.run([python, "-m", "abovechance", "gate"], capture_output=True, text=True)
        if "missing argument 'candidate'" not in mistaken.stderr.lower():
            raise SystemExit(f"gate without arguments: {mistaken.stderr}")
        print(f"{len(COMMANDS)} commands run", flush=True)
        if choices.extra == "workflow":
            shutil.copy(REPOSITORY / ".test" / "config.yaml", folder / "empty" / "study.yaml")
            run(python, "-m", "abovechance", "run", "study.yaml", folder=folder / "empty")
            print("a study run", flush=True)
        if choices.commands_only:
            return
        copy = folder / "copy"  # without the library, so that the wheel is what is tested
        shutil.copytree(
            REPOSITORY, copy, ignore=shutil.ignore_patterns(".git", ".venv", "lib", "__pycache__", "results")
        )
        shutil.copytree(REPOSITORY / "tests" / "results", copy / "tests" / "results")
        if (shared := REPOSITORY.parent / "shared").is_dir():
            (folder / "shared").symlink_to(shared)
        options = f"-q --disable-warnings -n 2 -p no:cacheprovider -m {shlex.quote(LEFT_OUT)}"
        rooms = ROOMS_OF_EXTRA if choices.extra else ROOMS
        command = [str(python), "-m", "pytest", *shlex.split(options), *(f"tests/{room}" for room in rooms)]
        tests = subprocess.run(command, cwd=copy, env={**os.environ, "TEST_INSTALLED": "1"})
        raise SystemExit(tests.returncode)


if __name__ == "__main__":
    main()
