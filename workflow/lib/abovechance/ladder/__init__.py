"""Which simple guessers does the best prompt beat? A ladder from uniform guessing to the strongest heuristic.

table = climb(predictions, task)    # tables of one setting: a row for each guesser, the weakest first
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
