"""Can I believe this score? Is it better than chance, which examples are hard, is the difference real?

The names that most people need. The packages ``chance``, ``best``, ``ladder``, ``metrics``, ``pvi``,
``compare``, ``variance``, ``items`` and ``doctor`` have the rest. Each is imported on first use, so that
nothing waits for libraries that it does not need.
"""

import lazy_loader

__version__ = "0.2.0.dev0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
