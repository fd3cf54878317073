from .answers import continuous as continuous
from .measures import (
    analytic_error as analytic_error,
)
from .measures import (
    bootstrap_interval as bootstrap_interval,
)
from .measures import (
    final as final,
)
from .measures import (
    leaves_chance as leaves_chance,
)
from .measures import (
    monotonicity as monotonicity,
)
from .measures import (
    rank_correlation as rank_correlation,
)
from .measures import (
    seed_deviation as seed_deviation,
)
from .measures import (
    seed_mean as seed_mean,
)
from .measures import (
    signal_to_noise as signal_to_noise,
)
