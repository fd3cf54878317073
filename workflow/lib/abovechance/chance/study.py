"""The verdicts on several settings, of a study or of other results, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from abovechance.chance.best_prompt import CLIMBED, SELECTED
from abovechance.chance.conclusion import CONCLUSIONS, in_words, with_conclusions
from abovechance.chance.multiplicity import with_adjusted
from abovechance.chance.randomization import effective_prompts, for_verdicts
from abovechance.chance.verdicts import JUDGED, POSITIONS, verdicts, with_left_out
from abovechance.core.columns import Column, optional
from abovechance.core.errors import InputError
from abovechance.core.estimates import ALPHA
from abovechance.core.settings import SETTING, Setting, by_setting
from abovechance.core.tables import TableSchema, setting_columns
from abovechance.core.untrusted import printable
from abovechance.study.prompts import ALL_TOO_LONG

RANDOMIZED = {
    "randomization_tail": Column.tail(
        "p-value of the randomization test for the best prompt. The test draws gold answers at random and "
        "keeps the dependence between prompts. Missing if the p-value is above 0.05 and the power is below "
        "0.5"
    ),
    "randomization_bh_tail": Column.tail(
        "randomization_tail, adjusted for the number of settings (Benjamini and Hochberg)"
    ),
    "randomization_power": Column.share(
        "power of the randomization test for a simulated prompt that is correct on a random subset of the "
        "examples. Its accuracy is the larger of two values: best_accuracy, and the lowest accuracy with a "
        "maximum_tail of at most 0.05"
    ),
    "randomization_fixed": Column.share("share of examples whose gold answer is the same in all draws"),
    "best_macro_f1": Column.share(
        "best macro-averaged F1 among the prompts; missing unless all examples have the same set of choices"
    ),
    "macro_f1_tail": Column.tail("p-value of the randomization test for best_macro_f1"),
    "effective_prompts": Column.number(
        "number of independent guessers for which maximum_tail would equal randomization_tail. Missing if "
        "this number is below 1 or above the number of prompts, or if randomization_tail is missing or has "
        "the smallest value possible with this number of draws"
    ),
}
VERDICTS = TableSchema(
    "verdicts",
    {
        **setting_columns(),
        **optional({"metric": Column.text("metric that decides whether an answer is correct")}),
        "examples": Column.whole("number of examples that the best prompt is evaluated on"),
        "prompts": Column.whole("number of distinct prompts tried"),
        "best_prompt": Column.whole("number of the best prompt; on ties, the lowest number"),
        "best_accuracy": Column.share("accuracy of the best prompt"),
        **JUDGED,
        "position": Column.text(
            "'below' (below or equal to the standard baseline), 'between' (above the standard baseline "
            "only) or 'above' (above both baselines); not a significance test"
        ),
        "better_than_chance": Column.text(
            "the conclusion: 'yes', 'no' or 'unclear', from all tests at the significance level 0.05"
        ),
        "reason": Column.text(
            "the p-values that determine better_than_chance, adjusted for the number of settings"
        ),
        **optional(SELECTED),
        **optional(CLIMBED),
        **optional(RANDOMIZED),
        **optional({"left_out": Column.whole("number of prompts that are longer than the model's context")}),
    },
    "One row per setting. If all prompts of a setting are left out, the setting has a row without a "
    "conclusion.",
    file="verdicts.csv, tables/verdicts",
)
VERDICT_COUNTS = TableSchema(
    "verdict_counts",
    {
        "model": Column.text("name of the model, or 'total'"),
        "shots": Column.text("number of demonstrations in a prompt"),
        "settings": Column.whole("number of settings"),
        **optional(
            {
                "left_out": Column.whole(
                    "number of settings without a conclusion, because all their prompts are left out"
                )
            }
        ),
        "better_than_chance_yes": Column.whole("number of settings that are better than chance"),
        "better_than_chance_no": Column.whole("number of settings that are not better than chance"),
        "better_than_chance_unclear": Column.whole(
            "number of settings for which the tests disagree or have too little power"
        ),
        "below": Column.whole("number of settings below or at the standard baseline"),
        "between": Column.whole("number of settings between the baselines"),
        "above": Column.whole("number of settings above both baselines"),
        "above_standard": Column.whole("number of settings above the standard baseline: between plus above"),
        "share_between": Column.share(
            "between divided by above_standard: among settings above the standard baseline, the share not "
            "above the maximum baseline"
        ),
        "above_by_guessing": Column.number(
            "expected number of settings with the position 'above' if all prompts were random guessers"
        ),
        "tail_at_most_0.05": Column.whole("number of settings with a maximum tail of at most 0.05"),
        "adjusted_at_most_0.05": Column.whole("number of settings with a bh_tail of at most 0.05"),
    },
    "One row per model and number of shots, and one row for the total.",
)


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on several best scores.

    Attributes
    ----------
    table
        One row per score: the table ``VERDICTS`` of settings, or that of ``judge_scores``.
    noun
        The noun for a row: ``setting`` or ``score``.
    remarks
        More sentences about the rows.
    """

    table: pd.DataFrame
    noun: str = "setting"
    remarks: tuple[str, ...] = ()

    @cached_property
    def sentences(self) -> list[str]:
        """The conclusions from all scores, in sentences."""
        metrics = [*self.table["metric"].unique()] if "metric" in self.table else []
        metric = [f"Metric: {printable(metrics[0])}."] if len(metrics) == 1 else []
        return [*in_words(self.table, self.noun), *_climbed(self.table), *metric, *self.remarks]


