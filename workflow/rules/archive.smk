"""The study as one file that goes with a paper, where it is asked for: `make archive`.

in:  all results, the user's own files, the workflow itself
out: archive/<study>.zip, and where the config wants it so, archive/<study>-scores.zip
"""

ARCHIVES = [f"{RESULTS}/archive/{STUDY['study']}.zip"]
if STUDY["archive"]["scores"] == "beside":
    ARCHIVES.append(f"{RESULTS}/archive/{STUDY['study']}-scores.zip")


rule archive:
    """Write the config, code, hashes of inputs, results and report to one archive."""
    input:
        rules.all.input,
    output:
        ARCHIVES,
    log:
        f"{RESULTS}/logs/archive.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        config=STUDY,
        folder=lambda wildcards, output: str(Path(output[0]).parents[1]),
        inputs=INPUTS,
        state=state_of(INPUTS),
        downloads=[DOWNLOADS[name] for name in DOWNLOADS_OF_STUDY],
        workflow=str(WORKFLOW.parent),
        workflow_state=lambda wildcards: code_state(WORKFLOW.parent),
        code=code_of("archive.py"),
    script:
        "../scripts/archive.py"
