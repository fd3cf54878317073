"""Recompute the published study in a clean environment, and compare it with the numbers of the docs' pages.

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
from tests.stated import Statement, differences, text_of

FOLDER = REPOSITORY / "results" / "release"
POSITIONS = ["below", "between", "above"]
Tables = Callable[[str], pd.DataFrame]


def of_published(table: Tables) -> Iterator[Statement]:
    """Yield what docs/published.md states."""
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
    by_prompts = table("heldout_by_prompts").query("requested_prompts == 200 and predictor == 'maximum'")
    yield r"AUROC of random guessers is (0\.\d+) on", [by_prompts["guessers_tail_auroc"].item()]
    yield r"The corrections change (\d+) of the", [len(table("changes"))]
    yield from _changes(table("changes"))
    for position in POSITIONS:
        cells = changes.loc[position, POSITIONS]
        yield rf"\| {position} \| (\d+) \| (\d+) \| (\d+) \|", [*map(int, cells)]
    evidence = table("audit").groupby("finding")["evidence"].agg(set)
    for _, row in table("audit_summary").iterrows():
        texts = "|".join(map(re.escape, sorted(evidence[row["finding"]])))
        yield rf"\| {re.escape(row['finding'])} \| (\d+) \| (?:{texts}) \|", [row["rows"]]


def _changes(changes: pd.DataFrame) -> Iterator[Statement]:
    """Yield what the page states about the settings whose verdict changes."""
    lower = changes[(changes["position_published"] == "above") & (changes["position_data"] != "above")]
    yield (
        r"In all, (\d+) settings are no longer above .*?: (\d+) on winowhy.* and (\d+) on conc",
        [len(lower), *((lower["task"] == task).sum() for task in ("winowhy", "conceptual_combinations"))],
    )
    examples = lower[lower["task"] == "conceptual_combinations"]
    sizes = [examples[f"examples_{side}"].agg(["min", "max"]) for side in ("data", "published")]
    yield r"evaluated on (\d+) or (\d+) ids instead of (\d+) to (\d+)\.", [*sizes[0], *sizes[1]]
    higher = changes.set_index("task").loc[["strange_stories", "emoji_movie"]]
    yield r"On strange_stories, (\d+) settings are now", [(higher.index == "strange_stories").sum()]
    prompts = higher.loc[["emoji_movie"]]
    yield (
        r"On emoji_movie, (\d+) setting is .* only (\d+) prompts were tried instead of (\d+)",
        [len(prompts), prompts["prompts_data"].iloc[0], prompts["prompts_published"].iloc[0]],
    )


def of_guessers(table: Tables) -> Iterator[Statement]:
    """Yield what docs/guessers.md states."""
    verdicts, guessers = table("verdicts"), table("ladder_guessers").set_index("guesser")
    better = verdicts[verdicts["better_than_chance"] == "yes"]
    beaten = better["unbeaten_guesser"].isna().sum()
    yield (
        r"use: (\d+) settings\), (\d+) best .*? and (\d+) are .*?Only (\d+) of these (\d+) beat all",
        [len(verdicts), (verdicts["position"] == "above").sum(), len(better), beaten, len(better)],
    )
    for name, row in guessers.drop("uniform").iterrows():
        cells = [row[column] for column in ("settings", "better", "better_beaten")]
        yield rf"\| {name} \| (\d+) \| (\d+) \| (\d+) \|", cells


def of_best(table: Tables) -> Iterator[Statement]:
    """Yield what docs/best.md states."""
    heldout = table("heldout_debiased").set_index(["requested_prompts", "validation_examples"])
    for prompts, examples in [
        *((number, size) for number in (2, 10, 200) for size in ("up to 50", "above 100")),
        (200, "all"),
    ]:
        row = heldout.loc[(prompts, examples)]
        errors = [100 * row[f"{name}_error"] for name in ("validation", "debiased")]
        yield (
            rf"\| {prompts} \| {examples} \| (\+\d+\.\d) \| ([+-]\d+\.\d) \| (\.\d+) \|",
            [*errors, row["coverage"]],
        )
    yield r"debiased accuracy of (\d+) settings by their", [len(table("verdicts"))]


def of_method(table: Tables) -> Iterator[Statement]:
    """Yield what docs/method.md states."""
    published, verdicts = table("published_verdicts"), table("verdicts")
    setting = "model == 'OLMo-7B' and task == 'emoji_movie' and shots == 4"
    (row,) = published.query(setting).to_dict("records")
    shares = [100 * row[name] for name in ("best_accuracy", "maximum_baseline")]
    yield r"best prompt \((\d+\.\d) %\) is below (\d+\.\d) %", shares
    ends = [verdicts["guessing_above"].min(), verdicts["guessing_above"].max()]
    yield r"a probability of about (0\.\d) to (0\.\d) \(`guessing_above`\)", ends


def of_items(table: Tables) -> Iterator[Statement]:
    """Yield what docs/items.md states."""
    tasks, items, fit, pruning = table("items"), table("item_list"), table("item_fit"), table("item_pruning")
    varying = items[~items["constant"].astype(bool)]
    near_zero, negative = (varying["corrected"].abs() < 0.1).mean(), (varying["corrected"] < 0).mean()
    yield (
        r"tasks have ([\d,]+) items that are not constant. .*?, (\d+) % .* \.1, and (\d+) % have a negative",
        [len(varying), 100 * near_zero, 100 * negative],
    )
    yield r"correlation of r = (\.\d+) to (1\.00), depending", [tasks["halves"].min(), tasks["halves"].max()]
    by_answer = tasks["by_answer"].dropna().sort_values()
    explained = by_answer[by_answer > 0.1]
    yield (
        r"(\d+) tasks have answers .*? In (\d+) of them, .*? (\d+) to ([\d.]+) % of the variance of the",
        [len(by_answer), len(explained), 100 * explained.iloc[0], 100 * explained.iloc[-1]],
    )
    balanced = tasks.set_index("task")["balanced"]
    yield (
        r"over items is (\.\d+) for winowhy and (\.\d+) for strategyqa",
        [balanced["winowhy"], balanced["strategyqa"]],
    )
    best_and_rest = tasks.set_index("task")["best_and_rest"]
    yield r"ranges from (-\.\d+) \(winowhy\) to (\.\d+)", [best_and_rest["winowhy"], best_and_rest.max()]
    splits = pruning.assign(outside=pruning["outside"] == "yes").groupby("split")
    changes, outside = (
        100 * splits["mean_change"].apply(lambda part: part.abs().mean()),
        splits["outside"].sum(),
    )
    common_changes = changes.drop("best rows")
    yield (
        r"(\d+) to (\d+) percentage points for random rows .*?, and (\d+) points for the best rows",
        [common_changes.min(), common_changes.max(), changes["best rows"]],
    )
    yield r"In (\d+) to (\d+) of (\d+) tasks", [outside.min(), outside.max(), pruning["task"].nunique()]
    increases = (
        100
        * pruning.assign(increase=pruning["error_after"] / pruning["error"] - 1)
        .groupby("split")["increase"]
        .mean()
    )
    yield r"standard error of a score increases by (\d+) to (\d+) %", [increases.min(), increases.max()]
    above = 100 * (varying["rmsd"] > varying["rmsd_95"]).mean()
    yield r"But for (\d+) % of the items, `rmsd` is larger", [above]
    losses = fit.groupby(["model", "dimensions"])["log_loss"].mean()
    yield (
        r"Its log loss is (\.\d+) nats.*? has a log loss of (\.\d+)\.",
        [losses["item response theory", 1], losses["rows and items", 0]],
    )
    for _, row in table("adaptive").iterrows():
        name = f"{re.escape(row['question'])}(?: is better)?: {row['way']}"
        shares = [100 * row[column] for column in ("share", "wrong", "wrong_limit")]
        yield (
            rf"\| {name} \| (\d+) \| (\d+) % \| (\d+\.\d) % \| (\d+\.\d) % \|",
            [row["evaluations"], *shares],
        )


def of_smaller_benchmarks(table: Tables) -> Iterator[Statement]:
    """Yield what docs/items.md states about the costs of smaller benchmarks for new models."""
    by_split = table("smaller_benchmarks")
    new_prompts = by_split.query("split == 'random rows' and examples == 100").set_index("method")
    yield (
        r"With 100 examples, it has an error of (\d\.\d) points and reverses (\d) % of the pairs",
        [100 * new_prompts.loc["responses", name] for name in ("error", "flips")],
    )
    costs = by_split.query("split == 'new models'")
    for method, rows in costs.query("method != 'all examples'").groupby("method"):
        by_size = rows.set_index("examples").sort_index()
        values = (100 * by_size[["error", "flips", "flips_best"]]).to_numpy().ravel().tolist()
        cells = r" \| ".join([r"(\d+\.\d) / (\d+) / (\d+)"] * len(by_size))
        error = 100 * by_size["standard_error"].iloc[-1]
        yield rf"\| {re.escape(method)} \| {cells} \| (\d+\.\d) \|", [*values, error]
    whole = costs.query("method == 'all examples'").iloc[0]
    yield (
        r"the (\d+) tasks of the study above that .*? have (\d+) examples on average",
        [whole["tasks"], whole["examples"]],
    )


PAGES = {
    "published": of_published,
    "guessers": of_guessers,
    "best": of_best,
    "method": of_method,
    "items": of_items,
}
# Clusters of examples can differ with the last digit of a fitted model.
TOLERANCE = 0.3  # points


def all_differences(table: Tables, text: Callable[[str], str] = text_of) -> Iterator[str]:
    """Yield a line for each number of a page that the tables do not give."""
    for name, statements in PAGES.items():
        yield from differences(name, text(name), statements(table))
    yield from differences("items", text("items"), of_smaller_benchmarks(table), TOLERANCE)


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
    config |= {"release": str(choices.release.resolve()), "items": {"replays": 3}}
    (FOLDER / "published.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    subprocess.run([programs / "abovechance", "run", "published.yaml"], cwd=FOLDER, check=True)
    tables = FOLDER / "results" / "published" / "tables"
    table: Tables = lambda name: pd.read_csv(tables / f"{name}.csv")  # noqa: E731
    rows = [*all_differences(table)]
    statements = [*PAGES.values(), of_smaller_benchmarks]
    count = sum(len(values) for statements_of in statements for _, values in statements_of(table))
    print("\n".join(rows) or f"all {count} compared numbers of {len(PAGES)} pages were recomputed")
    raise SystemExit(bool(rows))


if __name__ == "__main__":
    main()
