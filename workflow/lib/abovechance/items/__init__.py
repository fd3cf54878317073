"""Which examples tell models apart? Functions on response matrices, (rows, items).

Rows are models, checkpoints or prompts, items are examples. Scores are 0 and 1, or any numbers; nan if a row
lacks an item.

    table = item_statistics(matrix)      # difficulty and discrimination of each example
    curves = pruning(train, test)        # what is lost with those that tell least
    table = associations(table)          # what goes with discrimination

The modules ``response_theory`` and ``model_fit`` have the two-parameter logistic model; ``anchors``,
``estimates`` and ``smaller`` what smaller benchmarks cost (Polo et al., *tinyBenchmarks*, 2024); ``adaptive``
and ``questions`` an evaluation that stops when a question is decided. The statistics are those of Madaan et
al., *Quantifying Variance in Evaluation Benchmarks* (2024), Sections 4 and 5.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
