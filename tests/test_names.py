from pathlib import Path

from tests.names import unknown_parameters, weak_names

CODE = '''
class Table:
    def __eq__(self, other):
        return True

    def told(self, given, rows):
        """Return a sum.

        Parameters
        ----------
        rows, columns
            What is summed.
        """
        total = found = [own for own in rows]
        self.kept, first = total, lambda which: which
'''
RULES = "MODELS, shots = 1, 2\nwhat = lambda wildcards: [each for each in wildcards]\n"


def test_names_that_do_not_say_what_a_value_is_are_listed(tmp_path: Path):
    code, rules = tmp_path / "code.py", tmp_path / "rules.smk"
    code.write_text(CODE)
    rules.write_text(RULES)
    assert {name for _, name in weak_names(code)} == {"told", "given", "found", "own", "kept", "which"}
    assert sorted(weak_names(rules)) == [(2, "each"), (2, "what")]


def test_a_docstring_that_describes_no_parameter_is_listed(tmp_path: Path):
    (tmp_path / "code.py").write_text(CODE)
    assert [name for _, name in unknown_parameters(tmp_path / "code.py")] == ["columns"]
