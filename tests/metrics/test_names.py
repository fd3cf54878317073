"""Names of metrics that accept several guesses."""

import pytest

from abovechance.metrics.names import accepts_several


@pytest.mark.parametrize(
    ("name", "several"),
    [
        *(
            (name, True)
            for name in ("r@2", "recall@10", "exact_match@5", "hits@3", "top-5 accuracy", "top_3_acc")
        ),
        *(
            (name, True)
            for name in ("acc_at_5", "pass@k:k=4", "recall", "Hits", "hit@k", "quasi_exact_match@5")
        ),
        *(
            (name, False)
            for name in ("acc", "acc_norm", "exact_match", "r@1", "recall@1", "hits_at_1", "top-1")
        ),
        *((name, False) for name in ("pass@1", "pass@k:k=1", "mc1", "stop-2", "acc@remote", "match5")),
        *((name, False) for name in ("maj@8", "cons@64", "avg@32", "acc (k=5)")),
    ],
)
def test_metrics_that_accept_several_guesses(name, several):
    assert accepts_several(name) == several
