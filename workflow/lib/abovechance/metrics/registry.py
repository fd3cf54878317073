"""Metrics by name: built in, of installed packages (entry points), or any function of Python."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from abovechance.core.errors import InputError, nearest
from abovechance.metrics import labels, numbers, sets, texts
from abovechance.metrics.contract import Metric

ENTRY_POINTS = "abovechance.metrics"
BUILT_IN = {
    metric.name: metric for metric in (*labels.METRICS, *texts.METRICS, *sets.METRICS, *numbers.METRICS)
}
MOST_K = 100_000
WITH_K = {**texts.WITH_K, **sets.WITH_K}


def metric_names() -> list[str]:
    """Return the names of all metrics that are built in or installed."""
    installed = [point.name for point in entry_points(group=ENTRY_POINTS)]
    return [*BUILT_IN, *(f"{name}@k" for name in WITH_K), *installed]


def metric(name: str) -> Metric:
    """Return a metric by its name.

    Parameters
    ----------
    name
        A name that is built in (such as ``f1_macro`` or ``pass@5``), or another name that an installed
        package registers as an entry point of the group ``abovechance.metrics``, or ``module:function``. The
        function takes
        (examples,) predictions and (examples,) gold answers, and returns a number; higher is better.

    Raises
    ------
    InputError
        If there is no such metric.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    stem, at, k = name.partition("@")
    if at and stem in WITH_K:
        if not k.isascii() or not k.isdigit() or int(k) < 1:
            raise InputError(f"metric '{name}': expected a whole number from 1 after @, such as {stem}@5")
        if int(k) > MOST_K:
            raise InputError(f"metric '{name}': expected a number up to {MOST_K:,} after @")
        return WITH_K[stem](int(k))
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            return _as_metric(name, loaded_point(point))
    if ":" in name:
        return _as_metric(name, _imported(name))
    raise InputError(f"metric '{name}' is unknown; {nearest(name, metric_names())}")


def loaded_point(point: EntryPoint) -> object:
    """Return what an entry point names; InputError with its package if it cannot be imported."""
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else "unknown"
        raise InputError(
            f"the entry point '{point.name}' of the package '{package}' ({point.value}) cannot be loaded: "
            f"{error}"
        ) from None


def _imported(name: str) -> object:
    """Return what ``module:function`` names; the module may be in the current folder, as for `python -m`."""
    module, _, attribute = name.partition(":")
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        return EntryPoint(name, name, ENTRY_POINTS).load()
    except AttributeError:
        raise InputError(f"metric '{name}': '{module}' has no '{attribute}'") from None
    except Exception as error:  # the module may do anything
        raise InputError(f"metric '{name}': cannot import '{module}': {error}") from error
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:  # a function may import another module of it when it is called
            sys.path.append(folder)


def _as_metric(name: str, loaded: object) -> Metric:
    if isinstance(loaded, Metric):
        return loaded
    if not callable(loaded):
        raise InputError(f"metric '{name}': expected a Metric or a function of predictions and gold answers")
    return Metric(name, f"the function {name}", loaded)
