"""A finished study as one file that goes with a paper: written, checked, and run again."""
