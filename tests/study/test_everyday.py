"""The easy task of the default study."""

from abovechance.study.everyday import CHOICES, THINGS, everyday_task
from abovechance.study.tasks import TASKS


def test_every_question_has_one_answer_among_four_and_the_task_never_changes():
    table = everyday_task()
    assert [*table] == [*TASKS.columns]
    assert len(table) == 56 == table["example"].nunique()
    kinds = {thing: kind for kind, things in THINGS.items() for thing in things}
    for row in table.itertuples():
        assert len({*row.choices}) == CHOICES == len(row.correct)
        assert [choice for choice, correct in zip(row.choices, row.correct, strict=True) if correct] == [
            kinds[row.example]
        ]
    assert "What kind of thing is an eagle?" in table["text"].iloc[2]
    assert table.equals(everyday_task())
    # no position gives the answer away
    positions = [row.correct.index(True) for row in table.itertuples()]
    assert max(positions.count(place) for place in range(CHOICES)) <= 21
