"""What all rules share: the checked config, names of files, and what makes a rule run again.

A study starts in one of five ways, ``rules/starts/<start>.smk``. Each defines for the rules after it:

    INPUTS                   the user's own files that it reads, for archives
    FACTS                    what it adds to the facts that decide which analyses follow
                             (abovechance.study.analyses)
    FETCHED                  what of it comes from the network, besides pinned downloads

those with predictions, for rules/by_model.smk and the analyses of these:

    MODELS, TASKS            what its settings are made of
    SHOTS                    {task: numbers of shots}
    TASK_TABLES              the tables of its tasks, where there are some
    FEATURES                 the table of what examples are like, where that is known
    GUESSED_TASKS            the tables of its tasks as guessers read them, if there are some
    PROMPTS_OF_SETTINGS      gives the tables of prompts of a file's settings; an empty list if there are none
    rules that make          PREDICTIONS, ACCURACY, and where it is asked for LIKELIHOODS, of each model

and the one with evaluations, EVALUATIONS. The start and each file of rules/analyses append what they make to

    TABLES, FIGURES          what is shown, in this order
    KEPT                     what else is made again where it was deleted, and goes into archives
    OF_REPORT                {name: what the report reads in addition}
    BESIDE_VERDICTS          {name: what verdicts shall carry}

Nothing after the start asks which of them it was.
"""

import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

WORKFLOW = Path(workflow.current_basedir).parent
if (WORKFLOW / "lib").is_dir():  # else the library is installed
    sys.path.insert(0, str(WORKFLOW / "lib"))

from abovechance.archive.contents import code_state
from abovechance.core.code import code_digest
from abovechance.core.errors import InputError
from abovechance.core.files import check_exist, file_name, files_below
from abovechance.core.provenance import digest, file_sha256
from abovechance.core.reading import read_yaml
from abovechance.results.outdated import list_results
from abovechance.shown.exhibits import (
    FIGURE_SUFFIXES,
    TABLE_SUFFIXES,
    ShownFigure,
    ShownTable,
)
from abovechance.study.analyses import Analysis, analyses_of, facts_of
from abovechance.study.config import (
    NO_SOURCE,
    distinct_models,
    precision_pairs,
    resolve,
    start_of,
)
from abovechance.study.config_file import check_recorded
from abovechance.study.formulations import drawn_as, formulations
from abovechance.study.prompts import BALANCED
from abovechance.study.task_sources import BIGBENCH, MADE
from abovechance.study.series import (
    compared_as,
    last_checkpoints,
    members,
    shown_of,
    training_of,
)
from abovechance.study.kinds import (
    DRAWN,
    HARDEST,
    NULL,
    TRAINING,
    TRAINING_NULL,
    kinds_of,
)

DOWNLOADS = yaml.safe_load((WORKFLOW / "downloads.yaml").read_text())
SCHEMA = yaml.safe_load((WORKFLOW / "schemas" / "config.schema.yaml").read_text())


def or_exit(function, *arguments):
    """Return what a function returns; a mistake in the user's input ends the run with a one-line error."""
    try:
        return function(*arguments)
    except InputError as error:
        # not Snakemake's own exception, which adds where in the workflow it was raised
        sys.exit(f"abovechance: error: {error}")


if len(workflow.overwrite_configfiles) > 1 and not workflow.modifier.skip_configfile:
    two = " and ".join(Path(file).name for file in workflow.overwrite_configfiles)
    sys.exit(f"abovechance: error: --configfile: expected one file, got {two}")
for config_file in workflow.configfiles:
    or_exit(read_yaml, Path(config_file))  # Snakemake takes the last of two like keys

CONFIG_FILES = ", ".join(map(str, workflow.configfiles)) or "--config"
STUDY = or_exit(resolve, config, SCHEMA, DOWNLOADS, CONFIG_FILES)
# The config's key is the paper's word; the library's parameter says that there are several.
SPLIT_OPTIONS = {
    "prompt_counts" if key == "tried" else key: value
    for key, value in STUDY.get("heldout", {}).items()
}
RESULTS = f"results/{STUDY['study']}"
KINDS = kinds_of(STUDY)  # of prompts, where some are scored

FACTS = facts_of(STUDY)
TABLES, FIGURES, KEPT, FETCHED = [], [], [], []
OF_REPORT, BESIDE_VERDICTS, QUESTIONS = {}, {}, {}


def table_file(name):
    """The file of a table that other rules read."""
    return f"{RESULTS}/tables/{name}.parquet"


def table_files(tables, suffixes=TABLE_SUFFIXES):
    """The files of tables."""
    names = [table.name for table in tables]
    return expand(f"{RESULTS}/tables/{{name}}.{{suffix}}", name=names, suffix=suffixes)


def figure_files(figures, suffixes=FIGURE_SUFFIXES):
    """The files of figures."""
    names = [figure.name for figure in figures]
    return expand(f"{RESULTS}/figures/{{name}}.{{suffix}}", name=names, suffix=suffixes)


