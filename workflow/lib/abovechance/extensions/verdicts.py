"""The verdict on one accuracy as other tools store it: plain numbers and a sentence."""

from __future__ import annotations

from typing import Any

from scipy.stats import binomtest

from abovechance.chance.study import judge
from abovechance.core.estimates import CONFIDENCE
from abovechance.core.p_values import probability
from abovechance.importers import combine
from abovechance.importers.contract import Options, Run
from abovechance.results.accuracy import accuracy_by_prompt


def verdict_of(
    run: Run, prompts: int = 1, chance: float | None = None, stop: str | None = None
) -> dict[str, Any]:
    """Return the verdict on the accuracy of a run.

    Parameters
    ----------
    run
        The results of one prompt, with its suspicions.
    prompts
        Number of prompts tried; the run is of the best one.
    chance
        Probability of a lucky guess on an example, if the run does not contain it.
    stop
        Why some samples were not run, in words, if the evaluation was stopped early. Tests and intervals
        would not be valid then.

    Returns
    -------
    dict
        ``examples``, ``accuracy``, ``interval`` (Clopper-Pearson; None for the best of several prompts,
        because it ignores the choice) with its ``confidence``, ``prompts``, ``chance_level``,
        ``maximum_baseline`` and ``p_value`` (None if the chance is unknown), ``better_than_chance`` ("yes",
        "no", "unclear" or None), ``suspicions``, ``notes`` (what was left out of the log, and why) and
        ``sentence``.
    """
    examples, correct = len(run.rows), int(run.rows["correct"].sum())
    interval = binomtest(correct, examples).proportion_ci(CONFIDENCE)
    verdict: dict[str, Any] = {
        "examples": examples,
        "accuracy": correct / examples,
        "interval": [float(interval.low), float(interval.high)] if prompts == 1 else None,
        "confidence": CONFIDENCE,
        "prompts": prompts,
        "chance_level": None,
        "maximum_baseline": None,
        "p_value": None,
        "better_than_chance": None,
        "suspicions": [sign.sentence for sign in run.suspicions if sign.severity != "note"],
        "notes": run.notes,
    }
    if stop:
        sentence = f"{correct / examples:.3f} on {examples} samples; {stop}, so no interval is valid"
        return verdict | {"interval": None, "sentence": sentence}
    sentence = f"{correct / examples:.3f}"
    if prompts == 1:
        sentence += f" [{interval.low:.3f}, {interval.high:.3f}]"
    unknown = bool(run.rows["chance"].isna().any())
    if not unknown or chance is not None:
        options = Options(chance=chance if unknown else None, prompts=prompts)
        judged = judge(accuracy_by_prompt(combine([run], options)), prompts_tried=prompts).table.iloc[0]
        verdict |= {
            "chance_level": float(judged["standard_baseline"]),
            "maximum_baseline": float(judged["maximum_baseline"]),
            "p_value": float(judged["maximum_tail"]),
            "better_than_chance": str(judged["better_than_chance"]),
        }
        selection = "1 prompt" if prompts == 1 else f"the best of {prompts} prompts"
        sentence += (
            f", chance {verdict['chance_level']:.3f}, p = {probability(verdict['p_value'])} for {selection}; "
            f"better than chance: {verdict['better_than_chance']}"
        )
    return verdict | {
        "sentence": sentence + "".join(f"; suspicious: {text}" for text in verdict["suspicions"])
    }
