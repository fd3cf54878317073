"""Item response theory: the two-parameter logistic model, fitted by marginal maximum likelihood.

P(right) = 1 / (1 + exp(-(a . theta) + b)), with the ability theta of a row, and the discrimination a and the
difficulty b of an item (Madaan et al., 2024, Section 4; Reckase, 2009). Abilities are standard normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.optimize import elementwise
from scipy.special import expit, log_expit, logsumexp

from abovechance.core.arrays import Bools, Floats, Ints, floats
from abovechance.core.errors import InputError
from abovechance.items.classical import checked, row_scores

NODES = {2: 15, 3: 9}  # of the quadrature, in each of so many dimensions
WIDEST = 10.0  # of one ability; what is further out weighs next to nothing
SPACING = (0.01, 0.2)  # of the nodes of one dimension
PER_DEVIATION = 0.8  # of these, with which an integral over a normal distribution is off by 1e-5 of itself
REFINED = 3  # times, at most
ROUNDS, STEPS = 1000, 2  # of the algorithm, and of Newton's method in each
TOLERANCE = 1e-4  # of parameters, from one round to the next
REACH = 1.0  # of one step of Newton's method
SLIGHT = 1e-9  # a slope that may be rounding
PRIOR = (2.0, 4.0)  # standard deviations of a and of b about 0


@dataclass(frozen=True)
class Items:
    """A fitted model.

    Attributes
    ----------
    discrimination
        (items, dimensions) a.
    difficulty
        (items,) b; the larger, the harder.
    discrimination_error, difficulty_error
        Their standard errors, of each item as if the others were known: what all items have in common, since
        abilities are known no better than they are, is not in them. Too small for difficulties of items that
        discriminate strongly (docs/items.md).
    log_likelihood
        Marginal, of all responses, in nats.
    rounds
        Number of rounds of the algorithm.
    converged
        Whether parameters stood still.
    """

    discrimination: Floats
    difficulty: Floats
    discrimination_error: Floats
    difficulty_error: Floats
    log_likelihood: float
    rounds: int
    converged: bool

    @property
    def dimensions(self) -> int:
        """How many abilities a row has."""
        return int(self.discrimination.shape[1])

    def check_width(self, responses: Floats) -> None:
        """Raise InputError where responses are of another number of items."""
        if responses.shape[1] != len(self.difficulty):
            raise InputError(
                f"responses to {responses.shape[1]} items; expected {len(self.difficulty)}, like the model"
            )

    def only(self, places: ArrayLike) -> Items:
        """Return the model of some of the items, by their places."""
        selected = np.asarray(places)
        parts = (
            self.discrimination[selected],
            self.difficulty[selected],
            self.discrimination_error[selected],
            self.difficulty_error[selected],
        )
        return Items(*parts, self.log_likelihood, self.rounds, self.converged)

    @property
    def quadrature(self) -> tuple[Floats, Floats]:
        """Places and logarithms of weights, as fine as the model needs."""
        value = np.column_stack([self.discrimination[:, :1], self.difficulty])
        return quadrature(self.dimensions, sharpest(value))

    def probability(self, ability: ArrayLike) -> Floats:
        """(rows, items) of a right response, of abilities (rows, dimensions)."""
        return expit(self.logits(ability))

    def logits(self, ability: ArrayLike) -> Floats:
        """(rows, items) the logits of these probabilities."""
        theta = floats(ability).reshape(-1, self.dimensions)
        return theta @ self.discrimination.T - self.difficulty


def quadrature(dimensions: int, sharpest: float = 1.0) -> tuple[Floats, Floats]:
    """(nodes, dimensions) places and (nodes,) logarithms of weights of a standard normal distribution.

    In one dimension evenly spaced, for what is as narrow as ``sharpest``, a standard deviation; in several
    Gauss and Hermite's, which are too few for abilities that are known far better than to half a deviation.
    """
    if dimensions != 1 and dimensions not in NODES:
        raise InputError(f"{dimensions} dimensions; expected 1 to {max(NODES)}")
    if dimensions == 1:
        step = np.clip(sharpest / PER_DEVIATION, *SPACING)
        even = np.linspace(-WIDEST, WIDEST, 2 * int(np.ceil(WIDEST / step)) + 1)
        return even[:, None], -(even**2) / 2 - logsumexp(-(even**2) / 2)
    places, weights = np.polynomial.hermite_e.hermegauss(NODES[dimensions])
    grid = np.array([*product(places, repeat=dimensions)])
    logs = np.array([*product(np.log(weights / weights.sum()), repeat=dimensions)]).sum(axis=1)
    relevant = logs > logs.max() - 40  # what is further out weighs nothing
    return grid[relevant], logs[relevant] - logsumexp(logs[relevant])


def fit(
    matrix: ArrayLike, dimensions: int = 1, prior: tuple[float, float] | None = PRIOR, seed: int = 0
) -> Items:
    """Fit the model to responses by the EM algorithm of Bock and Aitkin (1981).

    Parameters
    ----------
    matrix
        (rows, items) 0 or 1, nan where a row lacks an item.
    dimensions
        Number of dimensions of the ability, 1 to 3. With several, abilities are known up to a rotation; the
        result is rotated to the items' principal axes. Each ability increases with the rows' scores.
    prior
        The standard deviations of normal priors of a and b about 0, weak beside some dozens of rows, and
        without which items that all rows have right or wrong, or that tell few rows apart perfectly, have
        no estimate. None: maximum likelihood.
    seed
        The random seed of the initial discriminations.

    Raises
    ------
    InputError
        If a response is no 0 or 1, without a prior an item is constant, or there are more dimensions than
        items.
    """
    correct, mask = answers(matrix)
    share = correct.sum(axis=0) / mask.sum(axis=0)
    _check_asked(share, dimensions, prior)
    pull = (
        np.zeros(dimensions + 1) if prior is None else np.array([prior[0]] * dimensions + [prior[1]]) ** -2.0
    )
    value, rounds, moved = _start(share, dimensions, seed), 0, np.inf
    design, weights = _design(*quadrature(dimensions))
    for _ in range(1 + REFINED * (dimensions == 1)):
        responses = _Responses(correct, mask, pull, design, weights)
        value, more, moved = _em(value, responses, ROUNDS - rounds)
        rounds += more
        finer = _design(*quadrature(dimensions, sharpest(value)))
        if len(finer[0]) <= len(design):
            break
        design, weights = finer
    if dimensions > 1:
        value = _rotated(value)
    posterior, _ = posterior_of(correct, mask, design @ value.T, weights)
    value = _directed(value, posterior @ design[:, :-1], row_scores(np.where(mask, correct, np.nan)))
    posterior, likelihood = posterior_of(correct, mask, design @ value.T, weights)
    errors = _errors(value, design, posterior, correct, mask, pull)
    return Items(
        discrimination=value[:, :-1],
        difficulty=value[:, -1],
        discrimination_error=errors[:, :-1],
        difficulty_error=errors[:, -1],
        log_likelihood=float(likelihood.sum()),
        rounds=rounds,
        converged=moved <= TOLERANCE,
    )


def _check_asked(share: Floats, dimensions: int, prior: tuple[float, float] | None) -> None:
    """Raise InputError unless items with these shares of right responses have such a model."""
    if dimensions not in range(1, 1 + min(max(NODES), len(share))):
        raise InputError(
            f"{dimensions} dimensions of {len(share)} items; expected 1 to {max(NODES)}, and no more "
            "than items"
        )
    if prior is not None and not (len(prior) == 2 and all(0 < deviation < np.inf for deviation in prior)):
        raise InputError(f"prior {prior}; expected two standard deviations above 0, or None")
    constant = (share == 0) | (share == 1)
    if prior is None and constant.any():
        raise InputError(
            f"item {int(np.argmax(constant))} is constant, and has no estimate by maximum likelihood; use a "
            "prior"
        )


def _design(places: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(nodes, dimensions + 1) what a and b are multiplied with, and the weights."""
    return np.column_stack([places, -np.ones(len(places))]), weights


