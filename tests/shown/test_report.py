"""The report of a study: what it says at a glance, and its table in a browser."""

import re
import shutil
import subprocess

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from abovechance.chance.conclusion import in_words, with_conclusions
from abovechance.chance.multiplicity import with_adjusted
from abovechance.chance.verdicts import verdicts
from abovechance.core.columns import Column
from abovechance.core.tables import TableSchema
from abovechance.core.words import rounded_percent
from abovechance.results.accuracy import accuracy_by_prompt
from abovechance.shown.exhibits import ShownFigure, ShownTable
from abovechance.shown.report import Part, facts, parts, render, series_answer, two_models_answer
from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def judged() -> pd.DataFrame:
    """Three tasks of 20 examples with two choices, four prompts each: a lucky, a good and a bad one."""
    parts = []
    for task, best in (("lucky", 14), ("good", 19), ("bad", 9)):
        correct = np.arange(20) < np.array([best, 8, 7, 9])[:, None]
        parts.append(
            pd.DataFrame(
                {
                    **{"model": "m", "task": task, "shots": 1, "tie": False, "chance": 0.5},
                    "prompt": np.repeat(range(4), 20),
                    "example": np.tile([f"e{i}" for i in range(20)], 4),
                    "correct": correct.ravel(),
                }
            )
        )
    return with_conclusions(with_adjusted(verdicts(pd.concat([accuracy_by_prompt(part) for part in parts]))))


@pytest.fixture(scope="module")
def page(judged) -> str:
    return render("a study", [], {"seed": "0"}, verdicts=judged)


def test_the_report_opens_with_what_it_means(judged, page):
    first, second, third = in_words(judged)
    expected = judged["guessing_above"].sum()
    assert first == "1 of the 3 settings is better than chance."
    assert second == (
        "The best prompt is above the standard random baseline in 2 of them, and above the maximum random "
        f"baseline in 2. Guessing alone would be above the maximum random baseline in about {expected:.1f}."
    )
    assert f"<b>{first}</b> {second}</p>" in page
    assert third.replace("<=", "&lt;=") in page


def test_numbered_prompts_of_other_tools_have_names():
    names_of_m = {"m, a, 0-shot": ["x", "y"], "m, b, 0-shot": ["x", "y"], "m, c, 0-shot": ["only"]}
    names_of_n = {"n, a, 0-shot": ["z", "y"], "n, b, 0-shot": ["0", "1"]}
    of_m, of_n = ({"versions": {}, "prompt_names": names} for names in (names_of_m, names_of_n))
    assert facts({}, [of_m])["prompts"] == "0 = x, 1 = y"
    named = facts({"prompts": 2}, [of_m, of_n])
    assert named["prompts of m, a, 0-shot; m, b, 0-shot"] == "0 = x, 1 = y"
    assert named["prompts of n, a, 0-shot"] == "0 = z, 1 = y"
    assert named["prompts"].startswith("2 for each task")
    assert "prompts" not in facts({}, [{"versions": {}}])


