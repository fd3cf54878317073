"""The frame of every script: a log, and errors in one line."""

import errno
import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from threadpoolctl import threadpool_limits

from abovechance.core.errors import InputError

STARTED = time.monotonic()  # before a job imports what takes seconds

SECONDS_TO_END = 5.0  # of an interrupted job; nothing is lost if it is killed then
# What goes wrong with a disk: it is full, or may not be written.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)


def interrupted(*_: object) -> None:
    """End the job in its own line and not in a traceback, and soon, also if threads wait for a server."""
    deadline = threading.Timer(SECONDS_TO_END, os._exit, [130])
    deadline.daemon = True
    deadline.start()
    sys.exit(130)


signal.signal(signal.SIGINT, interrupted)


@contextmanager
def logged(snakemake: Any, network: bool = False) -> Iterator[logging.Logger]:
    """Log to the rule's file, with the rule's threads; end with one clear line where the input is at fault.

    Only scripts that say so use the network: libraries ask the hub of models on this machine too. They
    read it when they are imported, which is inside of this.
    """
    if not network:
        os.environ["HF_HUB_OFFLINE"] = "1"
    path = Path(snakemake.log[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=path, filemode="w", level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it lists each glyph that a figure has
    logger = logging.getLogger("abovechance")
    # threads of several jobs that wait for one another take many times as long; by what is imported already,
    # and by what a job imports from here on
    os.environ["OMP_NUM_THREADS"] = str(snakemake.threads)
    try:
        with threadpool_limits(snakemake.threads):
            yield logger
    except InputError as error:
        logger.error(str(error))
        print(f"\nabovechance: error: {error}\n", file=sys.stderr, flush=True)
        sys.exit(1)
    except OSError as error:
        if error.errno not in DISK:
            logger.exception("rule %s failed", snakemake.rule)
            raise
        place, reason = error.filename or snakemake.output[0], os.strerror(error.errno)
        message = f"{place}: {reason}; what was done before is kept"
        logger.error(message)
        print(f"\nabovechance: error: {message}\n", file=sys.stderr, flush=True)
        sys.exit(1)
    except Exception:
        logger.exception("rule %s failed", snakemake.rule)
        raise


def progress(logger: logging.Logger, seconds: float = 5.0) -> Callable[[str], None]:
    """Return a function that logs every message, and shows one on the screen every few seconds.

    Nothing is shown where Snakemake's logger reads the log and shows one line for all jobs.
    """
    reported_at = math.inf if "ABOVECHANCE_PROGRESS" in os.environ else 0.0

    def report(message: str) -> None:
        nonlocal reported_at
        logger.info(message)
        if time.monotonic() - reported_at >= seconds:
            reported_at = time.monotonic()
            print(f"  {message}", file=sys.stderr, flush=True)

    return report
