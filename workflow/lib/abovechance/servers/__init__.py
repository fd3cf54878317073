"""Models that a server runs: asked for the log-probability of each of the study's own tokens."""
