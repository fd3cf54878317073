"""One line of progress on the screen: ``snakemake --logger abovechance``, as `make run` does.

Above it, one line for each setting as soon as it is scored: its verdict.
Snakemake's blocks of text on every job go to its own log alone; what went wrong is shown in full.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text
from snakemake.logging import DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_abovechance.remaining import Job, Run
from snakemake_logger_plugin_abovechance.work import ScoringJob

# Tells the jobs' scripts, and bars of progress in them, that somebody else shows how far they are.
SHOWN = {"ABOVECHANCE_PROGRESS": "1", "TQDM_DISABLE": "1"}
LOCKED = (
    "abovechance: error: another run works in {folder}, or one was killed there (kill -9, a power cut). If "
    "it was killed, use `abovechance run CONFIG -- --unlock` (in a clone: `make unlock`) and run again; "
    "finished work is kept"
)
INTERRUPTED = "Interrupted; the same command goes on from here."
NOTHING = "Nothing to be done: all that this command makes is there, and up to date."
SO_FAR = (
    "Better than chance? Best prompt vs expected best of as many random guessers\n"
    "(the report adds the randomization test and the correction for all settings):"
)
# How often a screen is drawn, and how often a line is written where the output goes to a file.
DRAWN, WRITTEN = 1.0, 60.0


class LogHandler(LogHandlerBase):
    """Shows a line of progress, and errors above it."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        common = self.common_settings
        os.environ.update(SHOWN)
        self.setFormatter(DefaultFormatter(common.quiet, common.show_failed_logs))
        self.whole = common.dryrun or common.verbose or common.debug_dag
        self.usual = DefaultFilter(
            common.quiet, common.debug_dag, common.verbose, common.dryrun, common.printshellcmds
        )
        self.console = Console(stderr=not common.stdout, no_color=common.nocolor, highlight=False)
        self.live: Live | None = None
        self.run = Run()
        self.interrupted = self.has_heading = self.nothing = False
        self.judged: set[Path] = set()
        self.judging: list[threading.Thread] = []
        self.verdicts = threading.Lock()
        self.over = threading.Event()
        threading.Thread(target=self._tick, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of what happened; show what went wrong."""
        if not self.whole:
            self._note(record, time.monotonic())
        if self.usual.filter(record) and (text := self._message(record, self.format(record))):
            self._show(text)

    def close(self) -> None:
        """Stop the clock; the last line stays on the screen."""
        self._end()
        super().close()

    def _end(self) -> None:
        if self.over.is_set():
            return
        for thread in self.judging:
            thread.join()
        self.over.set()
        if self.live is not None:
            self.live.update(Text("" if self.nothing or self.interrupted else self._line()), refresh=True)
            self.live.stop()  # which draws once more
        elif self.run.jobs_done:
            self._show(self._line())

    def _note(self, record: logging.LogRecord, clock: float) -> None:
        match getattr(record, "event", None), record.__dict__:
            case LogEvent.RUN_INFO, {"stats": stats}:
                self.run.plan(stats)
            case _, {"scoring_jobs": jobs}:
                self.run.expect(map(ScoringJob.from_record, jobs))
            case LogEvent.JOB_INFO, {"jobid": number, "rule_name": rule, "log": logs, "output": outputs}:
                self.run.start(number, Job(rule, clock, Path(logs[0]) if logs else None), outputs)
            case LogEvent.JOB_FINISHED, {"job_id": number}:
                job = self.run.end(number, clock)
                if job is not None:
                    self._judge_scored(job)
                if self.run.jobs_done == self.run.planned.total():
                    self._end()
            case LogEvent.JOB_ERROR, {"jobid": number}:
                self.run.end(number, clock, succeeded=False)

    def _message(self, record: logging.LogRecord, text: str) -> str:
        """Return the visible part of a message; empty for most messages."""
        if self.whole:
            return text
        if "on user request" in text and not self.interrupted:
            self.interrupted = True
            return INTERRUPTED
        if text.startswith("Nothing to be done"):
            self.nothing = True
            return NOTHING
        if record.levelno < logging.WARNING or self.interrupted or "SIGINT" in text:
            return ""
        return LOCKED.format(folder=Path.cwd()) if "cannot be locked" in text else text

    def _judge_scored(self, job: ScoringJob) -> None:
        """Show the verdicts on the settings that a job has scored since the last time."""
        for shots, path in job.scores.items():
            if job.judged and path not in self.judged and path.is_file():
                self.judged.add(path)
                self.judging.append(threading.Thread(target=self._judge, args=(job, shots), daemon=True))
                self.judging[-1].start()

    def _judge(self, job: ScoringJob, shots: int) -> None:
        """Show the verdict on a setting."""
        try:
            line = job.verdict(shots)
        except Exception as error:  # the run goes on, and its own job of verdicts ends with the same error
            line = f"{job.model}, {job.task}, {shots}-shot: no verdict yet ({error})"
        with self.verdicts:  # not the handler's lock, which the end of the run holds while it waits for this
            self._show(f"  {line}" if self.has_heading else f"{SO_FAR}\n  {line}")
            self.has_heading = True

    def _line(self) -> str:
        return self.run.line(time.monotonic())

    def _show(self, text: str) -> None:
        """A text of its own, above the line of progress where there is one."""
        self.console.print(Text(text), soft_wrap=True)

    def _tick(self) -> None:
        """Draw the line anew, until all is over."""
        screen, written = self.console.is_terminal, time.monotonic()
        while not self.over.wait(DRAWN):
            with self.lock or nullcontext():
                if self.over.is_set() or self.whole or not (self.run.planned or screen) or self.interrupted:
                    continue
                for job in [*self.run.running.values()]:
                    if job.scoring is not None:
                        self._judge_scored(job.scoring)
                if screen:
                    self._draw()
                elif time.monotonic() - written >= WRITTEN:
                    written = time.monotonic()
                    self._show(self._line())

    def _draw(self) -> None:
        if self.live is None:
            self.live = Live(console=self.console, auto_refresh=False)
            self.live.start()
        self.live.update(Text(self._line(), no_wrap=True, overflow="ellipsis"), refresh=True)
