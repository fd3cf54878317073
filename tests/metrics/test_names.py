"""What names of metrics show: shares of correct answers, other metrics, and several guesses."""

import pytest

from abovechance.metrics.names import accepts_several, is_other_metric, is_share_of_correct

# {name of a metric: whether it shows a share of correct answers, and another metric}
SHOWN = {
    **dict.fromkeys(
        ["acc", "Accuracy", "exactMatch", "ACC", "share correct", "EM", "acc,none"], (True, False)
    ),
    **dict.fromkeys(["pass@1", "Pass@1 (mean)", "chain_of_thought_correctness"], (True, False)),
    **dict.fromkeys(["accuracy per cent", "accuracy in per-cent", "PER CENT correct"], (True, False)),
    **dict.fromkeys(
        ["pass@10", "score", "rouge", "answer_correctness", "accuracy per class"], (False, False)
    ),
    **dict.fromkeys(["acc stderr", "wrong match", "accuracy gap", "error: correct"], (False, False)),
    **dict.fromkeys(["not correct", "NOT-correct", "notcorrect", "not_correct", "incorrect"], (False, True)),
    **dict.fromkeys(
        ["balanced accuracy", "macro acc", "partially correct", "f1", "weighted acc"], (False, True)
    ),
    **dict.fromkeys(["mismatch", "F-score"], (False, True)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_name_shows(name):
    assert (is_share_of_correct(name), is_other_metric(name)) == SHOWN[name]


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
