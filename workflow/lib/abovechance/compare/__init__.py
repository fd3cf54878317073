"""Is one model better than another? Functions on arrays of scores: 0 and 1, or any numbers.

result = compare(first, second)         # two models on the same examples
table = ranks(paired(scores), names)    # many models
table = ranks(trained(seeds), names)    # many models, with several training seeds each
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
