from . import (
    adaptive as adaptive,
    anchors as anchors,
    estimates as estimates,
    model_fit as model_fit,
    questions as questions,
    response_theory as response_theory,
    smaller as smaller,
)
from .classical import (
    item_statistics as item_statistics,
    reliability as reliability,
    row_scores as row_scores,
)
from .features import associations as associations
from .removal import pruning as pruning
from .splits import at_random as at_random, by_group as by_group, by_score as by_score