@dataclass(frozen=True)
class _Responses:
    """The inputs of a round of the algorithm: responses, the prior's pull towards 0, and the grid."""

    correct: Floats
    mask: Floats
    pull: Floats
    design: Floats
    weights: Floats

    def improved(self, value: Floats) -> tuple[Floats, float]:
        """Return the parameters after one round, and the logarithm of the posterior before it."""
        posterior, likelihood = posterior_of(self.correct, self.mask, self.design @ value.T, self.weights)
        counts, hits = posterior.T @ self.mask, posterior.T @ self.correct
        result = value
        for _ in range(STEPS):
            result = _newton(result, self.design, counts, hits, self.pull)
        return result, float(likelihood.sum() - (self.pull * value**2).sum() / 2)


def _em(value: Floats, responses: _Responses, most_rounds: int) -> tuple[Floats, int, float]:
    """The parameters once they stand still, after how many rounds, and how much the last one moved them.

    Two rounds and a step as far as they suggest (SQUAREM; Varadhan and Roland, 2008, their step length S3),
    which is taken back where it made responses less likely.
    """
    rounds, moved = 0, np.inf
    while rounds < most_rounds and moved > TOLERANCE:
        first, before = responses.improved(value)
        second, _ = responses.improved(first)
        step, curvature = first - value, second - 2 * first + value
        length = max(1.0, float(np.linalg.norm(step)) / max(float(np.linalg.norm(curvature)), 1e-300))
        third, after = responses.improved(value + 2 * length * step + length**2 * curvature)
        rounds += 3
        value = third if after >= before else second
        moved = float(np.abs(second - first).max())
    return value, rounds, moved


