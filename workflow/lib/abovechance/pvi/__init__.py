"""Which examples are hard? Pointwise V-usable information (PVI) in context; functions on arrays, in bits.

The method is that of Lu et al., *Measuring Pointwise V-Usable Information In-Context-ly* (Findings of EMNLP
2023).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
