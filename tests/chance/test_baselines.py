"""One more baseline is one more entry: verdicts, held-out outcomes, tables and figures follow."""

from __future__ import annotations

import json
import subprocess
import sys

from abovechance import RandomBaseline
from abovechance.chance.baselines import (
    MAXIMUM,
    STANDARD,
    TriedPrompts,
    expected_accuracies,
    expected_columns,
)

STUDY = """
import json, sys
import numpy as np, pandas as pd
from abovechance.chance import baselines
from abovechance.chance.best_of import BestOf

FEW = baselines.Baseline(
    "few",
    "expected accuracy of the best of three guessers",
    "probability that the best of three guessers does at least as well",
    lambda tried: BestOf(tried.guessers, 3 * tried.best, tried.standardized),
)
baselines.BASELINES = (*baselines.BASELINES, FEW)

from typer.testing import CliRunner
from abovechance.chance import agreement, heldout, study
from abovechance.chance.random_baseline import RandomBaseline
from abovechance.chance.verdicts import Verdict
from abovechance.cli import app
from abovechance import published
from abovechance.published import conventions, tables
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown import expected_maximum, report, roc, spread
from abovechance.shown.tables import readable

generator = np.random.default_rng(0)
names = {"model": "m", "task": "t", "shots": 0}
grid = pd.MultiIndex.from_product([range(8), range(40)], names=["prompt", "example"]).to_frame(index=False)
rows = grid.assign(**names, example=grid["example"].astype(str), chance=0.5, tie=False)
rows = rows.assign(correct=generator.random(len(rows)) < 0.6)
accuracy = accuracy_by_prompt(rows)
verdicts = study.judge(accuracy).table
splits = {"seed": 0, "splits": 20, "validation": 0.5, "prompt_counts": [1, 8]}
outcomes = heldout.all_outcomes([rows], **splits)
guessers = heldout.guessed_outcomes(lambda: [rows], sets=2, **splits)
held = {schema.name: table for schema, table in agreement.heldout_tables(outcomes, guessers)}
curve = expected_maximum.expected_maximum_numbers(accuracy)
dots = spread.spread_numbers(accuracy, verdicts)
pictures = [expected_maximum.expected_maximum(curve), spread.spread(dots)]
pictures.append(roc.roc_by_prompts(roc.roc_by_prompts_numbers(outcomes)))
released = outcomes.drop(columns=[name for name in outcomes if "few" in name])  # as the paper's have it
pictures.append(roc.roc_by_prompts(roc.roc_by_prompts_numbers(released)))
published.tables.heldout_agreement(released, ["model"])
published.tables.VERDICTS.to_arrow(published.conventions.published_verdicts(accuracy.assign(task="emoji_movie")))
command = CliRunner().invoke(app, ["baseline", "-n", "40", "-c", "2", "-t", "8", "--json"])
print(json.dumps({
    "verdict": Verdict.from_accuracy(0.7, RandomBaseline.from_chance(0.5, 40), 8).judgement["few_baseline"],
    "best of three": RandomBaseline.from_chance(0.5, 40).maximum(3),
    "columns": {
        "verdicts": list(verdicts), "outcomes": list(outcomes), "curve": list(curve), "dots": list(dots),
        "screen": list(readable(verdicts, study.VERDICTS.columns)),
        "command": list(json.loads(command.output)),
    },
    "few": float(verdicts["few_baseline"].iloc[0]),
    "predictors": sorted(set(held["heldout_by_prompts"]["predictor"])),
    "compared": list(held["heldout_difference"]),
    "legends": [[text.get_text() for text in picture.legends[0].get_texts()] for picture in pictures],
    "report": report._cell(next(verdicts.itertuples()))["hint"],
}))
"""


def test_one_more_baseline_is_one_more_entry():
    completed = subprocess.run([sys.executable, "-c", STUDY], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    study = json.loads(completed.stdout.splitlines()[-1])
    assert study["few"] == study["verdict"] == study["best of three"]
    columns = study["columns"]
    assert {"few_baseline", "few_tail"} <= set(columns["verdicts"]) & set(columns["outcomes"])
    assert {"few_baseline", "few_tail"} <= set(columns["curve"])
    assert {"few_log_below", "above_few"} <= set(columns["outcomes"])
    assert "few_baseline" in set(columns["dots"]) & set(columns["command"])
    assert "few baseline" in columns["screen"]
    assert study["predictors"] == ["few", "maximum", "standard"]
    assert "few" in study["compared"]
    assert all(any("few" in text for text in legend) for legend in study["legends"])
    assert "few baseline" in study["report"]


def test_expected_accuracies_of_both_baselines():
    guesser = RandomBaseline.from_choices({2: 10, 5: 20})
    assert expected_accuracies(guesser, 7) == {
        "standard_baseline": guesser.standard,
        "maximum_baseline": guesser.maximum(7),
    }
    more = TriedPrompts.with_equal_chance(guesser, 3).with_more(4)
    assert MAXIMUM.guessers(more).maximum == guesser.maximum(7)
    assert STANDARD.guessers(more).maximum == guesser.standard
    assert [*expected_columns()] == ["standard_baseline", "maximum_baseline"]
    assert [*expected_columns([MAXIMUM])] == ["maximum_baseline"]
