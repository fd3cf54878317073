"""How much does a score vary over seeds, checkpoints and examples?

Functions on arrays of (seeds, checkpoints). The measures are those of Madaan et al., *Quantifying Variance in
Evaluation Benchmarks* (2024).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
