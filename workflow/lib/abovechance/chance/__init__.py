"""Is a score better than chance? The random baselines, and planning with them.

The method is that of Yauney and Mimno, *Stronger Random Baselines for In-Context Learning* (COLM 2024).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
