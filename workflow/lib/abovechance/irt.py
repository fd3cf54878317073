"""Item response theory, at the place where users import it from.

    items = fit(matrix)                  # the two-parameter logistic model
    table = abilities(items, matrix)     # of each row
    held_out(matrix)                     # whether it fits, beside simpler models

Functions on response matrices of 0 and 1, (rows, items), nan where a row lacks an item.
"""

from abovechance.item_analysis.model_fit import held_out, item_fit
from abovechance.item_analysis.response_theory import Items, abilities, fit, most_likely

__all__ = ["Items", "abilities", "fit", "held_out", "item_fit", "most_likely"]
