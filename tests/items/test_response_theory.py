"""Item response theory: recovery from simulation, laws, and what is refused."""

import numpy as np
import pytest
from scipy import integrate, special, stats
from scipy.special import expit

from abovechance.core.errors import InputError
from abovechance.items import response_theory
from abovechance.items.response_theory import Items, abilities, fit, most_likely, quadrature


def simulated(rows: int, items: int, seed: int = 0, gaps: float = 0.0, dimensions: int = 1):
    """Discriminations, difficulties, abilities and responses."""
    generator = np.random.default_rng(seed)
    a = generator.lognormal(0, 0.3, (items, 1))
    if dimensions > 1:
        a = a * np.eye(dimensions)[generator.integers(0, dimensions, items)]
    b, theta = generator.normal(0, 1, items), generator.normal(size=(rows, dimensions))
    matrix = (generator.random((rows, items)) < expit(theta @ a.T - b)).astype(float)
    matrix[generator.random(matrix.shape) < gaps] = np.nan
    return a, b, theta, matrix


def test_the_quadrature_is_a_standard_normal():
    for dimensions in (1, 2, 3):
        places, weights = quadrature(dimensions)
        assert np.exp(weights).sum() == pytest.approx(1)
        assert np.exp(weights) @ places == pytest.approx(np.zeros(dimensions), abs=1e-12)
        assert np.exp(weights) @ places**2 == pytest.approx(np.ones(dimensions))
    with pytest.raises(InputError, match="expected 1 to 3"):
        quadrature(4)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_what_responses_were_made_from_is_found_again(gaps):
    a, b, theta, matrix = simulated(2000, 30, gaps=gaps)
    fitted = fit(matrix, prior=None)
    assert fitted.converged
    assert np.corrcoef(fitted.discrimination[:, 0], a[:, 0])[0, 1] > 0.92
    assert fitted.difficulty == pytest.approx(b, abs=0.35)
    # errors are as large as they say
    for name, true in (("difficulty", b), ("discrimination", a[:, 0])):
        value = np.ravel(getattr(fitted, name))
        away = (value - true) / np.ravel(getattr(fitted, f"{name}_error"))
        assert 0.7 < away.std() < 1.35
    estimated = abilities(fitted, matrix)
    assert np.corrcoef(estimated["ability"], theta[:, 0])[0, 1] > 0.88
    away = (estimated["ability"] - theta[:, 0]) / estimated["error"]
    assert 0.9 < away.std() < 1.1


@pytest.mark.parametrize("dimensions", [1, 2])
def test_abilities_increase_with_scores_whatever_the_order_of_the_items(dimensions):
    """Rows that prefer an answer are right on the items with this answer, and wrong on the others."""
    generator = np.random.default_rng(5)
    is_yes = np.repeat([True, False], [12, 10])
    prefers = np.where(np.arange(30) < 15, 0.9, 0.1)[:, None]
    for _ in range(5):
        matrix = (generator.random((30, 22)) < np.where(is_yes, prefers, 1 - prefers)).astype(float)
        order = generator.permutation(22)
        fitted, shuffled = fit(matrix, dimensions), fit(matrix[:, order], dimensions)
        assert fitted.discrimination[order, 0] @ shuffled.discrimination[:, 0] > 0
        estimated = abilities(fitted, matrix).filter(like="ability")
        assert all(np.corrcoef(values, matrix.mean(axis=1))[0, 1] >= 0 for values in estimated.T.to_numpy())


def test_the_likelihood_is_the_integral_over_abilities():
    items = Items(np.array([[1.2], [0.7]]), np.array([0.3, -0.5]), *[np.zeros((2, 1))] * 2, 0.0, 0, True)
    response = np.array([[1.0, 0.0]])

    def inside(theta: float) -> float:
        p = items.probability([[theta]])[0]
        return float(p[0] * (1 - p[1]) * stats.norm.pdf(theta))

    expected = np.log(integrate.quad(inside, -12, 12)[0])
    assert abilities(items, response)["log_likelihood"][0] == pytest.approx(expected, rel=1e-8)


