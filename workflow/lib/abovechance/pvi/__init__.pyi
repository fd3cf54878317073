from .consistency import (
    Correlation as Correlation,
)
from .consistency import (
    Summary as Summary,
)
from .consistency import (
    correlation as correlation,
)
from .consistency import (
    summary as summary,
)
from .exemplar_sets import (
    Anova as Anova,
)
from .exemplar_sets import (
    Repeated as Repeated,
)
from .exemplar_sets import (
    one_way as one_way,
)
from .exemplar_sets import (
    repeated_measures as repeated_measures,
)
from .pointwise import (
    Information as Information,
)
from .pointwise import (
    bits as bits,
)
from .pointwise import (
    by_group as by_group,
)
from .pointwise import (
    over_choices as over_choices,
)
from .pointwise import (
    pvi as pvi,
)
from .pointwise import (
    v_information as v_information,
)
from .tails import (
    Tails as Tails,
)
from .tails import (
    Threshold as Threshold,
)
from .tails import (
    accuracy_of_tails as accuracy_of_tails,
)
from .tails import (
    threshold as threshold,
)
