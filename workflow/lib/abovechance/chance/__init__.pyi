from .best_of import BestOf as BestOf
from .permutation import NullDistribution as NullDistribution, null_distribution as null_distribution
from .planning import (
    examples_for_power as examples_for_power,
    examples_needed as examples_needed,
    least_above as least_above,
    least_significant as least_significant,
    power as power,
    power_curve as power_curve,
    prompts_allowed as prompts_allowed,
)
from .random_baseline import RandomBaseline as RandomBaseline
from .randomization import Answers as Answers, randomization_test as randomization_test
from .verdicts import Verdict as Verdict
