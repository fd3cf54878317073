"""Recompute the published study in a clean environment, and compare it with the numbers of docs/published.md.

    python -m tests.verify_release RELEASE [--hashes]    # `make verify-release RELEASE=PATH`

RELEASE is the folder or zip file that the authors of the method released. The environment has the wheel that
`make dist` builds and the pinned packages (``--hashes``: only if their files have PyPI's hashes). The results
stay in results/release/.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import yaml

from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "results" / "release"
PAGE = REPOSITORY / "docs" / "published.md"
POSITIONS = ["below", "between", "above"]
Tables = Callable[[str], pd.DataFrame]


def statements(table: Tables) -> Iterator[tuple[str, list[float]]]:
    """Yield sentences of the page as patterns with a group for each number, and the recomputed numbers."""
    verdicts, changes = (
        table("verdicts"),
        table("changes_count").set_index("published, down; by the data, across"),
    )
    published = table("published_verdicts")
    between = [
        int(((published["position"] == "between") & (published["shots"] == shots)).sum())
        for shots in (1, 2, 4)
    ]
    above = int((published["position"] == "above").sum())
    yield (
        r"this study \| (\d+) \| (\d+) \| (\d+) \| (\d+), (\d+), (\d+) \|",
        [len(published), above + sum(between), above, *between],
    )
    largest = table("published_heldout_difference")["difference"].abs().max()
    yield r"no metric changes by more than (0\.\d+)", [largest]
    best = verdicts[verdicts["position"] == "above"]
    yield (
        r"maximum baseline in (\d+) of (\d+) settings. Pure guessing would be above it in about (\d+)",
        [len(best), len(verdicts), verdicts["guessing_above"].sum()],
    )
    yield r"In (\d+) of the (\d+) settings, the best", [(best["maximum_tail"] > 0.05).sum(), len(best)]
    yield (
        r"for \d+ settings, (\d+) settings remain .* leaves (\d+) settings. Holm's .* leaves (\d+)",
        [(verdicts[f"{method}_tail"] <= 0.05).sum() for method in ("bh", "by", "holm")],
    )
    heldout = table("heldout_difference").set_index("measure")
    auroc, accuracy, tail = (heldout.loc[name] for name in ("auroc", "accuracy", "tail_auroc"))
    yield (
        r"is (0\.\d+) higher with the maximum .*? tasks: (-?0\.\d+) to (0\.\d+)\)",
        [auroc["difference"], auroc["low"], auroc["high"]],
    )
    yield (
        r"Its accuracy is (0\.\d+) lower \(95 % interval of the difference: (-0\.\d+) to (-?0\.\d+)\)",
        [-accuracy["difference"], accuracy["low"], accuracy["high"]],
    )
    yield r"equally well \(AUROC (0\.\d+) for both\)", [tail["maximum"]]
    yield r"The corrections change (\d+) of the", [len(table("changes"))]
    for position in POSITIONS:
        cells = changes.loc[position, POSITIONS]
        yield rf"\| {position} \| (\d+) \| (\d+) \| (\d+) \|", [*map(int, cells)]
    for _, row in table("audit_summary").iterrows():
        yield rf"\| {re.escape(row['finding'])} \| (\d+) \|", [row["rows"]]


def differences(page: str, table: Tables) -> Iterator[str]:
    """Yield a line for each number of the page that the tables do not give, to the digits of the page."""
    text = " ".join(page.split())
    for pattern, values in statements(table):
        match = re.search(pattern, text)
        if match is None:
            yield f"{PAGE.name}: has no text like '{pattern}'"
            continue
        for stated, value in zip(match.groups(), values, strict=True):
            digits = len(stated.partition(".")[2])
            if round(float(value), digits) != float(stated):
                result = f"{value:.{digits + 2}f}"
                yield f"{PAGE.name}: '{match[0]}': {stated} is stated, but {result} was recomputed"


def set_up(is_hashed: bool) -> Path:
    """Make the environment; return its programs' folder."""
    (wheel,) = (REPOSITORY / "results" / "dist").glob("*.whl")
    shutil.rmtree(FOLDER, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", FOLDER / "venv"], check=True)
    pins = ["--require-hashes", "--requirement", "envs/requirements-hashed.txt"]
    install = [FOLDER / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pins = pins if is_hashed else ["--requirement", "envs/requirements.txt"]
    subprocess.run([*install, *pins], cwd=REPOSITORY, check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)
    return FOLDER / "venv" / "bin"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("--hashes", action="store_true", help="install only files with PyPI's hashes")
    choices = parser.parse_args()
    if not choices.release.exists():
        parser.error(f"{choices.release}: there is no such file or folder")
    programs = set_up(choices.hashes)
    config = yaml.safe_load((REPOSITORY / "workflow" / "studies" / "published.yaml").read_text())
    config["release"] = str(choices.release.resolve())
    (FOLDER / "published.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    subprocess.run([programs / "abovechance", "run", "published.yaml"], cwd=FOLDER, check=True)
    tables = FOLDER / "results" / "published" / "tables"
    table: Tables = lambda name: pd.read_csv(tables / f"{name}.csv")  # noqa: E731
    rows = [*differences(PAGE.read_text(), table)]
    count = sum(len(values) for _, values in statements(table))
    print("\n".join(rows) or f"{PAGE.name}: all {count} compared numbers were recomputed")
    raise SystemExit(bool(rows))


if __name__ == "__main__":
    main()
