from .answers import continuous as continuous
from .measures import (
    analytic_error as analytic_error,
    bootstrap_interval as bootstrap_interval,
    final as final,
    leaves_chance as leaves_chance,
    monotonicity as monotonicity,
    rank_correlation as rank_correlation,
    seed_deviation as seed_deviation,
    seed_mean as seed_mean,
    signal_to_noise as signal_to_noise,
)
