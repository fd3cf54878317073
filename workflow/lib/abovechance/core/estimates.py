"""What an estimate is given with, and at which levels that is by default."""

CONFIDENCE = 0.95  # of intervals
ALPHA = 0.05  # the significance level of tests
