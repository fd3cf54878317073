from .baseline import RandomBaseline as RandomBaseline
from .best_of import BestOf as BestOf
from .planning import (
    examples_for_power as examples_for_power,
)
from .planning import (
    examples_needed as examples_needed,
)
from .planning import (
    least_above as least_above,
)
from .planning import (
    least_significant as least_significant,
)
from .planning import (
    power as power,
)
from .planning import (
    power_curve as power_curve,
)
from .planning import (
    prompts_allowed as prompts_allowed,
)
from .randomization import Answers as Answers
from .randomization import randomization_test as randomization_test
from .verdicts import Verdict as Verdict
