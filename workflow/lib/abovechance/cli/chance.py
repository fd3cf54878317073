"""The command ``chance``: is any metric of predictions and gold answers better than chance?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from abovechance.chance.permutation import DRAWS, NullDistribution, null_distribution
from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Example, Json, results_or_example
from abovechance.cli.output import show_json, tell_note
from abovechance.cli.screen import print_text
from abovechance.core.errors import InputError, located
from abovechance.core.reading import heading
from abovechance.core.untrusted import printable
from abovechance.ladder.floors import above_floor
from abovechance.metrics.answers import written_differently
from abovechance.metrics.files import PredictionFile, has_scores, read_predictions, read_scores
from abovechance.metrics.registry import BUILT_IN, WITH_K, metric as metric_of_name

NAMES = [*BUILT_IN, *(f"{name}@k" for name in WITH_K)]


@app.command(
    epilog=example_lines(
        "abovechance chance predictions.csv --metric f1_macro",
        "abovechance chance predictions.csv --metric ndcg@10 --tries 50",
        "abovechance chance attempts.csv --metric pass@5 --candidates prompt,harness",
        "abovechance chance agents.csv --metric pass@1 --floor null_agent.csv",
    )
)
def chance(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="CSV with the columns example, gold and prediction, and optionally candidate, attempt, "
            "choices, stratum and cluster; or, with --floor, with the columns example and score.",
            show_default=False,
            callback=results_or_example,
        ),
    ] = Path(),
    _example: Example = False,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "-m",
            help=f"Name of the metric: {', '.join(NAMES)}, or module:function.  [default: accuracy]",
            show_default=False,
        ),
    ] = None,
    tries: Annotated[
        int | None,
        typer.Option(
            "--tries",
            "-t",
            min=1,
            max=10**6,
            help="Number of tries, if more candidates were tried than the CSV has.",
        ),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            help="Columns that name a candidate together, such as prompt,harness.  [default: candidate]",
            show_default=False,
        ),
    ] = None,
    floor: Annotated[
        Path | None,
        typer.Option(
            help="CSV with the scores of a null or random agent, with which scores are compared (columns "
            "example and score).",
            show_default=False,
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option(min=100, max=10**6, help="Number of random permutations for the p-value.")
    ] = DRAWS,
    as_json: Json = False,
) -> None:
    """Test whether any metric of predictions is better than chance.

    The gold answers are permuted among similar examples, in the same way for all candidates, and the best
    candidate is taken each time. This gives the expected value of one candidate by chance, the expected
    value of the best of all tries, and the p-value. Scores of code and agents have no gold answers. They are
    compared with the scores of a floor, such as an agent that does nothing (--floor).
    """
    columns = [name.strip() for name in (candidates or "").split(",") if name.strip()]
    if has_scores(predictions):
        _compare_with_floor(predictions, floor, metric or "pass@1", tries, columns, draws, as_json)
        return
    if floor is not None:
        raise InputError(f"--floor needs scores, but {predictions} has predictions; leave it out")
    chosen = metric_of_name(metric or "accuracy")
    file = read_predictions(predictions, chosen, columns)
    with located(predictions):
        result = null_distribution(
            chosen,
            file.predictions,
            file.gold,
            file.strata,
            tries,
            clusters=file.clusters,
            choices=file.choices,
            draws=draws,
            names=file.names,
        )
    predicted = [value for row in file.predictions for value in row]
    if chosen.by_equality and (pair := written_differently(predicted, file.gold, file.choices)):
        prediction, label = map(printable, pair)
        tell_note(f"the prediction '{prediction}' counts as wrong, but may be the same label as '{label}'")
    if as_json:
        show_json(_as_object(result, file))
    else:
        print_text(" ".join(result.sentences(file.names)))


def _compare_with_floor(
    path: Path,
    floor: Path | None,
    metric: str,
    tries: int | None,
    columns: list[str],
    draws: int,
    as_json: bool,
) -> None:
    """Compare scores with those of a floor."""
    stem, _, k = metric.partition("@")
    if stem != "pass":
        raise InputError(f"--metric {metric} needs predictions, but {path} has scores; use pass@k")
    metric_of_name(metric)
    file = read_scores(path, columns)
    if floor is None:
        raise InputError(
            f"{path}: has scores, which have no gold answers; use --floor with the scores of a null or "
            "random agent on the same examples, or `abovechance best` to compare candidates with each other"
        )
    floor_columns = [name for name in columns if name in heading(floor)]
    floors = read_scores(floor, floor_columns, file.examples)
    clusters = file.clusters if floors.clusters is None else floors.clusters
    if file.clusters is not None and (file.clusters != clusters).any():
        raise InputError(f"{floor}: has other clusters of examples than {path}")
    with located(path):
        result = above_floor(file.attempts, floors.attempts, int(k), tries, clusters, draws)
    if not as_json:
        print_text(" ".join(result.sentences))
        return
    report = {
        "metric": metric,
        "observed": result.values[result.best],
        "expected": result.floors[result.floor],
        "expected_best": result.expected_best,
        "p": result.p,
        "best": result.best,
        "floor": result.floor,
        "tries": result.tries,
        "examples": result.examples,
        "assumes_symmetry": result.fractions,
        "candidates": [{"candidate": name, "value": value} for name, value in result.values.items()],
    }
    show_json(report)


def _as_object(result: NullDistribution, file: PredictionFile) -> dict[str, Any]:
    """A result as JSON has it."""
    low, high = result.interval
    return {
        "metric": result.metric,
        "observed": result.observed,
        "expected": result.expected,
        "expected_best": result.expected_best,
        "low": low,
        "high": high,
        "p": result.p,
        "p_single": result.p_single,
        "p_error": result.p_error,
        "best": file.names[result.best],
        "tries": result.tries,
        "examples": result.examples,
        "strata": result.strata,
        "fixed": result.fixed,
        "method": result.method,
        "draws": result.draws,
        "candidates": [
            {"candidate": name, "value": float(value)}
            for name, value in zip(file.names, result.values, strict=True)
        ],
    }