def test_rows_with_everything_wrong_are_as_far_out_as_they_are():
    a, b, _, _ = simulated(2, 300, seed=1)
    a = 0.5 * a
    items = Items(a, b, a * 0, b * 0, 0.0, 0, True)
    grid = np.linspace(-14, 14, 5601)
    for response in (0.0, 1.0):
        sign = 2 * response - 1
        logs = special.log_expit(sign * items.logits(grid)).sum(axis=1) - grid**2 / 2
        weights = np.exp(logs - logs.max())
        mean = (weights @ grid) / weights.sum()
        estimated = abilities(items, np.full((1, 300), response)).iloc[0]
        assert estimated["ability"] == pytest.approx(mean, abs=1e-3)
        assert estimated["error"] == pytest.approx(
            np.sqrt(weights @ (grid - mean) ** 2 / weights.sum()), rel=1e-2
        )


def test_no_other_parameters_are_likelier():
    *_, matrix = simulated(300, 8, seed=3)
    fitted = fit(matrix, prior=None)
    generator = np.random.default_rng(0)
    for _ in range(20):
        second = Items(
            fitted.discrimination + generator.normal(0, 0.05, fitted.discrimination.shape),
            fitted.difficulty + generator.normal(0, 0.05, 8),
            *[np.zeros(8)] * 2,
            0.0,
            0,
            True,
        )
        assert abilities(second, matrix)["log_likelihood"].sum() < fitted.log_likelihood


def test_two_dimensions_are_better_than_one_where_there_are_two():
    a, _, _, matrix = simulated(1500, 24, seed=1, dimensions=2)
    first, two = fit(matrix), fit(matrix, dimensions=2)
    assert two.log_likelihood > first.log_likelihood + 100
    # up to a rotation: items of one dimension stand at right angles to those of the other
    unit = two.discrimination / np.linalg.norm(two.discrimination, axis=1, keepdims=True)
    groups = a[:, 0] > 0
    between = np.abs(unit[groups] @ unit[~groups].T).mean()
    within = np.abs(unit[groups] @ unit[groups].T).mean()
    assert within > 0.85 > 0.5 > between


def test_steps_that_go_too_far_are_taken_back():
    # the better the row, the more items it has right: likelier and likelier without end, but for a weak prior
    matrix = (np.arange(8)[:, None] >= [5, 3, 4]).astype(float)
    fitted = fit(matrix, prior=(10.0, 20.0))
    assert fitted.converged
    assert np.abs(fitted.discrimination).max() < 50
    assert fitted.difficulty[0] > fitted.difficulty[2] > fitted.difficulty[1]


def test_items_that_all_have_right_need_a_prior():
    *_, matrix = simulated(50, 5)
    matrix[:, 2] = 1
    with pytest.raises(InputError, match="item 2 is constant"):
        fit(matrix, prior=None)
    fitted = fit(matrix)
    assert np.isfinite(fitted.difficulty).all()
    assert fitted.difficulty[2] == fitted.difficulty.min()


def test_the_most_likely_ability_has_no_slope():
    a, b, theta, matrix = simulated(30, 60, seed=5)
    items = Items(a, b, *[np.zeros(60)] * 2, 0.0, 0, True)
    estimated = most_likely(items, matrix)
    slope = (matrix - items.probability(estimated)) @ a
    assert slope == pytest.approx(np.zeros_like(slope), abs=1e-6)
    assert np.corrcoef(estimated[:, 0], theta[:, 0])[0, 1] > 0.9
    all_right = most_likely(items, np.ones((1, 60)))
    assert all_right[0, 0] == 6


