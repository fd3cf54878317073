"""Whether a difference between scores is more than noise."""
