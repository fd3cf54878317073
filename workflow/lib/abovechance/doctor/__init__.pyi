from .runs import (
    compare_runs as compare_runs,
    examine as examine,
)
from .suspicion import (
    Suspicion as Suspicion,
)
