import pytest

from abovechance.core.csv_table import FLAG, NUMBER, SHARE, CsvTable, whole_number
from abovechance.core.errors import InputError


@pytest.fixture
def table(tmp_path):
    def read(text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        return CsvTable.read(path)

    return read


@pytest.mark.parametrize(
    ("field", "texts", "values"),
    [
        (NUMBER, ["1.5", " -2 ", "3e2", "0,5"], [1.5, -2.0, 300.0, 0.5]),
        (SHARE, ["0", "1", ".5"], [0.0, 1.0, 0.5]),
        (
            FLAG,
            ["1", "0", "1.0", "0.0", "true", "FALSE", " 1 "],
            [True, False, True, False, True, False, True],
        ),
        (whole_number(0), ["0", "7", "3.0"], [0, 7, 3]),
        (whole_number(2, 9), ["2", "9"], [2, 9]),
    ],
)
def test_what_fields_are_read_as(field, texts, values):
    read = [field.value(text, "x") for text in texts]
    assert read == values
    assert [*map(type, read)] == [*map(type, values)]


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        (NUMBER, "high", "is 'high'; expected a number"),
        (NUMBER, "x" * 61, f"is '{'x' * 60}'; expected a number"),
        (SHARE, "-0.1", "is '-0.1'; expected a number from 0 to 1"),
        (SHARE, "1.1", "is '1.1' (per cent?); expected a number from 0 to 1"),
        (SHARE, "100", "is '100' (per cent?); expected a number from 0 to 1"),
        (SHARE, "101", "is '101'; expected a number from 0 to 1"),
        (SHARE, "62 %", "is '62 %' (per cent?); expected a number from 0 to 1"),
        (FLAG, "yes", "is 'yes'; expected 0 or 1"),
        (whole_number(1), "0", "is '0'; expected a whole number, at least 1"),
        (whole_number(0), "1.5", "is '1.5'; expected a whole number, at least 0"),
        (whole_number(2, 9000), "1", "is '1'; expected a whole number from 2 to 9,000"),
        (whole_number(2, 9000), "9001", "is '9001'; expected a whole number from 2 to 9,000"),
    ],
)
def test_what_is_said_of_a_wrong_field(field, text, message):
    with pytest.raises(InputError) as error:
        field.value(text, "f.csv, row 2: x")
    assert str(error.value) == f"f.csv, row 2: x {message}"


def test_values_are_those_of_their_column_and_errors_name_the_row(table):
    rows = table("a,b\n1,2\n\n3,x\n")
    assert rows.values("a", NUMBER) == [1.0, 3.0]
    with pytest.raises(InputError, match=r"t\.csv, row 4: b is 'x'; expected a number$"):
        rows.values("b", NUMBER)


@pytest.mark.parametrize(
    ("heading", "message"),
    [
        ("score,chance", ""),
        ("score", ""),
        ("chance", ": lacks the column 'score'; expected scores"),
        ("best_score", ": column 'best_score' is unknown; did you mean 'score'?; use --x"),
        ("score,chanse", ": column 'chanse' is unknown; did you mean 'chance'?; use --x"),
        ("score,q", ": column 'q' is unknown; known are: best_chance, chance, score; use --x"),
    ],
)
def test_columns_that_are_unknown_or_missing(table, heading, message):
    rows = table(f"{heading}\n{'1,' * heading.count(',')}1\n")
    problem = ""
    try:
        rows.check_columns(["score"], ["chance", "best_chance"], "scores", "use --x")
    except InputError as error:
        problem = str(error)
    assert problem == (f"{rows.path}{message}" if message else "")
    with pytest.raises(InputError, match="unknown; known are: a$"):
        rows.check_columns(["a"], [], "a")


def test_a_missing_column_is_meant_rather_than_an_optional_one(table):
    rows = table("accuracy\n1\n")
    with pytest.raises(InputError, match="column 'accuracy' is unknown; did you mean 'best_accuracy'"):
        rows.check_columns(["best_accuracy"], ["mean_accuracy"], "scores")
    with pytest.raises(InputError, match="column 'accuracy' is unknown; did you mean 'mean_accuracy'"):
        rows.check_columns([], ["best_accuracy", "mean_accuracy"], "scores")


def test_names_have_no_blanks_around_them_and_are_not_empty(table):
    rows = table("model,task\n a , t\n b,\n")
    named = rows.with_names("model", "shots")
    assert named.texts["model"].tolist() == ["a", "b"]
    assert [*named.texts.columns] == ["model", "task"]
    assert rows.texts["model"].tolist() != ["a", "b"]  # is not changed
    with pytest.raises(InputError, match=r"t\.csv, row 3: task is empty; expected a name$"):
        rows.with_names("model", "task")


def test_rows_that_agree_in_the_columns_that_the_file_has(table):
    rows = table("model,task,n\na,t,1\na,u,1\na,t,2\n")
    rows.check_unique("model", "task", "n")
    message = r"t\.csv, row 4: an earlier row has the same model and task; expected one row for each$"
    with pytest.raises(InputError, match=message):
        rows.check_unique("model", "task", "shots")