def _climbed(table: pd.DataFrame) -> list[str]:
    """Return how many settings beat uniform guessing, but not a guesser that uses an artifact."""
    if "unbeaten_guesser" not in table:
        return []
    above_chance = table[table["better_than_chance"] == "yes"]
    # no simple guesser answers a task of free texts
    better = above_chance[above_chance[["beaten_guesser", "unbeaten_guesser"]].notna().any(axis=1)]
    single = len(better) == 1
    are, were, verb = ("is", "was", "beats") if single else ("are", "were", "beat")
    compared = f" and {were} compared with simple guessers" if len(better) < len(above_chance) else ""
    subject = f"setting{'' if single else 's'} that {are} better than chance{compared}"
    unbeaten = better["unbeaten_guesser"].dropna()
    # only uniform guessing was beaten, and nothing else was left to beat
    alone = int((better["unbeaten_guesser"].isna() & (better["beaten_guesser"] == "uniform")).sum())
    if better.empty:
        return []
    if len(table) == 1:
        if alone:
            return ["No simple guesser is better than uniform guessing here."]
        if unbeaten.empty:
            return ["It also beats all simple guessers."]
        return [f"But it is not shown to beat the simple guesser '{unbeaten.iloc[0]}'."]
    if alone == len(better):
        return [f"In the {subject}, no simple guesser is better than uniform guessing."]
    rest = f" In {alone} of them, no simple guesser is better than uniform guessing." if alone else ""
    if unbeaten.empty:
        return [f"The {subject} {verb} all simple guessers.{rest}"]
    if single:
        return [f"The {subject} is not shown to beat the simple guesser '{unbeaten.iloc[0]}'."]
    named = ", ".join(f"{name}: {count}" for name, count in unbeaten.value_counts(sort=True).items())
    verb = "is" if len(unbeaten) == 1 else "are"
    return [
        f"{len(unbeaten)} of the {len(better)} {subject} {verb} not shown to beat all simple guessers "
        f"(the first one not beaten is {named}).{rest}"
    ]


def judge(
    accuracy: pd.DataFrame,
    randomization: pd.DataFrame | None = None,
    draws: int = 0,
    left_out: pd.DataFrame | None = None,
    selection: pd.DataFrame | None = None,
    climbed: pd.DataFrame | None = None,
    prompts_tried: int | None = None,
    metrics: Mapping[Setting, str] | None = None,
) -> Verdicts:
    """Judge the best prompt of each setting.

    Parameters
    ----------
    accuracy
        The table ``accuracy`` of all settings.
    randomization, draws
        The table ``randomization`` of all models and its number of draws, if there was such a test.
    left_out
        The table ``left_out`` of all settings, if prompts can be left out.
    selection
        The table ``selection`` of all settings, with the columns ``SELECTED``.
    climbed
        One row per setting, with the columns ``CLIMBED``.
    prompts_tried
        The number of prompts that were tried in each setting, if the table does not have all of them.
    metrics
        The metric of each setting, if the results are another tool's.

    Raises
    ------
    InputError
        If no prompt of any setting was evaluated.
    """
    if accuracy.empty:
        raise InputError(ALL_TOO_LONG)
    table = verdicts(accuracy, prompts_tried)
    if metrics is not None:
        table["metric"] = [metrics[setting] for setting, _ in by_setting(table)]
    if selection is not None:
        table = table.merge(selection, on=SETTING, how="left")
    if climbed is not None and len(climbed):
        table = table.merge(climbed, on=SETTING, how="left")
    if randomization is not None:
        tested = for_verdicts(randomization)
        table = table.merge(tested, on=SETTING, how="left")
        tails = table["randomization_tail"], table["standard_tail"]
        table["effective_prompts"] = effective_prompts(*tails, table["prompts"], draws)
    table = with_conclusions(with_adjusted(table))
    if left_out is not None:
        table = with_left_out(table, left_out)
    return Verdicts(table[[name for name in VERDICTS.columns if name in table]])


def verdict_counts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return how many settings have which conclusion: the table ``verdict_counts``.

    Parameters
    ----------
    verdicts
        The table ``verdicts``.
    """
    groups: list[tuple[Mapping[str, str], pd.DataFrame]] = [
        ({"model": str(model), "shots": str(shots)}, settings)
        for (model, shots), settings in verdicts.groupby(["model", "shots"], observed=True, sort=False)
    ]
    groups.append(({"model": "total", "shots": ""}, verdicts))
    return pd.DataFrame([{**names, **_count(settings)} for names, settings in groups])


def _count(settings: pd.DataFrame) -> dict[str, object]:
    counts = {position: int((settings["position"] == position).sum()) for position in POSITIONS}
    above_standard = counts["between"] + counts["above"]
    return {
        "settings": len(settings),
        **({"left_out": int(settings["position"].isna().sum())} if "left_out" in settings else {}),
        **{
            f"better_than_chance_{word}": int((settings["better_than_chance"] == word).sum())
            for word in CONCLUSIONS
        },
        **counts,
        "above_standard": above_standard,
        "share_between": counts["between"] / above_standard if above_standard else float("nan"),
        "above_by_guessing": float(settings["guessing_above"].sum()),
        "tail_at_most_0.05": int((settings["maximum_tail"] <= ALPHA).sum()),
        "adjusted_at_most_0.05": int((settings["bh_tail"] <= ALPHA).sum()),
    }
