"""What long jobs ask of a cluster: memory and time by weights and texts, and a GPU where there is one.

Each is worked out when a job is about to start, since its inputs say it; more is asked for each time that a job
is run again. On one machine, nothing waits for memory or time.
"""

import os
import shutil
import subprocess
from functools import cache

from abovechance.scoring import demands


@cache
def gpus():
    """1 where jobs can have a GPU: as the cluster says of its nodes, or else as this machine does."""
    if shutil.which("sinfo") and (
        workflow.non_local_exec or "SLURM_JOB_ID" in os.environ
    ):
        command = ["sinfo", "--noheader", "--format=%G"]
    elif shutil.which("nvidia-smi"):
        command = ["nvidia-smi", "--list-gpus"]
    else:
        return 0
    output = subprocess.run(command, capture_output=True, text=True).stdout
    return int("gpu" in output.lower())


@cache
def of_files(null, weights, task, evaluation_set, *prompts):
    return or_exit(
        demands.Demands.from_tables, weights, task, evaluation_set, prompts, null
    )


def of_scoring(input, null=False, compared=False):
    """What a scoring job needs; FileNotFoundError, which Snakemake waits for, until its inputs are there."""
    weights = input.compared if compared else input.weights
    files = (weights, input.task, input.evaluation_set, *input.prompts)
    return of_files(null, *map(str, files))


def scoring_mb(wildcards, input, attempt):
    """Memory for the model, or for that which one on a server is compared with."""
    loaded = of_scoring(input, compared=bool(input.compared))
    return loaded.memory_mb(bool(gpus()), attempt)


def scoring_minutes(wildcards, input, attempt):
    threads = STUDY["scoring"]["threads"]
    return of_scoring(input).minutes(threads, bool(gpus()), attempt)


def null_minutes(wildcards, input, attempt):
    threads = STUDY["scoring"]["threads"]
    return of_scoring(input, null=True).minutes(threads, bool(gpus()), attempt)


def weights_mb(wildcards, input, attempt):
    return demands.weights_mb(input, attempt)


def quantizing_mb(wildcards, input, attempt):
    return demands.quantizing_mb(input[0], attempt)
