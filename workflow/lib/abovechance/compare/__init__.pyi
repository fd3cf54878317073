from .components import variance_components as variance_components
from .many import (
    Drawn as Drawn,
)
from .many import (
    flips as flips,
)
from .many import (
    paired as paired,
)
from .many import (
    pairs as pairs,
)
from .many import (
    ranks as ranks,
)
from .many import (
    together as together,
)
from .many import (
    trained as trained,
)
from .many import (
    unpaired as unpaired,
)
from .prompts import Interval as Interval
from .prompts import OverPrompts as OverPrompts
from .prompts import over_prompts as over_prompts
from .seeds import OverSeeds as OverSeeds
from .seeds import over_seeds as over_seeds
from .two_models import (
    Comparison as Comparison,
)
from .two_models import (
    compare as compare,
)
from .two_models import (
    exchanged as exchanged,
)
from .two_models import (
    mcnemar as mcnemar,
)
