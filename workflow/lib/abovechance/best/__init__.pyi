from .candidates import Candidates as Candidates
from .debiased import (
    Debiased as Debiased,
    debiased_difference as debiased_difference,
    debiased_score as debiased_score,
)
from .gate import Decision as Decision, Gate as Gate
from .gepa import GateCallback as GateCallback
from .planning import examples_for_difference as examples_for_difference
from .reported import BestByLuck as BestByLuck, expected_best as expected_best
from .selection import SelectionNull as SelectionNull, selection_null as selection_null
from .summary import Best as Best, judge_best as judge_best, judge_reported as judge_reported
