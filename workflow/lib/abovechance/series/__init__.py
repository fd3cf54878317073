"""Series of models: seeds and checkpoints of one training, and how much their scores vary."""
