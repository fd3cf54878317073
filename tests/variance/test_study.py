"""The scores of a study's models as those of a series."""

import numpy as np
import pandas as pd
import pytest

from abovechance.core.settings import Setting
from abovechance.core.tables import read_table
from abovechance.variance.evaluations import EVALUATIONS
from abovechance.variance.formulations import agreement, change
from abovechance.variance.study import evaluations, score_setting
from abovechance.variance.summary import of_evaluations


def setting(skill: float, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Predictions, likelihoods and clusters of a made-up model with two prompts on 50 examples."""
    generator = np.random.default_rng(seed)
    logits = generator.normal(size=(2, 50, 2))
    logits[:, :, 0] += skill
    logprobs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)) - 1
    prompt, example, choice = (axis.ravel() for axis in np.indices(logprobs.shape))
    rows = pd.DataFrame({"prompt": prompt, "example": [f"e{number}" for number in example], "choice": choice})
    likelihoods = rows.assign(right=choice == 0, logprob=logprobs.ravel(), tokens=2, bytes=4)
    correct = logprobs[:, :, 0] > logprobs[:, :, 1]
    predictions = rows[choice == 0].drop(columns="choice").assign(correct=correct.ravel(), chance=0.5)
    return predictions, likelihoods, pd.Series(np.arange(50) // 2, [f"e{number}" for number in range(50)])


def test_discrete_and_continuous_scores_of_a_setting():
    predictions, likelihoods, clusters = setting(0.5)
    scores = score_setting(predictions, likelihoods, clusters).set_index("metric")
    assert scores.loc["accuracy", "value"] == pytest.approx(predictions["correct"].mean())
    assert scores.loc["best_accuracy", "value"] == predictions.groupby("prompt")["correct"].mean().max()
    correct = likelihoods[likelihoods["right"]]
    assert scores.loc["nll", "value"] == pytest.approx(-correct["logprob"].mean())
    assert scores.loc["nll_token", "value"] == pytest.approx(-correct["logprob"].mean() / 2)
    assert scores.loc["nll_byte", "value"] == pytest.approx(-correct["logprob"].mean() / 4)
    # one less in each log-likelihood changes nothing, given that the answer is one of the choices
    assert scores.loc["correct", "value"] == pytest.approx(np.exp(correct["logprob"] + 1).mean())
    assert (scores["examples"] == 50).all()
    assert (scores["prompts"] == 2).all()
    assert scores["lower_is_better"].to_dict()["nll"]
    assert np.isnan(scores.loc["best_accuracy", "error"])
    assert np.isnan(scores.loc["best_accuracy", "bootstrap"])
    # pairs of examples belong together: by clusters both intervals have about the same width
    assert scores.loc["accuracy", "bootstrap"] == pytest.approx(
        1.96 * scores.loc["accuracy", "error"], rel=0.1
    )
    assert scores.loc["nll", "bootstrap"] == pytest.approx(1.96 * scores.loc["nll", "error"], rel=0.1)
    summary = of_evaluations(
        evaluations(
            Setting("m", "t", 1).label(scores.reset_index()), {"m": {"name": "m", "seed": 0, "checkpoint": 0}}
        )
    ).set_index("metric")
    assert summary.loc["nll", "bootstrap"] == scores.loc["nll", "bootstrap"]


def test_a_series_leaves_chance_where_its_best_prompt_does():
    parts = []
    for seed in (1, 2):
        for step, skill in ((0, 0.0), (10, 0.3), (100, 4.0)):
            table = score_setting(*setting(skill, seed=10 * step + seed))
            parts.append(Setting(f"m-seed{seed}-step{step}", "t", 1).label(table))
    parts.append(Setting("another", "t", 1).label(score_setting(*setting(1.0))))
    reported = {
        f"m-seed{seed}-step{step}": {"name": "m", "seed": seed, "checkpoint": step}
        for seed in (1, 2)
        for step in (0, 10, 100)
    }
    table = evaluations(pd.concat(parts, ignore_index=True), reported)
    assert set(table["model"]) == {"m"}
    summary = of_evaluations(table).set_index("metric")
    assert summary.loc["best_accuracy", "leaves_chance"] == 100
    assert summary.loc["accuracy", "monotonicity"] > 0.5
    assert summary.loc["nll", "monotonicity"] > 0.5
    assert summary["leaves_chance"].isna()["correct"]


def test_formulations_need_no_series(tmp_path):
    """Models alone, each in two formulations: their table of seeds and checkpoints is empty, and read so."""
    parts = [Setting("m", task, 1).label(score_setting(*setting(0.5))) for task in ("t-cloze", "t-letters")]
    scores = pd.concat(parts, ignore_index=True)
    EVALUATIONS.write(evaluations(scores, {}), tmp_path / "none.parquet", {})
    table = read_table(tmp_path / "none.parquet")
    assert table.empty
    assert change(table, {"t": ["t-cloze", "t-letters"]}).empty
    assert set(agreement(scores, {"t": ["t-cloze", "t-letters"]})["models"]) == {1}
