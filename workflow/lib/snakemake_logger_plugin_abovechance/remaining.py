"""How far a run of the workflow is, and how long it still takes: from Snakemake's events and jobs' logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

# What a scoring job writes to its log, see score_cells.
TO_SCORE = re.compile(r"^\S+ \S+ (.+): (\d+) of \d+ prompts to score$", re.MULTILINE)
SCORED = re.compile(r"^\S+ \S+ (.+): (\d+) of \d+ prompts scored$", re.MULTILINE)


@dataclass
class Job:
    """A job that runs: since when, in seconds of a clock, and where it says how far it is."""

    rule: str
    began: float
    log: Path | None = None

    @property
    def prompts(self) -> tuple[int, int]:
        """How many prompts are scored, of how many; of none in a job that does not score."""
        try:
            text = self.log.read_text(errors="replace") if self.log else ""
        except OSError:
            text = ""
        scored, total = (
            sum({name: int(number) for name, number in pattern.findall(text)}.values())
            for pattern in (SCORED, TO_SCORE)
        )
        return scored, total


@dataclass
class Run:
    """The jobs of one run.

    Attributes
    ----------
    planned
        How many jobs of each rule there are.
    took
        How many seconds each job that is done took, by rule.
    most_at_once
        The most jobs that ran at once.
    """

    planned: Counter[str] = field(default_factory=Counter)
    began: float | None = None
    running: dict[int, Job] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)
    most_at_once: int = 1

    def plan(self, stats: Mapping[str, int]) -> None:
        """The jobs of the run, as Snakemake counts them."""
        self.planned = Counter({rule: jobs for rule, jobs in stats.items() if rule != "total"})

    def start(self, number: int, job: Job) -> None:
        """A job starts."""
        self.began = job.began if self.began is None else self.began
        self.running[number] = job
        self.most_at_once = max(self.most_at_once, len(self.running))

    def end(self, number: int, clock: float, succeeded: bool = True) -> None:
        """A job ends; one that is not done is not counted."""
        if (job := self.running.pop(number, None)) is not None and succeeded:
            self.took.setdefault(job.rule, []).append(clock - job.began)

    @property
    def jobs_done(self) -> int:
        """How many jobs are done."""
        return sum(map(len, self.took.values()))

    def seconds_left(self, clock: float) -> float | None:
        """About how many seconds the rest takes; None as long as nothing tells.

        A scoring job takes as long as its prompts so far did, for all its prompts. Another job, and one that
        has not started, takes as long as others of its rule on average; of a rule that is new, as the
        middle one of all that are known. Jobs run side by side as many as did at most.
        """
        lasts: dict[str, list[float]] = {rule: list(took) for rule, took in self.took.items()}
        rests = {}
        for number, job in self.running.items():
            scored, total = job.prompts
            if scored:
                whole = (clock - job.began) * total / scored
                lasts.setdefault(job.rule, []).append(whole)
                rests[number] = whole - (clock - job.began)
            elif total and job.rule not in lasts:
                return None
        if not lasts:
            return None
        usual = median(second for seconds in lasts.values() for second in seconds)
        mean = {rule: fmean(lasts[rule]) if rule in lasts else usual for rule in self.planned}
        for number, job in self.running.items():
            rests.setdefault(number, max(mean.get(job.rule, usual) - (clock - job.began), 0))
        waiting = self.planned - Counter({rule: len(took) for rule, took in self.took.items()})
        waiting -= Counter(job.rule for job in self.running.values())
        later = sum(mean[rule] * jobs for rule, jobs in waiting.items())
        return max([(sum(rests.values()) + later) / self.most_at_once, *rests.values()])

    def line(self, clock: float) -> str:
        """One line: jobs done, time left and time so far, and at the end, which may be cut off, what runs."""
        total = max(self.planned.total(), self.jobs_done + len(self.running))
        minutes, seconds = divmod(round(clock - (clock if self.began is None else self.began)), 60)
        parts = [f"{self.jobs_done} of {total} jobs done", f"{minutes}:{seconds:02d} so far"]
        if (seconds_left := self.seconds_left(clock)) is not None and self.jobs_done < total:
            parts.insert(1, f"about {in_words(seconds_left)} left")
        counts = [job.prompts for job in self.running.values()]
        if total_prompts := sum(all_of for _, all_of in counts):
            parts.append(f"scoring, {sum(scored for scored, _ in counts)} of {total_prompts} prompts")
        elif self.running:
            parts.append(", ".join(dict.fromkeys(job.rule for job in self.running.values())))
        return ", ".join(parts)


def in_words(seconds: float) -> str:
    """Return a time as people say it: 42 s, 12 min, 3 h 20 min.

    >>> in_words(41.7), in_words(95), in_words(12_000)
    ('42 s', '2 min', '3 h 20 min')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
