"""Evaluation that stops when a question is decided, at the place where users import it from.

    evaluation = Evaluation(better_than(0.25, examples=200), 200, way="random")
    while evaluation.decision is None:
        place = evaluation.next()                 # which example
        evaluation.tell(right_or_not(place))      # 1 or 0

A wrong decision is no more probable than `alpha`, however often one looks; with the way `information`, only
where the fitted model is right (docs/items.md says how often it errs elsewhere).
"""

from abovechance.item_analysis.adaptive import Evaluation, replay
from abovechance.item_analysis.questions import Question, better_of_two, better_than

__all__ = ["Evaluation", "Question", "better_of_two", "better_than", "replay"]
