"""How much an example's input tells a model about its answer: which examples are hard for it."""
