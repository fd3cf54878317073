"""Example data of commands (`--example`): answers and scores of studies, and published scores."""
