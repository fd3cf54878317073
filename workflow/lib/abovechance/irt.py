"""Item response theory, at the place where users import it from.

    items = fit(matrix)                  # the two-parameter logistic model
    table = abilities(items, matrix)     # of each row

Functions on response matrices of 0 and 1, (rows, items), nan where a row lacks an item.
"""

from abovechance.item_analysis.response_theory import Items, abilities, fit, most_likely

__all__ = ["Items", "abilities", "fit", "most_likely"]
