"""The comparison of models: one result for each task, and one for each mean over tasks.

The command line and the workflow call ``compare_models``, so a study's report and ``abovechance compare``
draw the same conclusions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np
import pandas as pd

from abovechance.chance.multiplicity import adjusted_together
from abovechance.compare import many
from abovechance.compare.components import COMPONENTS, variance_components
from abovechance.compare.over_tasks import together
from abovechance.compare.prompts import TRUSTED_PROMPTS, PromptPair, over_prompts
from abovechance.compare.responses import TRAININGS, Responses
from abovechance.compare.samples import Sample, prompted, trained
from abovechance.compare.seeds import over_seeds
from abovechance.compare.sentences import beside_seeds, conclusion, is_tie, over_tasks_in_words
from abovechance.compare.two_models import POWER, Comparison, compare, exchanged, largest_difference
from abovechance.core.arrays import differences
from abovechance.core.columns import Column
from abovechance.core.estimates import CONFIDENCE, Estimate
from abovechance.core.resampling import cluster_sums, numbered

ENOUGH = 20  # examples that all prompts have, for components of variance
LIKE_THESE = "for prompts and examples like these"
INFERENCE = {
    "difference": Column.number("score of the first or better model minus score of the other model"),
    "low": Column.number(
        "lower end of the confidence interval of the difference; 1e-9 means that it is just above 0"
    ),
    "high": Column.number("upper end of this interval"),
    "p": Column.number("p-value of the difference, from the same test as the interval"),
}
PAIR = {
    "examples": Column.whole("number of examples that both models have"),
    "clusters": Column.whole("number of clusters of these examples"),
    "first": Column.number("mean score of the first model"),
    "second": Column.number("mean score of the second model"),
    **INFERENCE,
    "test": Column.text("the test: score, Student or exchange"),
    "error": Column.number("standard error of the difference"),
    "unpaired_error": Column.number(
        "standard error of the difference if the models had answered different examples"
    ),
    "unpaired_low": Column.number("lower end of the unpaired confidence interval"),
    "unpaired_high": Column.number("upper end of the unpaired confidence interval"),
    "gain": Column.number(
        "number of examples that an unpaired comparison needs for the same precision, divided by the "
        "number of examples here"
    ),
    "better": Column.whole("number of examples on which the first model scores higher"),
    "worse": Column.whole("number of examples on which the first model scores lower"),
    "detectable": Column.number(
        "smallest true difference that the test detects with a power of 0.8 and this number of examples"
    ),
    "needed": Column.whole(
        "number of examples needed to detect a true difference as large as the observed one, with the same "
        "power"
    ),
}
SEED_COMPONENTS = {
    "model": Column.text("name of the model"),
    "seeds": Column.whole("number of training seeds"),
    "prompts": Column.whole("number of prompts"),
    "examples": Column.whole("number of examples that all prompts are evaluated on"),
    **COMPONENTS,
}


@dataclass(frozen=True)
class TaskComparison:
    """Models on one task with one number of shots.

    Attributes
    ----------
    task, shots, models
        The better model first if there are two.
    prompts
        Number of prompts that all models have.
    notes
        Notes for readers.
    about
        The scope of the conclusions. Empty if they hold for similar examples.
    ranks, pairs
        The ranked models and all pairs (``many.RANKS``, ``many.PAIRS``). With several prompts, pairs also
        have ``flips_prompts``. If a deviation over seeds is given, they also have ``below_seed``.
    components
        Variance components of single answers (``components.COMPONENTS``). No rows with fewer than 20 complete
        examples.
    seeds
        The same for each model with several trainings (``SEED_COMPONENTS``).
    sample
        The draws, which means over tasks are made of.
    """

    task: str
    shots: int
    models: list[str]
    prompts: int
    notes: list[str]
    about: str
    ranks: pd.DataFrame
    pairs: pd.DataFrame
    components: pd.DataFrame
    seeds: pd.DataFrame
    sample: Sample = field(repr=False)


@dataclass(frozen=True)
class TwoModelComparison(TaskComparison):
    """Two models on one task.

    Attributes
    ----------
    headline
        The inference that generalizes as far as the results allow: over seeds or prompts, and examples.
    holm, bh
        Its p-value, adjusted for the number of tasks.
    sentence
        The conclusion.
    comparison
        One row with the columns of ``PAIR``: the comparison for these trainings and prompts.
    over_seeds, over_prompts
        ``over_seeds`` has the inference over training runs. ``over_prompts`` has the inferences for these
        prompts (``mean``), for similar prompts (``population``) and for the best prompts (``best``). They
        have no rows with one seed or one prompt.
    """

    headline: Estimate
    holm: float
    bh: float
    sentence: str
    comparison: pd.DataFrame
    over_seeds: pd.DataFrame
    over_prompts: pd.DataFrame


@dataclass(frozen=True)
class MeanComparison:
    """Models by their mean over tasks, each task counted alike, with one number of shots.

    Attributes
    ----------
    tasks
        Those that all models have.
    about, ranks, pairs
        As in ``TaskComparison``.
    by_task
        For two models, the conclusion of each task; else no rows.
    sentence
        The conclusion for two models; else empty.
    """

    tasks: list[str]
    shots: int
    models: list[str]
    about: str
    ranks: pd.DataFrame
    pairs: pd.DataFrame
    by_task: pd.DataFrame
    sentence: str


BY_TASK = ["task", "better", *INFERENCE, "holm", "bh"]


def compare_models(
    responses: Iterable[Responses],
    confidence: float = CONFIDENCE,
    power: float = POWER,
    seed_deviation: float | None = None,
) -> tuple[list[TaskComparison], list[MeanComparison]]:
    """Compare models on each task, and by their means over tasks for each number of shots.

    Parameters
    ----------
    responses
        The responses of each task and number of shots. Sentences state differences in percentage points, as
        if scores were shares.
    confidence
        Confidence level of the intervals, in (0, 1).
    power
        Power for ``detectable`` and ``needed``, in (0, 1).
    seed_deviation
        The standard deviation of a score over training seeds, as known from elsewhere.
    """
    tasks = [_on_task(setting, confidence, power, seed_deviation) for setting in responses]
    tasks = _adjusted_for_tasks(tasks)
    return tasks, _over_tasks(tasks, confidence)


def generalizes(responses: Responses) -> str:
    """Return the scope of inferences on a task; empty if it is examples like these."""
    prompts = len(responses.prompts)
    if responses.several_seeds:
        about = f"for {responses.repeats} and examples like these"
        if prompts > 1:
            return f"{about}, under these {prompts} prompts only"
        return f"{about}, under these prompts only" if responses.prompts_averaged else about
    if prompts >= TRUSTED_PROMPTS:
        return LIKE_THESE
    if prompts > 1:
        return f"for these {prompts} prompts only"
    return "for these prompts only" if responses.prompts_averaged else ""


def sample_of(responses: Responses) -> Sample:
    """Return the draws of one task: tasks with the same examples, such as formulations, are drawn alike.

    They have the same clusters, too: tasks may number other examples in the same way.
    """
    named = [*zip(responses.examples, responses.clusters, strict=True)]
    examples = crc32("\n".join(f"{example}\t{cluster}" for example, cluster in named).encode())
    draw_prompts = generalizes(responses) == LIKE_THESE
    if not responses.several_seeds and (draw_prompts or not np.isfinite(responses.scores).all()):
        sample = prompted(
            responses.scores,
            responses.clusters,
            examples=examples,
            draw_prompts=draw_prompts,
            prompt_names=responses.prompts,
        )
    else:
        seed_names = responses.seed_names
        sample = trained(responses.by_seed, responses.clusters, examples=examples, seed_names=seed_names)
    groups, count = numbered(len(named), responses.clusters)
    first_of_group = {int(group): place for place, group in reversed([*enumerate(groups)])}
    sizes = np.bincount(groups)
    # an example without others in its cluster is known by its own name
    names = tuple(
        ("example", named[first_of_group[group]][0])
        if sizes[group] == 1
        else ("cluster", named[first_of_group[group]][1])
        for group in range(count)
    )
    return replace(sample, names=names)


def headline_of(responses: Responses, confidence: float = CONFIDENCE) -> Estimate:
    """Return the first of two models less the second, by the inference that ``generalizes`` names."""
    scores, (first, second) = responses.by_example, responses.by_seed
    if responses.several_seeds:
        estimate = over_seeds(first, second, responses.clusters, confidence).difference
    elif len(responses.prompts) > 1:
        pair = PromptPair.from_scores(responses.scores[0], responses.scores[1], responses.clusters)
        if generalizes(responses) == LIKE_THESE and pair.population is not None:
            estimate = pair.population.estimate(pair.difference, confidence).scaled(pair.scale)
        else:
            estimate = pair.mean(confidence).scaled(pair.scale)
    else:
        estimate = compare(scores[0], scores[1], responses.clusters, confidence).difference
    if np.isnan(estimate.p):  # nothing varies
        sums, _ = cluster_sums(scores[0] - scores[1], responses.clusters)
        estimate = estimate._replace(p=exchanged(sums), method="exchange")
    return estimate.within(largest_difference(responses.scores))


def _on_task(
    responses: Responses, confidence: float, power: float, seed_deviation: float | None
) -> TaskComparison:
    sample = sample_of(responses)
    pairs = many.pairs(sample, responses.models, confidence)
    if len(responses.prompts) > 1:
        pairs["flips_prompts"] = _flips(responses, pairs)
    if seed_deviation is not None:
        pairs["below_seed"] = differences(pairs["difference"], seed_deviation) < 0
    components = pd.DataFrame(columns=[*COMPONENTS])
    unit, by_unit, sizes = responses.by_unit(responses.scores)
    enough = np.isfinite(responses.scores).all(axis=(0, 1)).sum() >= ENOUGH and by_unit.shape[2] > 1
    if len(responses.prompts) > 1 and enough:
        components = variance_components(by_unit, ["models", "prompts", unit], sizes)
    comparison = TaskComparison(
        task=responses.task,
        shots=responses.shots,
        models=responses.models,
        prompts=len(responses.prompts),
        notes=responses.notes,
        about=generalizes(responses),
        ranks=many.ranks(sample, responses.models, confidence, pairs),
        pairs=pairs,
        components=components,
        seeds=seed_components(responses),
        sample=sample,
    )
    if len(responses.models) > 2:
        return comparison
    return _of_two(comparison, responses, confidence, power, seed_deviation)


def _of_two(
    comparison: TaskComparison,
    responses: Responses,
    confidence: float,
    power: float,
    seed_deviation: float | None,
) -> TwoModelComparison:
    """Return the comparison of two models, the better one first."""
    headline = headline_of(responses, confidence)
    if headline.value < 0 and not is_tie(headline):
        responses = responses.reversed
        comparison = replace(comparison, models=responses.models, sample=comparison.sample.reordered([1, 0]))
    headline = headline_of(responses, confidence)
    scores, by_seed = responses.by_example, responses.by_seed
    pair = compare(scores[0], scores[1], responses.clusters, confidence, power)
    row, sentence = _row(pair), conclusion(responses, generalizes(responses), pair, headline, power)
    seeds, prompts = pd.DataFrame(), pd.DataFrame()
    if responses.several_seeds and responses.repeats == TRAININGS:
        over = over_seeds(by_seed[0], by_seed[1], responses.clusters, confidence)
        seeds = pd.DataFrame(
            [
                {"first_seeds": over.first_seeds, "second_seeds": over.second_seeds}
                | {"deviation": over.deviation, **inference(over.difference)}
                | {"error": over.difference.standard_error, "freedom": over.difference.freedom}
            ]
        )
        sentence += beside_seeds(responses, headline.value, over.deviation, "in these results")
    if seed_deviation is not None:
        sentence += beside_seeds(responses, headline.value, seed_deviation, "--seed-deviation")
    if len(responses.prompts) > 1:
        by_kind = over_prompts(responses.scores[0], responses.scores[1], responses.clusters, confidence)
        kinds = ("mean", "population", "best")
        prompts = pd.DataFrame([{"summary": kind} | inference(getattr(by_kind, kind)) for kind in kinds])
        if not np.isfinite(responses.scores).all():
            row |= _of_prompt_means(responses, by_kind.mean)
    # of one pair, interval and test are those of the headline
    tails = dict.fromkeys(("p", "holm", "bh"), headline.p)
    pairs = comparison.pairs.assign(low=headline.low, high=headline.high, **tails)
    return TwoModelComparison(
        **vars(replace(comparison, pairs=pairs)),
        headline=headline,
        holm=headline.p,
        bh=headline.p,
        sentence=sentence,
        comparison=pd.DataFrame([row]),
        over_seeds=seeds,
        over_prompts=prompts,
    )


def inference(estimate: Estimate) -> dict[str, float]:
    """Return an estimate as values of the columns of ``INFERENCE``."""
    return {"difference": estimate.value, "low": estimate.low, "high": estimate.high, "p": estimate.p}


def _row(pair: Comparison) -> dict[str, object]:
    """Return a comparison as a row with the columns of ``PAIR``."""
    unpaired = pair.unpaired
    row = pair._asdict() | inference(pair.difference) | {"test": pair.difference.method}
    row |= {"error": pair.difference.standard_error, "unpaired_error": unpaired.standard_error}
    row |= {"unpaired_low": unpaired.low, "unpaired_high": unpaired.high}
    return {name: row[name] for name in PAIR}


def _of_prompt_means(responses: Responses, mean: Estimate) -> dict[str, object]:
    """Return the changes to a pair's row if prompts have different examples: prompt means count equally."""
    first, second = (float(np.nanmean(scores, axis=1).mean()) for scores in responses.scores)
    missing = ("unpaired_error", "unpaired_low", "unpaired_high", "gain", "detectable", "needed")
    row = {"first": first, "second": second, "error": mean.standard_error, "test": mean.method}
    return row | inference(mean) | dict.fromkeys(missing, np.nan)


