"""The command about any metric of predictions and gold answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from abovechance.chance.permutation import DRAWS, NullDistribution, null_distribution
from abovechance.cli.app import app, example_lines
from abovechance.cli.options import Example, Json, results_or_example
from abovechance.cli.screen import print_text
from abovechance.core.errors import InputError
from abovechance.metrics.files import PredictionFile, read_predictions
from abovechance.metrics.registry import BUILT_IN, WITH_K, metric as metric_of_name

NAMES = [*BUILT_IN, *(f"{name}@k" for name in WITH_K)]


@app.command(
    epilog=example_lines(
        "abovechance chance predictions.csv --metric f1_macro",
        "abovechance chance predictions.csv --metric ndcg@10 --tries 50",
        "abovechance chance attempts.csv --metric pass@5 --candidates prompt,harness",
    )
)
def chance(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="CSV with the columns example, gold and prediction, and optionally candidate, attempt, "
            "choices, stratum and cluster.",
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
    draws: Annotated[
        int, typer.Option(min=100, max=10**6, help="Number of random permutations for the p-value.")
    ] = DRAWS,
    as_json: Json = False,
) -> None:
    """Test whether any metric of predictions is better than chance.

    The gold answers are permuted among similar examples, in the same way for all candidates, and the best
    candidate is taken each time. This gives the expected value of one candidate by chance, the expected
    value of the best of all tries, and the p-value.
    """
    chosen = metric_of_name(metric or "accuracy")
    columns = [name.strip() for name in (candidates or "").split(",") if name.strip()]
    file = read_predictions(predictions, chosen, columns)
    try:
        result = null_distribution(
            chosen,
            file.predictions,
            file.gold,
            file.strata,
            tries,
            clusters=file.clusters,
            choices=file.choices,
            draws=draws,
        )
    except InputError as error:
        raise InputError(f"{predictions}: {error}") from None
    if as_json:
        typer.echo(json.dumps(_as_object(result, file), indent=2))
    else:
        print_text(" ".join(result.sentences(file.names)))


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
