from .components import variance_components as variance_components
from .many import (
    flips as flips,
    paired as paired,
    pairs as pairs,
    prompted as prompted,
    ranks as ranks,
    together as together,
    trained as trained,
    unpaired as unpaired,
)
from .prompts import OverPrompts as OverPrompts, over_prompts as over_prompts
from .seeds import OverSeeds as OverSeeds, over_seeds as over_seeds
from .two_models import (
    Comparison as Comparison,
    compare as compare,
    exchanged as exchanged,
    mcnemar as mcnemar,
)
