"""Is the best in-context-learning score better than chance? From task files to figures."""

from snakemake.utils import min_version

min_version("9.0")

# A study is one whole file: another one replaces config.yaml and does not add to it.
if "study" not in config:

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/downloads.smk"


if RELEASE:

    include: "workflow/rules/release.smk"

elif IMPORTED:

    include: "workflow/rules/imported.smk"

else:

    include: "workflow/rules/tasks.smk"
    include: "workflow/rules/models.smk"
    include: "workflow/rules/scores.smk"


include: "workflow/rules/analysis.smk"
include: "workflow/rules/report.smk"


report: "workflow/report/workflow.rst"


rule all:
    default_target: True
    input:
        f"{RESULTS}/report.html",
        f"{RESULTS}/config.yaml",
        FIGURES,
        TABLES,


onsuccess:
    print(finished(), file=sys.stderr)


onerror:
    print(
        "\nThe study is not finished. The error above says why; what is done is kept, and running "
        "the same command again goes on from there.",
        file=sys.stderr,
    )
