"""Metrics: numbers that say how well predictions agree with gold answers.

metric("f1_macro").value(predictions, gold)    # one candidate's
Metric("my_metric", "share of ...", my_function)    # a metric of your own
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
