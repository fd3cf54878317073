"""The calculator in the documentation computes what the library does."""

import html
import json
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from abovechance.chance.best_of import is_above
from abovechance.chance.planning import examples_for_power, power
from abovechance.chance.random_baseline import RandomBaseline
from abovechance.chance.rounding import Correct
from abovechance.chance.verdicts import position_of
from tests.conftest import REPOSITORY

CALCULATOR = REPOSITORY / "docs" / "calculator"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
COMPUTE = """
const results = inputs.map(({groups, prompts, correct}) => {
  const {standard, maximum, rows} = judge(groups, prompts, [correct]);
  const baseline = new RandomBaseline(groups);
  const [{standardTail, maximumTail, position}] = rows;
  return [standard, maximum, standardTail, maximumTail, baseline.critical(ALPHA, prompts), position];
});
"""


def page(address: str, folder: Path) -> str:
    """The page at an address after its scripts, as Chromium has it."""
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=60000", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def by_browser(inputs: list[Any], folder: Path) -> list[Any]:
    scripts = f"<script>{(CALCULATOR / 'statistics.js').read_text()}</script>"
    run = f"const inputs = {json.dumps(inputs)};{COMPUTE}"
    show = "const out = document.createElement('pre'); out.textContent = JSON.stringify(results);"
    show += "document.body.append(out);"
    path = folder / "test.html"
    path.write_text(f"<!doctype html><body>{scripts}<script>{run}{show}</script></body>")
    match = re.search(r"<pre>(.*?)</pre>", page(path.as_uri(), folder), re.S)
    assert match
    return json.loads(html.unescape(match.group(1)))


def by_node(inputs: list[Any], folder: Path) -> list[Any]:
    path = folder / "test.js"
    text = (CALCULATOR / "statistics.js").read_text()
    path.write_text(
        f"{text}\nconst inputs = {json.dumps(inputs)};{COMPUTE}console.log(JSON.stringify(results));"
    )
    return json.loads(
        subprocess.run([str(NODE), str(path)], capture_output=True, text=True, check=True).stdout
    )


def of_node(call: str) -> Any:
    """What a function of the calculator returns."""
    script = f"console.log(JSON.stringify(require('{CALCULATOR / 'statistics.js'}').{call}))"
    completed = subprocess.run([str(NODE), "-e", script], capture_output=True, text=True, check=True)
    return json.loads(completed.stdout)


def random_inputs(number: int) -> list[dict[str, Any]]:
    """Groups of examples, prompts, and a number of correct examples about the best guesser's."""
    generator = np.random.default_rng(0)
    inputs = []
    for _ in range(number):
        kinds = generator.integers(1, 4)
        choices = generator.choice(np.arange(2, 30), kinds, replace=False).tolist()
        largest_group = int(10 ** generator.uniform(0.3, 3))
        groups = [[1 / choice, int(generator.integers(1, largest_group + 1))] for choice in choices]
        prompts = int(10 ** generator.uniform(0, 9))
        examples = sum(count for _, count in groups)
        standard = sum(chance * count for chance, count in groups)
        correct = int(np.clip(standard + generator.normal(2, 3) * np.sqrt(standard), 0, examples))
        inputs.append({"groups": groups, "prompts": prompts, "correct": correct})
    # the accuracy 1 is above what guessers who can be wrong are expected to reach, and not if they cannot
    for chance, prompts in product((0.5, 1), (1, 200, 300, 10**6)):
        inputs.append({"groups": [[chance, 3]], "prompts": prompts, "correct": 3})
    return inputs


def by_library(case: dict[str, Any]) -> list[Any]:
    """Baselines, tails, the least number of correct examples that is significant, and the position."""
    baseline = RandomBaseline.from_counts(dict(case["groups"]))
    prompts, correct = case["prompts"], case["correct"]
    return [
        baseline.standard,
        baseline.maximum(prompts),
        baseline.tail(correct),
        baseline.tail(correct, prompts),
        baseline.critical(0.05, prompts),
        position_of(*(is_above(correct / baseline.examples, baseline.maximum(t)) for t in (1, prompts))),
    ]


@pytest.mark.parametrize(
    "compute",
    [
        pytest.param(by_browser, marks=[in_browser, pytest.mark.thorough]),
        pytest.param(
            by_node, marks=pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
        ),
    ],
)
def test_the_page_computes_what_the_library_does(compute, tmp_path):
    inputs = random_inputs(10_000 if compute is by_browser else 1000)
    for row, result in zip(inputs, compute(inputs, tmp_path), strict=True):
        expected = by_library(row)
        np.testing.assert_allclose(result[:4], expected[:4], rtol=1e-10, atol=1e-290)
        assert result[4:] == expected[4:]


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
@pytest.mark.parametrize(
    ("chance", "accuracy", "prompts"),
    [(0.5, 0.6, 1), (0.25, 0.37, 20), (1 / 3, 0.4, 500), (0.1, 0.9, 7), (0.5, 0.52, 3)],
)
def test_the_number_of_examples_is_the_librarys(chance, accuracy, prompts):
    assert of_node(f"examplesForPower({chance}, {accuracy}, {prompts})") == examples_for_power(
        chance, accuracy, prompts
    )


