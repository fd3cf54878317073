"""The log-likelihoods of choices, which no analysis of the report needs.

in:  likelihoods/ of each model, which each start makes in its own way
"""


rule likelihoods:
    """They are made if somebody asks for them."""
    input:
        of_all_models(LIKELIHOODS),
