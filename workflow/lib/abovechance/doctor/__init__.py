"""Is this log broken? Checks on evaluation results for faults that look like ordinary scores.

suspicions = examine(rows)    # a row per example, as importers read them: what looks wrong, and why
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
