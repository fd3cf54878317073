"""Is it better than chance? The baselines, verdicts, tests and plans."""