def test_abilities_that_are_known_far_better_than_the_grid_are_integrated_over_finer_ones(monkeypatch):
    """Strongly discriminating items: on a grid too coarse, the likelihood is that of a few kinds of rows."""
    generator = np.random.default_rng(9)
    a, b = generator.uniform(3, 6, (80, 1)), generator.normal(0, 3, 80)
    theta = generator.normal(size=(300, 1))
    matrix = (generator.random((300, 80)) < expit(theta @ a.T - b)).astype(float)

    def exact(items: Items) -> float:
        step = np.linspace(-7, 7, 7001)
        logs = stats.norm.logpdf(step) + np.log(step[1] - step[0])
        p = np.clip(items.probability(step), 1e-300, 1 - 1e-16)
        rows = matrix @ np.log(p).T + (1 - matrix) @ np.log1p(-p).T + logs
        return float(special.logsumexp(rows, axis=1).sum())

    fitted = fit(matrix, prior=(20, 20))
    assert fitted.converged
    assert fitted.log_likelihood == pytest.approx(exact(fitted), abs=0.01)
    estimated = abilities(fitted, matrix)
    assert estimated["error"].min() < 0.1
    away = (estimated["ability"] - theta[:, 0]) / estimated["error"]
    assert 0.85 < away.std() < 1.4  # where 0 and 1 are is known from 300 rows alone
    monkeypatch.setattr(response_theory, "REFINED", 0)
    assert exact(fit(matrix, prior=(20, 20))) < exact(fitted) - 0.5


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_no_other_ability_is_likelier(dimensions):
    """Items of all scales and signs."""
    generator = np.random.default_rng(dimensions)
    for _ in range(30):
        count = int(generator.integers(3, 25))
        a = generator.normal(size=(count, dimensions)) * generator.lognormal(0, 1.5, size=(count, 1))
        items = Items(a, 3 * generator.normal(size=count), a, a[:, 0], 0.0, 0, True)
        row = generator.integers(0, 2, size=(1, count)).astype(float)

        def likelihood(theta, items=items, row=row):
            return special.log_expit((2 * row - 1) * items.logits(theta)).sum()

        estimated = most_likely(items, row)
        assert np.abs(estimated).max() <= 6
        for scale in (1e-4, 1e-2, 1.0):
            near = np.clip(estimated + scale * generator.normal(size=(100, dimensions)), -6, 6)
            assert max(likelihood(value) for value in near) <= likelihood(estimated) + 1e-7


@pytest.mark.parametrize("sharpness", [1, 4.5, 6, 10])
def test_the_most_likely_ability_between_two_sharp_items_is_in_the_middle(sharpness):
    items = Items(
        np.full((2, 1), sharpness), np.full(2, sharpness / 2), *[np.zeros((2, 1))] * 2, 0.0, 0, True
    )
    assert most_likely(items, [[1, 0]])[0, 0] == pytest.approx(0.5, abs=1e-6)


def test_dimensions_widths_and_priors_that_mean_nothing_are_told():
    matrix = simulated(20, 2)[3]
    for dimensions in (0, 3, 4):
        with pytest.raises(InputError, match=f"{dimensions} dimensions of 2 items"):
            fit(matrix, dimensions)
    with pytest.raises(InputError, match="two standard deviations above 0"):
        fit(matrix, prior=(0, 1))
    items = fit(matrix)
    for function in (abilities, most_likely):
        with pytest.raises(InputError, match="responses to 3 items; expected 2"):
            function(items, np.ones((4, 3)))


def test_what_is_no_right_or_wrong_answer_is_told():
    with pytest.raises(InputError, match="row 0, item 1 is 0.5; expected 0, 1 or nan"):
        fit([[1, 0.5], [0, 1]])


def test_another_program_finds_the_same():
    """PyPI's mirt 1.2.0: ``fit_mirt(X, model="2PL", n_quadpts=61, tol=1e-7, se_method="oakes")``, whose
    difficulty is b / a. Its standard errors are of all items together, so they are a little larger."""
    generator = np.random.default_rng(7)
    a, b, theta = generator.lognormal(0, 0.3, 20), generator.normal(size=20), generator.normal(size=500)
    matrix = (generator.random((500, 20)) < expit(theta[:, None] * a - b)).astype(float)
    fitted = fit(matrix, prior=None)
    assert fitted.log_likelihood == pytest.approx(-6026.49924, abs=1e-3)
    assert fitted.discrimination[:4, 0] == pytest.approx([0.67518, 1.15417, 0.53527, 0.78786], abs=1e-3)
    assert fitted.difficulty[:4] == pytest.approx([-1.63905, -0.03666, -0.89206, 0.17109], abs=1e-3)
    assert fitted.discrimination_error[:4, 0] == pytest.approx([0.1567, 0.1633, 0.1277, 0.133], rel=0.02)


