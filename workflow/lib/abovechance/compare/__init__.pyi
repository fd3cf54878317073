from .components import variance_components as variance_components
from .leaderboard import unpaired as unpaired
from .many import flips as flips, pairs as pairs, ranks as ranks
from .over_tasks import together as together
from .prompts import OverPrompts as OverPrompts, over_prompts as over_prompts
from .samples import paired as paired, prompted as prompted, trained as trained
from .seeds import OverSeeds as OverSeeds, over_seeds as over_seeds
from .two_models import (
    Comparison as Comparison,
    compare as compare,
    exchanged as exchanged,
    mcnemar as mcnemar,
)
