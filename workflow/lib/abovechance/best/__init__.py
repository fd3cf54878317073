"""How much of the best score is luck? Functions on the scores of candidates for the same examples.

result = judge_best(Candidates.from_scores(scores), start=0)    # (candidates, examples) numbers from 0 to 1
luck = expected_best(0.39, examples=20, candidates=34)          # only scores are known
gate = Gate("seed", scores_of_seed, planned=30)                 # during a search
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
