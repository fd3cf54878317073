"""Pointwise V-usable information in context, at the place where users import it from.

Functions on arrays; all of them in bits. The method is that of Lu et al., *Measuring Pointwise V-Usable
Information In-Context-ly* (Findings of EMNLP 2023).
"""

from abovechance.information.consistency import Correlation, Summary, correlation, summary
from abovechance.information.exemplar_sets import Anova, Repeated, one_way, repeated_measures
from abovechance.information.pointwise import Information, bits, by_group, over_choices, pvi, v_information
from abovechance.information.tails import Tails, Threshold, accuracy_of_tails, threshold

__all__ = [
    "Anova",
    "Correlation",
    "Information",
    "Repeated",
    "Summary",
    "Tails",
    "Threshold",
    "accuracy_of_tails",
    "bits",
    "by_group",
    "correlation",
    "one_way",
    "over_choices",
    "pvi",
    "repeated_measures",
    "summary",
    "threshold",
    "v_information",
]