@pytest.mark.parametrize(
    ("counts", "accuracy", "prompts"),
    [
        ({2: 1, 5: 1}, 0.5, 20),
        ({2: 1, 20: 3}, 0.3, 1),
        ({3: 2, 4: 1, 10: 5}, 0.35, 200),
        ({2: 9, 30: 1}, 0.6, 5),
        ({2: 1, 3: 1}, 0.617, 200),  # of 118, a power of 0.799
        ({3: 1, 4: 1}, 0.342, 20),
    ],
)
def test_a_mixture_needs_about_as_many_examples_as_its_mean_chance_or_fewer(counts, accuracy, prompts):
    """The page states this: from the number for the mean chance on, the power is about 0.8 or more.

    A mixture's guessers have fewer lucky hits, but then so have the rivals that count as hits as well.
    """
    unit = sum(counts.values())
    chance = sum(count / choices for choices, count in counts.items()) / unit
    least = examples_for_power(chance, accuracy, prompts)
    for times in range(-(-least // unit), -(-least // unit) + 40):
        baseline = RandomBaseline.from_choices({c: times * count for c, count in counts.items()})
        assert power(baseline, accuracy, prompts) >= 0.798


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
@pytest.mark.parametrize("text", ["0.37", "0.4", "0,5", ".5", "1", "0", "1.0", "0.3333", "1.00", "0.625"])
@pytest.mark.parametrize("examples", [1, 3, 7, 100, 1000])
def test_accuracies_stand_for_the_same_numbers_of_examples(text, examples):
    correct = Correct.from_accuracy(text, examples)
    expected = [*range(correct.lowest, correct.highest + 1)]
    assert of_node(f"correctOf('{text}', {examples})") == (expected if correct.exact else [])
    if not correct.exact:
        assert of_node(f"nearestOf('{text}', {examples})") == expected


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
def test_accuracies_as_programs_write_them_are_exact():
    examples, numbers = [3, 7, 90, 14042], [1, 2, 3]
    texts = [
        (text, size, number)
        for size, number in product(examples, numbers)
        for text in (repr(number / size), str(np.float32(number / size)), f"{number / size:.3e}")
    ]
    for text, size, _ in [*texts, ("1E0", 3, 3), ("0.0e0", 3, 0)]:
        correct = Correct.from_accuracy(text, size)
        assert of_node(f"correctOf('{text}', {size})") == [*range(correct.lowest, correct.highest + 1)]
        assert correct.exact


@in_browser
@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        (
            {"n": "100", "c": "4", "t": "20", "a": "0.37"},
            "not shown to be better than chance: p = 0.10 against the best of 20",
        ),
        (
            {"n": "100", "c": "4", "t": "1", "a": "37 %"},
            "is better than chance: p = 0.005 against one guesser",
        ),
        ({"n": "100", "c": "2:50, 5:50", "t": "20", "a": "0.6"}, "is better than chance"),
        ({"n": "100", "c": "2:50, 5:40", "t": "20", "a": "0.6"}, "the mixture has 90 examples, not 100"),
        ({"n": "100", "c": "2,5", "t": "20", "a": "0.37"}, "Choices: write a number from 2"),
        ({"n": "1e2", "c": "4", "t": "1.000", "a": "0.37"}, "Examples: write a whole number"),
        ({"n": "50,000", "c": "2:25,000; 3:25000", "t": "1,000", "a": "0.5"}, "is better than chance"),
        ({"n": "15", "c": "4", "t": "1", "a": "0.5"}, "one prompt is tried and has a true accuracy of 0.500"),
        ({"n": "100", "c": "4", "t": "2", "a": "62 %"}, "tried and one has a true accuracy of 0.620"),
        ({"n": "100", "c": "4", "t": "20", "a": ""}, "accuracy that is better than chance is 0.3900."),
        # a lower one with four digits is not
        ({"n": "100000", "c": "4", "t": "1", "a": ""}, "0.252260 (25226 of 100000)"),
        ({"n": "3", "c": "2", "t": "20", "a": ""}, "No accuracy on so few examples is better than chance."),
        ({"n": "x", "c": "4", "t": "20", "a": "0.37"}, "Examples: write a whole number from 1 to 100,000. "),
        (
            {"n": "100000", "c": "2:50000,100:50000", "t": "1000", "a": "0.261"},
            "More than 100,000 examples. Each example is taken to have a chance of 0.255; this mixture needs "
            "fewer, perhaps.",
        ),
        ({"n": "1000", "c": "2", "t": "1", "a": "0.53"}, "is rounded, and the conclusion depends"),
        (
            {"n": "7", "c": "2", "t": "1", "a": "0.5"},
            "3 or 4 of 7; no number gives this accuracy exactly, so check both numbers",
        ),
        ({"n": "100", "c": "2", "t": "1", "a": "0.625"}, "is better than chance: p = 0.006 to 0.01"),
        ({"n": "x", "c": "2", "t": "1", "a": ""}, "Examples: write a whole number"),
        ({"n": "100", "c": "4", "t": "20", "a": "0.37"}, "you need 204 examples to show with a power of 0.8"),
    ],
)
def test_the_page_says_what_the_numbers_mean(numbers, says, tmp_path):
    address = f"{(CALCULATOR / 'index.html').as_uri()}?{urlencode(numbers)}"
    text = re.sub(r"<[^>]+>|\s+", " ", html.unescape(page(address, tmp_path)))
    assert says in text
    assert "null examples" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser")
def test_the_score_is_drawn_where_it_was_written(tmp_path):
    """3.5 of 7 are no number of correct examples, but 0.5 is the score."""
    address = f"{(CALCULATOR / 'index.html').as_uri()}?{urlencode({'n': 7, 'c': 2, 't': 5, 'a': '50 %'})}"
    assert "best accuracy 0.500." in page(address, tmp_path)


def test_the_page_needs_no_network():
    for path in CALCULATOR.iterdir():
        text = path.read_text()
        assert not re.search(
            r"""(src|href)=["']?(https?:)?//(?!arxiv\.org)|fetch\(|XMLHttpRequest|import\(""", text
        ), path