def test_some_items_of_a_model_have_its_facts():
    items = fit(simulated(80, 6)[3])
    part = items.only([4, 1])
    assert part.difficulty.tolist() == items.difficulty[[4, 1]].tolist()
    assert part.discrimination_error.tolist() == items.discrimination_error[[4, 1]].tolist()
    facts = (items.log_likelihood, items.rounds, items.converged)
    assert (part.log_likelihood, part.rounds, part.converged) == facts


@pytest.mark.parametrize("prior", [(1.0, 2.0), (0.5, 0.7)])
def test_a_prior_pulls_by_its_standard_deviations(prior):
    """No change of a parameter makes likelihood and prior together more probable."""
    matrix = simulated(60, 4, seed=3)[3]
    items = fit(matrix, prior=prior)
    nodes, weights = quadrature(1, 0.01)

    def log_posterior(a: np.ndarray, b: np.ndarray) -> float:
        logits = nodes @ a[None, :] - b
        joint = matrix @ special.log_expit(logits).T + (1 - matrix) @ special.log_expit(-logits).T + weights
        likelihood = special.logsumexp(joint, axis=1).sum()
        return float(
            likelihood + stats.norm.logpdf(a, 0, prior[0]).sum() + stats.norm.logpdf(b, 0, prior[1]).sum()
        )

    a, b = items.discrimination[:, 0], items.difficulty
    best = log_posterior(a, b)
    for item in range(4):
        for change in (-0.02, 0.02):
            moved = np.eye(4)[item] * change
            assert log_posterior(a + moved, b) < best
            assert log_posterior(a, b + moved) < best


def test_abilities_of_two_dimensions_are_numbered():
    a, b, _, matrix = simulated(200, 12, seed=1, dimensions=2)
    items = Items(a, b, *[np.zeros_like(a), np.zeros_like(b)], 0.0, 0, True)
    matrix[0, :5] = np.nan
    matrix[:, 0] = np.where(np.arange(200) < 190, np.nan, matrix[:, 0])
    table = abilities(items, matrix)
    assert [*table] == ["ability1", "error1", "ability2", "error2", "log_likelihood"]
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    for row in (0, 7):
        mask = np.isfinite(matrix[row])
        moments = np.zeros(5)
        for x, wx in zip(nodes, weights, strict=True):
            for y, wy in zip(nodes, weights, strict=True):
                p = expit(a[mask] @ [x, y] - b[mask])
                likelihood = wx * wy * np.prod(np.where(matrix[row, mask] == 1, p, 1 - p))
                moments += likelihood * np.array([1, x, x * x, y, y * y])
        total, x, xx, y, yy = moments
        mean = np.array([x, y]) / total
        deviation = np.sqrt(np.array([xx, yy]) / total - mean**2)
        expected = [mean[0], deviation[0], mean[1], deviation[1], np.log(total / weights.sum() ** 2)]
        assert table.iloc[row].tolist() == pytest.approx(expected, abs=2e-3)
    # an item that nobody answers says nothing of anyone
    nobody = matrix.copy()
    nobody[:, 1] = np.nan
    assert np.isfinite(abilities(items, nobody)["ability1"]).all()
    assert np.isfinite(most_likely(items, nobody)).all()


def test_opposite_rows_of_equal_scores_do_not_hide_that_items_differ():
    # prompts that always answer yes, or always no, on items of which half are right with each
    yes = np.tile([1.0, 0.0], 20)
    fitted = fit(np.array([yes] * 10 + [1 - yes] * 10))
    a = fitted.discrimination[:, 0]
    assert fitted.converged
    assert np.abs(a).min() > 1
    assert (np.sign(a[::2]) == -np.sign(a[1::2])).all()


@pytest.mark.parametrize("prior", [(1.0,), (np.nan, 1.0), (1.0, np.inf), (0.0, 1.0), (1.0, 1.0, 1.0)])
def test_a_prior_has_two_deviations(prior):
    with pytest.raises(InputError, match="expected two standard deviations above 0, or None"):
        fit([[1, 0], [0, 1]], prior=prior)
