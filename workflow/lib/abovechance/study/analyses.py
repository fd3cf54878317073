"""Which analyses follow in a study: what they need, against what the study has.

Each file of ``rules/analyses`` begins with a text that says what it needs and where it is shown, in lines
that are not indented:

    needs: predictions, series or formulations
    after: models
    before: verdicts
    instead of: expected_maximum
    question: Which models differ?

``needs`` are facts about the study. It must have them all; ``or`` separates facts of which one is enough.
``after`` and ``before`` name analyses whose files are included before or after this one. An analysis is left
out if another one follows ``instead of`` it. ``question`` is the heading in the report that the analysis
belongs under; analyses with the same question share it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from abovechance.study.config import precision_pairs
from abovechance.study.formulations import formulations
from abovechance.study.kinds import HARDEST, NULL, kinds_of
from abovechance.study.series import last_checkpoints, members

# {fact: what a study has that has it}
FACTS = {
    "predictions": "predictions of each model, and their accuracies",
    "tasks": "the tables of its tasks",
    "scores": "scores of each choice",
    "null scores": "scores of choices without the inputs (the key pvi)",
    "hardest scores": "scores behind the hardest demonstrations (the key pvi)",
    "release": "a release of predictions",
    "choices": "results of other tools with the texts of choices",
    "series": "models that are seeds and checkpoints of one training",
    "seeds": "models that were trained several times",
    "formulations": "tasks in several formats",
    "precisions": "a model in two precisions",
    "several models": "models to compare",
    "items": "the key items",
}


@dataclass(frozen=True)
class Analysis:
    """The declarations in a file of ``rules/analyses``."""

    name: str
    needs: tuple[str, ...]
    after: tuple[str, ...]
    before: tuple[str, ...]
    instead_of: tuple[str, ...]
    question: str

    @classmethod
    def read(cls, path: Path) -> Analysis:
        """Read the declaration of a file.

        Raises
        ------
        ValueError
            If it declares something else, or needs a fact that is not among ``FACTS``.
        """
        text = re.match(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)
        lines = re.findall(r"^([a-z ]+): +(.+)$", text[1] if text else "", re.MULTILINE)
        declared = dict(lines)
        keys = ("needs", "after", "before", "instead of")
        if unknown := [key for key, _ in lines if key not in (*keys, "question", "in", "out")]:
            raise ValueError(
                f"{path}: declares '{unknown[0]}'; expected {', '.join(keys)}, question, in, out"
            )
        if len(declared) < len(lines):
            raise ValueError(f"{path}: declares a word twice; expected one line for each")
        needs, after, before, instead_of = (_names(declared.get(key, "")) for key in keys)
        analysis = cls(path.stem, needs, after, before, instead_of, declared.get("question", "More results"))
        facts = {fact for need in analysis.needs for fact in need.split(" or ")}
        if not analysis.needs or not facts <= {*FACTS}:
            raise ValueError(f"{path}: needs {', '.join(facts) or 'nothing'}; expected some of {[*FACTS]}")
        if path.stem in (*analysis.after, *analysis.before, *analysis.instead_of):
            raise ValueError(f"{path}: names itself; expected other analyses")
        return analysis

    def follows(self, facts: Set[str]) -> bool:
        """Return whether a study with these facts has all that it needs."""
        return all(facts & {*need.split(" or ")} for need in self.needs)


def _names(line: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in line.split(",") if name.strip())


def facts_of(study: Mapping[str, Any]) -> set[str]:
    """The facts about a study that its config alone decides; its start and ``by_model.smk`` add others."""
    models, tasks, kinds = study.get("models", {}), study.get("tasks", {}), kinds_of(study)
    trainings = [name for name, _ in last_checkpoints(models).values()]
    decided = {
        "null scores": NULL in kinds,
        "hardest scores": HARDEST in kinds,
        "series": bool(members(models)),
        "seeds": len(trainings) > len({*trainings}),
        "formulations": bool(formulations(tasks)),
        "precisions": bool(precision_pairs(models)),
        "items": "items" in study,
    }
    return {fact for fact, is_so in decided.items() if is_so}


def analyses_of(folder: Path, facts: Iterable[str]) -> list[str]:
    """Return the analyses that follow in a study with these facts, in the order in which they are shown.

    Parameters
    ----------
    folder
        ``rules/analyses``; every file in it is an analysis.

    Raises
    ------
    ValueError
        If a file declares nothing, unknown facts or unknown analyses.
    """
    declared = {path.stem: Analysis.read(path) for path in sorted(folder.glob("*.smk"))}
    earlier = {name: {*analysis.after} for name, analysis in declared.items()}
    for name, analysis in declared.items():
        named = {*analysis.after, *analysis.before, *analysis.instead_of}
        if unknown := sorted(named - {*declared}):
            raise ValueError(f"{folder / name}.smk: names {unknown[0]}; expected some of {[*declared]}")
        for later in analysis.before:
            earlier[later].add(name)
    following = {name for name, analysis in declared.items() if analysis.follows({*facts})}
    replaced = {replaced_name for name in following for replaced_name in declared[name].instead_of}
    try:
        order = [*TopologicalSorter(earlier).static_order()]
    except CycleError as error:
        raise ValueError(f"{folder}: {' before '.join(error.args[1])}; expected no circle") from None
    return [name for name in order if name in following - replaced]
