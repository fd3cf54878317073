"""Training a small model from scratch, for studies of how scores vary over seeds and checkpoints."""