def sharpest(value: Floats) -> float:
    """Return the least standard deviation of an ability given responses to all items, of (items, a and b)."""
    p = expit(np.linspace(-WIDEST, WIDEST, 121)[:, None] * value[:, 0] - value[:, -1])
    return float(1 / np.sqrt(1 + (p * (1 - p) * value[:, 0] ** 2).sum(axis=1).max()))


def answers(matrix: ArrayLike, every_item: bool = True) -> tuple[Floats, Floats]:
    """(rows, items) whether each is right, and whether it is there."""
    numeric = checked(matrix, every_item)
    if (bad := np.isfinite(numeric) & (numeric != 0) & (numeric != 1)).any():
        row, item = np.argwhere(bad)[0]
        raise InputError(f"row {row}, item {item} is {numeric[row, item]:g}; expected 0, 1 or nan")
    mask = np.isfinite(numeric).astype(float)
    return np.where(mask > 0, numeric, 0.0), mask


def _start(share: Floats, dimensions: int, seed: int) -> Floats:
    """(items, dimensions + 1) where a and b begin.

    No two items begin alike: if all rows had equal scores, equal items would stay where a is 0, although
    another a is more likely.
    """
    inside = np.clip(share, 0.02, 0.98)
    a = np.random.default_rng(seed).normal(scale=0.3, size=(len(share), dimensions))
    a[:, 0] += 1.0
    return np.column_stack([a, -np.log(inside / (1 - inside))])


