"""Read a release: its predictions as they are and mended, their accuracies, and the audit."""

import sys
from pathlib import Path

from script_log import logged, progress

from abovechance.core.tables import read_table
from abovechance.published.predictions import Files, take_in
from abovechance.published.release import Release

with logged(snakemake) as log:
    by_model = {
        name: dict(zip(snakemake.params.models, map(Path, snakemake.output[name]), strict=True))
        for name in ("released", "released_accuracy", "predictions", "accuracy")
    }
    files = Files(**by_model, audit=Path(snakemake.output.audit))
    examples = read_table(snakemake.input.examples)
    problems = take_in(Release(Path(snakemake.input.release)), examples, files, progress(log))
    if problems:
        first = f"{problems[0].file}: {problems[0].problem}"
        problem = f"{len(problems)} files of the release are missing or not used: {first}"
        print(f"\n  {problem} ...\n  the rest is in {files.audit}\n", file=sys.stderr, flush=True)
