from . import (
    adaptive as adaptive,
)
from . import (
    anchors as anchors,
)
from . import (
    estimates as estimates,
)
from . import (
    model_fit as model_fit,
)
from . import (
    questions as questions,
)
from . import (
    response_theory as response_theory,
)
from . import (
    smaller as smaller,
)
from .classical import (
    item_statistics as item_statistics,
)
from .classical import (
    reliability as reliability,
)
from .classical import (
    row_scores as row_scores,
)
from .features import associations as associations
from .removal import pruning as pruning
from .splits import at_random as at_random
from .splits import by_group as by_group
from .splits import by_score as by_score