def _flips(responses: Responses, pairs: pd.DataFrame) -> list[float]:
    """Return, for each pair, the share of draws of examples, prompts and seeds with the opposite order."""
    below = many.flips(responses.seeds, responses.clusters)
    places = {model: place for place, model in enumerate(responses.models)}
    ordered_pairs = zip(pairs["first"], pairs["second"], strict=True)
    return [float(below[places[first], places[second]]) for first, second in ordered_pairs]


def _adjusted_for_tasks(tasks: Sequence[TaskComparison]) -> list[TaskComparison]:
    """The comparisons with p-values adjusted for all tasks: of headlines for two models, else of pairs."""
    p_values = [
        task.headline.p if isinstance(task, TwoModelComparison) else task.pairs["p"] for task in tasks
    ]
    adjusted_tasks = []
    for task, of_task in zip(tasks, adjusted_together(p_values, ("holm", "bh")), strict=True):
        task = replace(task, pairs=task.pairs.assign(**of_task))
        if isinstance(task, TwoModelComparison):
            task = replace(task, holm=float(of_task["holm"][0]), bh=float(of_task["bh"][0]))
        adjusted_tasks.append(task)
    return adjusted_tasks


def _over_tasks(tasks: Sequence[TaskComparison], confidence: float) -> list[MeanComparison]:
    """The means over the tasks that all models have, for each number of shots with several such tasks."""
    names = list(dict.fromkeys(model for task in tasks for model in task.models))
    comparisons = []
    for shots in sorted({task.shots for task in tasks}):
        shared = [task for task in tasks if task.shots == shots and len(task.models) == len(names)]
        if len(shared) < 2:
            continue
        sample = together(
            [task.sample.reordered([task.models.index(name) for name in names]) for task in shared]
        )
        pairs = many.pairs(sample, names, confidence)
        ranks = many.ranks(sample, names, confidence, pairs)
        abouts = list(dict.fromkeys(task.about for task in shared))
        about = abouts[0] if len(abouts) == 1 else "for these prompts only"
        by_task, sentence = pd.DataFrame(columns=BY_TASK), ""
        models = [str(model) for model in ranks["model"]]
        if len(names) == 2:
            rows = [
                {"task": task.task, "better": "" if is_tie(task.headline) else task.models[0]}
                | {**inference(task.headline), "holm": task.holm, "bh": task.bh}
                for task in shared
                if isinstance(task, TwoModelComparison)
            ]
            by_task = pd.DataFrame(rows, columns=BY_TASK)
            sentence = over_tasks_in_words(models, about, pairs, by_task, confidence)
        comparisons.append(
            MeanComparison(
                tasks=[task.task for task in shared],
                shots=shots,
                models=models,
                about=about,
                ranks=ranks,
                pairs=pairs,
                by_task=by_task,
                sentence=sentence,
            )
        )
    return comparisons


def seed_components(responses: Responses) -> pd.DataFrame:
    """Return the variance components of single answers, for several seeds or separate prompts.

    Returns
    -------
    DataFrame
        The columns of ``SEED_COMPONENTS``; no rows for models with one seed, and where fewer than two
        examples, or clusters of these, are evaluated under all prompts.
    """
    parts = []
    repeated = "seeds" if responses.repeats == TRAININGS else "prompts"
    for model, scores in zip(responses.models, responses.seeds, strict=True):
        unit, by_unit, sizes = responses.by_unit(scores)
        (seeds, prompts), examples = scores.shape[:2], int(np.isfinite(scores).all(axis=(0, 1)).sum())
        if seeds > 1 and by_unit.shape[2] > 1:
            factors = [repeated, "prompts", unit]
            if prompts == 1:
                by_unit, factors = by_unit[:, 0], [repeated, unit]
            counts = {"model": model, "seeds": seeds, "prompts": prompts, "examples": examples}
            if responses.repeats != TRAININGS:
                counts |= {"seeds": prompts, "prompts": seeds}
            parts.append(variance_components(by_unit, factors, sizes).assign(**counts))
    columns = [*SEED_COMPONENTS]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
