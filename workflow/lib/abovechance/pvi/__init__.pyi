from .consistency import (
    Correlation as Correlation,
    Summary as Summary,
    correlation as correlation,
    summary as summary,
)
from .exemplar_sets import (
    Anova as Anova,
    Repeated as Repeated,
    one_way as one_way,
    repeated_measures as repeated_measures,
)
from .pointwise import (
    bits as bits,
    by_group as by_group,
    over_choices as over_choices,
    pvi as pvi,
    v_information as v_information,
)
from .tails import (
    Tails as Tails,
    Threshold as Threshold,
    accuracy_of_tails as accuracy_of_tails,
    threshold as threshold,
)
