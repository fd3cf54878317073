"""Numbers in the docs' sentences are those of the data and the tables that they come from."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from abovechance.chance.published_scores import judge_scores, read_scores
from abovechance.chance.random_baseline import RandomBaseline
from abovechance.core.estimates import clustered_mean
from abovechance.variance.evaluations import with_groups
from abovechance.variance.results_files import read_evaluations
from abovechance.variance.summary import of_evaluations
from tests.bench import validation
from tests.compare.test_decisions import counted
from tests.compare.test_gate import difference_of
from tests.conftest import REPOSITORY
from tests.stated import differences, text_of

PYTHIA = REPOSITORY.parent / "shared" / "pythia.zip"
VALIDATION = validation.PAGE.read_text(encoding="utf-8")


def wrong(name, *statements):
    return [*differences(name, text_of(name), statements)]


def test_published_maxima():
    scores = read_scores(REPOSITORY / "docs" / "published_maxima.csv")
    table = judge_scores(scores).table
    above = table[table["position"] == "above"]
    over_standard = table["position"].isin(["between", "above"]).sum()
    paraphrases = [table["prompts"].min(), table["prompts"].max()]
    yes = table[table["better_than_chance"] == "yes"]
    by_model, by_task = yes["model"].value_counts(), yes["task"].value_counts()
    models = by_model.reindex(table["model"].unique(), fill_value=0)
    assert not wrong(
        "multi-prompt-maxima",
        (r"covers (\d+) tasks .*? and (\d+) models", [table["task"].nunique(), table["model"].nunique()]),
        (r"paraphrase on (\d+) examples", [table["examples"].unique().item()]),
        (r"each of the (\d+) pairs", [len(table)]),
        (r"of the (\d+) to (\d+) paraphrases", paraphrases),
        (r"(\d+) of (\d+) best scores look", [over_standard, len(table)]),
        (r"about 170 .*? accuracy of (\d+) %", [100 * RandomBaseline.from_chance(0.5, 100).maximum(170)]),
        (r"In all, (\d+) of the (\d+) scores are not", [over_standard - len(above), over_standard]),
        (
            r"about (\d+) of the (\d+) scores would be .*? In fact, (\d+) scores",
            [table["guessing_above"].sum(), len(table), len(above)],
        ),
        (r"For (\d+) of these (\d+) scores", [(above["maximum_tail"] > 0.05).sum(), len(above)]),
        (
            r"correction for (\d+) scores, (\d+) scores remain .*? leaves (\d+) scores\. .*? leaves (\d+)",
            [len(table), *((table[f"{method}_tail"] <= 0.05).sum() for method in ("bh", "by", "holm"))],
        ),
        (r"better than chance on (\d+) of the (\d+) tasks", [models["flan-t5-xl"], table["task"].nunique()]),
        (r"better than chance on only (\d+) tasks", [models["mpt-7b-instruct"]]),
        (
            r"disambiguation_qa, (\d+) of the (\d+) models",
            [by_task["disambiguation_qa"], table["model"].nunique()],
        ),
    )
    assert (models == 12).sum() == (models == 2).sum() == 3
    assert {*models.index[models == 12]} == {"flan-t5-xl", "flan-t5-xxl", "vicuna-13b"}
    assert {*models.index[models == 2]} == {"falcon-7b-instruct", "minotaur-15b", "mpt-7b-instruct"}
    assert {*table["task"]} - {*by_task.index} == {"formal_fallacies", "navigate"}
    assert {*by_task.index[by_task == 9]} == {
        "movie_recommendation",
        "geometric_shapes",
        "disambiguation_qa",
    }


def rates(name, column):
    """Return the numbers of a column of docs/validation.md."""
    table = validation.read(VALIDATION, name)
    heading = next(heading for heading in table.columns if heading.startswith(column))
    return table[heading].str.split().str[0].astype(float)


def size_of_score_test(examples):
    """The largest probability that the score test of two equally good models has p <= 0.05."""
    differ = np.arange(examples + 1)
    rejects = np.zeros(examples + 1)
    for count in differ[1:]:
        first_only = np.arange(count + 1)
        rejected = (2 * first_only - count) ** 2 / count >= stats.chi2.isf(0.05, 1)
        rejects[count] = stats.binom.pmf(first_only[rejected], count, 0.5).sum()
    return max(stats.binom.pmf(differ, examples, share) @ rejects for share in np.linspace(0, 1, 101))


def test_quotations_of_the_validation_page():
    overview = validation.read(VALIDATION, "rates")
    ours = overview["test"].str.startswith("`compare`, p-value") | overview["test"].str.contains("groups")
    without_clusters = rates("tests", "exact permutation test without clusters").max()
    table = validation.read(VALIDATION, "unequal-clusters").iloc[:, 1:]
    usual = table.map(lambda cell: float(cell.partition("(")[2].rstrip(")")))
    single = rates("seeds", "p-value that ignores the variance")
    assert not wrong(
        "compare",
        (r"in at most (\d+) % of studies", [100 * overview[ours]["largest"].astype(float).max()]),
        (r"ignored,\*\* (\d+) % of studies", [100 * without_clusters]),
        (r"does so in up to (\d+) % of studies", [100 * usual.max(axis=None)]),
    )
    assert 0.2 < single.mean() < 0.3  # "a quarter of studies"
    sizes = [100 * max(map(size_of_score_test, examples)) for examples in ([4], range(5, 51))]
    pattern = r"at most (\d+\.\d) % of studies with 4\s+examples, and (\d\.\d) % with 5 to 50"
    assert not wrong("validation", (pattern, sizes))
    row = rates("randomization", "maximum tail").idxmax()
    worst = [100 * rates("randomization", name)[row] for name in ("maximum tail", "randomization test")]
    assert not wrong("method", (r"hypothesis in (\d+) % of studies, .*? in (\d\.\d) % \(", worst))
    best = validation.read(VALIDATION, "best-candidate")
    coverage = best.loc[best["method"].str.contains("abovechance"), "smallest coverage"].astype(float)
    assert coverage.min() >= 0.95
    assert "in at least 95 % of searches" in text_of("best")


@pytest.mark.skipif(not PYTHIA.is_file(), reason="needs ../shared/pythia.zip, EleutherAI's evaluations")
def test_pythia():
    table = with_groups(read_evaluations([PYTHIA]), {"mmlu": "hendrycksTest-*"}, "here: key 'groups")
    table["chance"] = np.where(table["task"] == "mmlu", 0.25, np.nan)
    rows = of_evaluations(table)
    rows["model"] = rows["model"].str.partition("v1.1-")[2]
    by_key = rows.set_index(["task", "metric", "model"])
    models = ["160m", "160m-deduped", "1.4b"]
    names = {
        "lambada_openai: accuracy": ("lambada_openai", "acc"),
        "lambada_openai: perplexity": ("lambada_openai", "ppl"),
        **{f"{task}: accuracy": (task, "acc") for task in ("piqa", "arc_easy", "arc_challenge", "logiqa")},
        "MMLU (57 subjects as one): accuracy": ("mmlu", "acc"),
    }
    number = r"(-?0\.\d{3})"
    assert not wrong(
        "variance",
        *(
            (
                rf"\| {re.escape(name)} \| {number} \| {number} \| {number} \|",
                [by_key.loc[(*key, model), "monotonicity"] for model in models],
            )
            for name, key in names.items()
        ),
        (r"Pythia models at (\d+) checkpoints", [rows["checkpoints"].unique().item()]),
        (
            r"On (\d+,\d+) questions, .* end at (0\.\d+) and (0\.\d+) and .* ends at (0\.\d+) and",
            [
                by_key.loc[("mmlu", "acc", "1.4b"), "examples"],
                *(by_key.loc[("mmlu", "acc", model), "mean"] for model in models),
            ],
        ),
    )
    leaves = [by_key.loc[("mmlu", "acc", model), "leaves_chance"] for model in models]
    assert pd.isna(leaves[:2]).all()
    assert leaves[2] == table["checkpoint"].max()


def test_intervals_of_the_gate():
    def intervals(examples, gains, losses):
        responses = counted(examples, gains, losses)
        difference = difference_of(responses[0])
        gains_less_losses = responses[0].by_example[0] - responses[0].by_example[1]
        student = clustered_mean(gains_less_losses, None, 0.9)
        return student, difference.low(0.05), difference.high(0.05)

    student, low, _ = intervals(150, 3, 0)
    assert student.low > 0
    assert not wrong(
        "gate", (r"with 3 gains and no loss in 150 examples, .*? begins at (-[\d.]+) points", [100 * low])
    )
    student, low, high = intervals(200, 20, 20)
    wider = 100 * (high - low) / (student.high - student.low) - 100
    assert not wrong("gate", (r"With 200 examples, 20 gains and 20 losses, it is (\d+) % wider", [wider]))


def tables(name):
    """The Markdown tables of a page, with their headings."""
    text = (REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for table in re.findall(r"^\|.*\n\|[-| ]+\n(?:\|.*\n)+", text, re.MULTILINE):
        heading, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        yield pd.DataFrame(rows, columns=heading)


def test_the_table_of_models():
    (types,) = [table for table in tables("models") if "type" in table]
    paths = types["path"].value_counts()
    assert types["type"].is_unique
    assert (types["difference"].astype(float) < 1e-4).all()
    pattern = (
        r"(\d+) types could be tested: (\d+) use the tree path, (\d+) the batched path and (\d+) the plain"
    )
    counts = [len(types), *paths[["tree", "batched", "plain"]]]
    assert not wrong("models", (pattern, counts))


def test_ratios_of_times():
    ratios = 0
    for table in tables("performance"):
        for heading in (heading for heading in table if " / " in heading):
            first, second = (table[name].astype(float) for name in heading.split(" / "))
            digits = table[heading].str.partition(".")[2].str.len()
            for value, text, places in zip(first / second, table[heading], digits, strict=True):
                assert value == pytest.approx(float(text), abs=0.011 * float(text) + 0.5 * 10**-places)
                ratios += 1
    assert ratios == 10
