"""The log-likelihoods of choices, which no analysis of the report needs.

in:  likelihoods/ of each model, which each start makes in its own way
"""


rule likelihoods:
    """Make the log-likelihoods of all choices, if they are requested."""
    input:
        of_all_models(LIKELIHOODS),