def add_to_report(analysis):
    """Put the new tables and figures under the question that an analysis answers."""
    path = WORKFLOW / "rules" / "analyses" / f"{analysis}.smk"
    earlier = {exhibit for exhibits in QUESTIONS.values() for exhibit in exhibits}
    added = [exhibit for exhibit in (*FIGURES, *TABLES) if exhibit not in earlier]
    QUESTIONS.setdefault(Analysis.read(path).question, []).extend(added)


in_report = report  # which at the beginning of a line is another thing to Snakemake


def reported_tables(tables, category, caption=None):
    """The files of tables, of which Snakemake's own report shows those that open anywhere."""
    in_reports = [
        in_report(
            f"{RESULTS}/tables/{table.name}.csv",
            caption=caption,
            category=category,
            labels={"table": table.title or table.name.replace("_", " ")},
        )
        for table in tables
    ]
    return [*in_reports, *table_files(tables, ["parquet", "md", "tex"])]


def reported_figures(figures, caption=None):
    """The files of figures, of which Snakemake's own report shows the pictures."""
    in_reports = [
        in_report(
            f"{RESULTS}/figures/{figure.name}.png",
            caption=caption,
            category="Figures",
            labels={"figure": figure.title},
        )
        for figure in figures
    ]
    return [*in_reports, *figure_files(figures, ["pdf", "csv"])]


def code_of(script):
    """A digest of what a script does, worked out for the jobs that are there and not before."""
    return lambda wildcards: code_digest(WORKFLOW / "scripts" / script)


def state_of(sources):
    """Sizes and times of a user's files and of those in folders.

    Another file in the place of one is noticed, an older one too.
    """

    def state(wildcards):
        paths = map(Path, sources(wildcards) if callable(sources) else sources)
        return [
            [file.stat().st_size, file.stat().st_mtime_ns]
            for path in paths
            for file in files_below(path, "*")
        ]

    return state


@cache
def stored_state():
    """A digest of what another study has stored; nothing for other starts.

    Times do not show what has changed, because all files from archives have the same one.
    """
    if "stored" not in STUDY:
        return ""
    return digest(*[file_sha256(Path(file)) for file in INPUTS if Path(file).is_file()])


def bigbench_folders(tasks):
    """The folders of tasks in a checkout of BIG-bench; none if its sdist is read."""
    folder = Path(STUDY.get("bigbench", ""), "bigbench", "benchmark_tasks")
    return [folder / task for task in tasks] if "bigbench" in STUDY else []


def check_recorded_config(wildcards, output):
    """Nothing; the run ends where there are results of another config, and no record of how they were made.

    Snakemake does not record the value of a function of outputs, so no change of it is noticed.
    """
    if workflow.is_main_process and not workflow.dag_settings.forceall:
        or_exit(check_recorded, STUDY, Path(output[0]))
    return ""


def all_results(wildcards, output):
    """All results of the study; Snakemake does not record the value of a function of outputs."""
    return [str(file) for file in rules.all.input]


def no_costs(wildcards):
    """What `make cost` says of a study that scores nothing."""
    starts = "the study starts from existing results"
    sys.exit(f"abovechance: error: {CONFIG_FILES}: {starts}, so nothing is scored")


def download_path(name):
    return f"results/downloads/{DOWNLOADS[name]['file']}"


def downloads_of():
    """The files of the pinned downloads that the study reads."""
    models = [model.get("download") for model in STUDY.get("models", {}).values()]
    sources = [entry["source"] for entry in STUDY.get("tasks", {}).values()]
    bigbench = "bigbench" in sources or "release" in STUDY
    named = [*models, "bigbench" if bigbench and "bigbench" not in STUDY else None]
    return {DOWNLOADS[name]["file"] for name in named if name}


DOWNLOADS_OF_STUDY = [
    name for name, entry in DOWNLOADS.items() if entry["file"] in downloads_of()
]


def bigbench_source():
    """The file or folder that BIG-bench tasks are read from."""
    return STUDY.get("bigbench", download_path("bigbench"))


def finished():
    """What to look at now."""
    settings = workflow.dag_settings
    if set(settings.targets) == {"archive"}:
        files = "".join(f"\n  {name}" for name in ARCHIVES)
        return f"\nThe study '{STUDY['study']}' is archived in:{files}"
    partly = settings.targets or settings.until or settings.omit_from
    if partly or not Path(RESULTS, "report.html").is_file():
        return ""
    # --directory is not where people are
    results = Path(workflow.overwrite_workdir or "", RESULTS)
    verdicts = (
        f"  {results}/verdicts.csv         one row per model, task and number of shots"
    )
    return "\n".join(
        [
            f"\nThe study '{STUDY['study']}' is finished. Open these files:",
            f"  {results}/report.html          conclusions, figures, and explanations",
            *[verdicts] * ("verdicts" in OF_REPORT),
            f"  {results}/figures/             every figure as PDF, PNG and CSV",
            f"  {results}/tables/              every table as CSV, Markdown and LaTeX",
        ]
    )