def test_a_cell_that_guessers_reach_does_not_look_like_evidence(page):
    cells = dict(re.findall(r'<tr><th>(\w+)</th>\s*<td class="cell ([\w ]+)"', page))
    assert cells == {"lucky": "no", "good": "yes", "bad": "no"}
    assert re.search(r"<span>no, 0\.3\d</span>", page)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed (Debian's package)")
def test_the_table_of_verdicts_is_sorted_and_filtered_in_a_browser(page, tmp_path):
    acts = """<script>
      const heads = [...document.querySelectorAll("table.sortable th")];
      const click = name => heads.find(head => head.textContent === name).click();
      const tasks = () => [...document.querySelectorAll("table.sortable tbody tr")]
        .filter(row => !row.hidden).map(row => row.cells[1].textContent).join(" ");
      const told = [tasks()];
      click("best accuracy"); told.push(tasks());
      click("best accuracy"); told.push(tasks());
      click("maximum tail"); told.push(tasks());
      click("task"); told.push(tasks());
      const filter = document.querySelector("input.filter");
      filter.value = "ABOVE luck"; filter.dispatchEvent(new Event("input")); told.push(tasks());
      document.title = told.join("|");
    </script></body>"""
    path = tmp_path / "report.html"
    path.write_text(page.replace("</body>", acts))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>(.*)</title>", completed.stdout)
    assert title, completed.stderr
    assert title.group(1).split("|") == [
        "lucky good bad",
        "bad lucky good",
        "good lucky bad",
        "good lucky bad",  # 1.2e-04 is less than 0.21
        "bad good lucky",
        "lucky",
    ]


def test_the_conclusion_on_two_models_answers_the_report_and_is_no_column():
    rows = {"task": ["mean over 2 tasks", "t"], "shots": 1, "better": "a", "worse": "b"}
    table = pd.DataFrame(rows | {"conclusion": ["a is better by 4.0 points.", "No difference."]})
    assert two_models_answer(table) == ["a and b (1-shot, mean over 2 tasks): a is better by 4.0 points."]
    assert two_models_answer(table.tail(1)) == ["a and b (1-shot, t): No difference."]
    assert two_models_answer(pd.concat([table.tail(1), table.tail(1)])) == []
    # a task may be called so
    days = table.tail(1).assign(task="mean over days")
    assert two_models_answer(pd.concat([table.tail(1), days])) == []
    listed = (REPOSITORY / "workflow" / "rules" / "analyses" / "models.smk").read_text()
    assert 'hidden=("conclusion",)' in listed


def test_a_question_has_its_figures_and_tables_and_those_without_rows_say_so_or_are_left_out(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "figures").mkdir()
    for name, rows in (("long", range(5)), ("empty", ()), ("silent", ()), ("hidden", range(2))):
        schema = TableSchema(name, {"n": Column.whole("a number"), "x": Column.whole("another")}, "Rows.")
        table = pd.DataFrame({"n": [*rows], "x": [*rows]}, dtype=int)
        schema.write(table, tmp_path / "tables" / f"{name}.parquet", {})
    for name, numbers in (("drawn", "n\n1\n"), ("blank", "n\n")):
        plt.imsave(tmp_path / "figures" / f"{name}.png", np.zeros((2, 690)))
        (tmp_path / "figures" / f"{name}.csv").write_text(numbers)
    long = ShownTable("long", "Long & wide", "Rows.", most_rows=2, hidden=("x",))
    empty = ShownTable("empty", "Empty", "Rows.", without_rows="There are no rows.")
    figures = [ShownFigure("drawn", 'A "figure"', "See."), ShownFigure("blank", "Blank", "See.")]
    questions = {
        "Which models differ?": [long, ShownTable("hidden"), *figures],
        "Nothing?": [ShownTable("silent", "Silent", "Rows.")],
        "How many?": [empty],
    }
    first, second = parts(tmp_path, questions)
    assert [exhibit.label for exhibit in first.exhibits] == ["Figure 1", "Table 1"]
    assert first.exhibits[1].text == "Rows. The table shows 2 of 5 rows. All rows are in tables/long.csv."
    assert first.exhibits[1].html.count("<tr") == 3
    assert "<th>x</th>" not in first.exhibits[1].html
    assert (second.question, second.exhibits[0].label) == ("How many?", "Table 2")
    assert second.exhibits[0].html == "<p>There are no rows.</p>"
    page = render("s", [first, second], {})
    assert re.findall(r'href="#([^"]+)"', page) == [
        *("which-models-differ", "how-many", "what-was-run", "glossary")
    ]
    assert {*re.findall(r'id="([^"]+)"', page)} >= {*re.findall(r'href="#([^"]+)"', page)}
    assert "Long &amp; wide" in page
    assert 'alt="A &quot;figure&quot;"' in page
    assert '<img width="460" src="data:image/png;base64,' in page  # half of the text width


def test_the_answers_of_a_part_stand_at_its_beginning_and_the_first_two_lead_the_report(judged):
    answered = Part("How much do scores vary over seeds and during training?", ["One.", "Two.", "Three."])
    alone = render("s", [answered], {})
    assert '<p class="conclusion"><b>One.</b> Two.</p>' in alone
    assert "<p>Three.</p>" in alone
    joint = render("s", [Part("Is the best score better than chance?"), answered], {}, judged)
    assert '<p class="conclusion"><b>1 of the 3 settings is better than chance.</b>' in joint
    assert "<p>One.</p>" in joint


def series(**columns: object) -> pd.DataFrame:
    row = {"model": "m", "task": "t", "metric": "acc", "seeds": 2, "checkpoints": 3, "monotonicity": 1.0}
    row |= {"chance": float("nan"), "examples": 100, "leaves_chance": None, "final_deviation": float("nan")}
    return pd.DataFrame([row] * len(next(iter(columns.values())))).assign(**columns)


def test_losses_that_fall_get_better():
    (sentence,) = series_answer(series(metric=["word_perplexity"], monotonicity=[1.0]))
    assert (
        "The score improves steadily during training (monotonicity of at least 0.5) in 1 of 1 case"
        in sentence
    )
    assert "The score gets worse in none of them." in sentence
    # of metrics in several units, no mean over seeds is one number
    several = series(metric=["word_perplexity", "nll"], final_deviation=[3.0, 0.1])
    assert "only in the seed" not in " ".join(series_answer(several))


def test_the_best_prompt_of_a_study_leaves_chance():
    table = series(metric=["accuracy", "best_accuracy"], chance=[0.25] * 2, leaves_chance=[None, 1000])
    sentence = (
        "In 1 of 1 case with a known chance level, the best accuracy at the last checkpoint is significantly"
    )
    assert sentence in " ".join(series_answer(table))
    unclear = table.assign(examples=[100, -1])  # prompts with different numbers of examples
    assert "chance level" not in " ".join(series_answer(unclear))


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_the_difference_of_two_seeds_is_right_on_average(seeds):
    generator = np.random.default_rng(seeds)
    scores = generator.normal(size=(seeds, 20_000))
    table = series(final_deviation=scores.std(axis=0, ddof=1), seeds=[seeds] * 20_000)
    (_, sentence) = series_answer(table)
    stated = float(re.search(r"differ by ([\d.]+) at the last", sentence)[1])
    pairs = [abs(scores[i] - scores[j]).mean() for i in range(seeds) for j in range(i)]
    assert stated == pytest.approx(np.mean(pairs), rel=0.02)
    assert stated == pytest.approx(2 / np.sqrt(np.pi), rel=0.02)


def test_settings_with_fewer_prompts_are_named():
    judged = pd.DataFrame(
        {"model": ["m"] * 3, "task": ["a", "a", "b"], "shots": [0, 1, 1], "prompts": [1, 20, 3]}
    )
    fact = facts({"prompts": 20}, [], judged)["prompts"]
    assert fact == "20 for each task and number of shots (1 with 0 shots; only 3 of b, 1-shot)"
    assert facts({"prompts": 20}, [], judged[1:2])["prompts"] == "20 for each task and number of shots"
    # of several models, one has fewer
    two_models = pd.concat([judged, judged.assign(model="n", prompts=20)])[::-1]
    fact = facts({"prompts": 20}, [], two_models[two_models["shots"] > 0])["prompts"]
    assert fact == "20 for each task and number of shots (from 3 to 20, depending on the model, of b, 1-shot)"
    none_left = judged[:1].assign(prompts=0)
    assert facts({"prompts": 1}, [], none_left)["prompts"] == "1 for each task and number of shots"


def test_a_model_that_is_called_like_a_fact():
    model = {"name": "seed", "model": "org/m", "revision": "abc", "precision": "nf4", "versions": {}}
    listed = facts({"seed": 7}, [{"models": [model]}])
    assert (listed["seed"], listed["model seed"]) == ("7", "org/m (abc), nf4")


def test_tasks_whose_names_read_alike_keep_their_own_cells(judged):
    parts = []
    for number in range(9):
        for task, source in (("a_b", "good"), ("a b", "bad")):
            rows = judged[judged["task"] == source]
            parts.append(rows.assign(model=f"m{number}", task=task))
    page = render("a study", [], {"seed": "0"}, verdicts=pd.concat(parts))
    cells = re.findall(r'<td class="cell.*?<b>(.*?)</b>', page)
    assert cells == ["95%", "45%"] * 9


def test_shares_that_are_not_0_or_1_do_not_look_like_it():
    shares = {0.0: "0%", 1.0: "100%", 0.5: "50%", 0.0025: "0.2%", 0.9975: "99.8%", 0.99996: "99.996%"}
    shares |= {0.004: "0.4%", 0.006: "1%", 1 - 1e-9: "99.9999999%"}
    assert {share: rounded_percent(share) for share in shares} == shares
