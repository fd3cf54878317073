"""The workflow lies in workflow/Snakefile; this one is for `snakemake` in the project's folder."""


include: "workflow/Snakefile"


# The targets of an included file are not those of the file that includes it.
rule study:
    default_target: True
    input:
        rules.all.input,