def posterior_of(correct: Floats, mask: Floats, logits: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(rows, nodes) the distribution of each row's ability given its responses, (rows,) log-likelihoods."""
    # log P(right) is log P(wrong) plus the logit
    log_joint = correct @ logits.T + mask @ log_expit(-logits).T + weights
    likelihood = logsumexp(log_joint, axis=1)
    posterior: Floats = np.exp(log_joint - likelihood[:, None])
    return posterior, likelihood


def _newton(value: Floats, design: Floats, counts: Floats, hits: Floats, pull: Floats) -> Floats:
    """One step for all items at once.

    Parameters
    ----------
    counts, hits
        (nodes, items) how many rows are expected there, and how many of them are right.
    """
    p = expit(design @ value.T)
    slope = (hits - counts * p).T @ design - pull * value
    step = np.linalg.solve(_information(counts * p * (1 - p), design) + np.diag(pull), slope[:, :, None])[
        :, :, 0
    ]
    longest = np.abs(step).max(axis=1, keepdims=True)
    return value + step * np.minimum(1.0, REACH / np.maximum(longest, 1e-300))


def _information(weights: Floats, design: Floats) -> Floats:
    """(items, parameters, parameters) sums over nodes of weights (nodes, items) by squares of the design."""
    information: Floats = np.einsum("qj,qk,ql->jkl", weights, design, design, optimize=True)
    # what no row tells anything about stands still
    return information + 1e-9 * np.eye(design.shape[1])


def _errors(
    value: Floats, design: Floats, posterior: Floats, correct: Floats, mask: Floats, pull: Floats
) -> Floats:
    """(items, parameters) standard errors, by the observed information of each item (Louis, 1982)."""
    p = expit(design @ value.T)
    counts, hits = posterior.T @ mask, posterior.T @ correct
    whole = _information(counts * p * (1 - p), design)
    squares = _information(hits * (1 - p) ** 2 + (counts - hits) * p**2, design)
    means = np.stack(
        [correct * (posterior @ column)[:, None] - mask * ((posterior * column) @ p) for column in design.T],
        axis=2,
    )
    information = whole - squares + np.einsum("rjk,rjl->jkl", means, means, optimize=True) + np.diag(pull)
    variances = np.linalg.inv(information).diagonal(axis1=1, axis2=2)
    return np.sqrt(np.where(variances > 0, variances, np.nan))


def _rotated(value: Floats) -> Floats:
    """The same model on the principal axes of the discriminations, the largest first."""
    _, _, axes = np.linalg.svd(value[:, :-1], full_matrices=False)
    return np.column_stack([value[:, :-1] @ axes.T, value[:, -1]])


def _directed(value: Floats, ability: Floats, scores: Floats) -> Floats:
    """The same model with abilities that increase with the scores; else, items are positive on average."""
    slope = (scores - scores.mean()) @ ability
    increases = np.where(np.abs(slope) > SLIGHT, slope, value[:, :-1].sum(axis=0)) >= 0
    return np.column_stack([value[:, :-1] * np.where(increases, 1, -1), value[:, -1]])


def abilities(items: Items, matrix: ArrayLike) -> pd.DataFrame:
    """The abilities of rows: the means of what their responses leave of the standard normal distribution.

    Returns
    -------
    DataFrame
        One row for each: ``ability`` and its ``error``, with a number behind where there are several
        dimensions; and the ``log_likelihood`` of its responses.
    """
    correct, mask = answers(matrix, every_item=False)
    items.check_width(correct)
    places, weights = items.quadrature
    posterior, likelihood = posterior_of(correct, mask, items.logits(places), weights)
    mean = posterior @ places
    error = np.sqrt(np.maximum(posterior @ places**2 - mean**2, 0))
    names = [""] if items.dimensions == 1 else [str(number + 1) for number in range(items.dimensions)]
    columns = {
        f"{quantity}{name}": values[:, place]
        for place, name in enumerate(names)
        for quantity, values in (("ability", mean), ("error", error))
    }
    return pd.DataFrame(columns | {"log_likelihood": likelihood})


def most_likely(items: Items, matrix: ArrayLike, bound: float = 6.0) -> Floats:
    """(rows, dimensions) the abilities by maximum likelihood, within ``bound`` of 0 in each dimension.

    Rows that are the likelier the further out an ability is have none, such as those that have all items
    right, where all discriminations are positive: the bound is theirs.
    """
    correct, mask = answers(matrix, every_item=False)
    items.check_width(correct)
    if items.dimensions == 1:
        return _most_likely_of_one(items, correct, mask, bound)
    return np.array([_most_likely_row(items, *row, bound) for row in zip(correct, mask > 0, strict=True)])


def _most_likely_of_one(items: Items, correct: Floats, mask: Floats, bound: float) -> Floats:
    """(rows, 1) the same of one dimension: where the slope of the log-likelihood, which falls, is 0."""

    def slope(theta: Floats, row: Ints) -> Floats:
        surprise = correct[row] - mask[row] * items.probability(theta)
        return surprise @ items.discrimination[:, 0]

    rows = np.arange(len(correct))
    lowest, highest = (slope(np.full(len(rows), end), rows) for end in (-bound, bound))
    theta = np.where(lowest > 0, bound, np.where(highest < 0, -bound, 0.0))
    inside = (lowest > 0) & (highest < 0)
    theta[inside] = elementwise.find_root(slope, (-bound, bound), args=(rows[inside],)).x
    return theta[:, None]


def _most_likely_row(items: Items, correct: Floats, mask: Bools, bound: float) -> Floats:
    """(dimensions,) the same of one row."""
    a, signs = items.discrimination[mask], 2 * correct[mask] - 1

    def loss_and_slope(theta: Floats) -> tuple[float, Floats]:
        logits = signs * (a @ theta - items.difficulty[mask])
        return -float(log_expit(logits).sum()), -(signs * expit(-logits)) @ a

    optimum = optimize.minimize(
        loss_and_slope,
        np.zeros(items.dimensions),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-bound, bound)] * items.dimensions,
        options={"ftol": 1e-14, "gtol": 1e-9},
    )
    return np.asarray(optimum.x)
