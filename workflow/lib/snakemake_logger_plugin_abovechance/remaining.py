"""How far a run of the workflow is, and how long it still takes: from Snakemake's events and jobs' logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from snakemake_logger_plugin_abovechance.work import Progress, ScoringJob

# The stages of a study by rule, in words; every other rule analyses.
STAGES = {
    "download": "downloading",
    "train": "training models",
    "reader": "preparing models",
    "weights": "preparing models",
    "quantize": "preparing models",
    "task": "preparing tasks",
    "evaluation_set": "preparing tasks",
    "training_set": "preparing tasks",
    "prompts": "drawing prompts",
    "hardest_prompts": "drawing prompts",
    "token_counts": "counting tokens",
    "report": "writing the report",
    "archive": "packing the archive",
}
START = 10.0  # seconds that a scoring job takes before its first prompt, until one has been seen
UNSEEN = 2.0  # the least seconds of a job whose rule has not run yet: most of them import libraries


@dataclass
class Job:
    """A running job.

    Attributes
    ----------
    rule
        Its rule.
    began
        When it began, in seconds of a clock.
    log
        Its log, which has the progress of a scoring job.
    scoring
        What it scores, if the Snakefile lists it.
    """

    rule: str
    began: float
    log: Path | None = None
    scoring: ScoringJob | None = None

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return Progress.from_log(self.log)


@dataclass
class Speed:
    """How fast scoring is, from what jobs have scored so far.

    Attributes
    ----------
    scored
        {model: (bytes, seconds)} of prompts after each job's first.
    sizes
        {model: bytes of its weights}.
    starts
        Seconds that jobs took before their first prompt.
    """

    scored: dict[str, tuple[float, float]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)

    def add(self, job: ScoringJob, text: float, seconds: float) -> None:
        """Take into account that a job has scored so many bytes in so many seconds."""
        earlier = self.scored.get(job.model, (0.0, 0.0))
        self.scored[job.model] = earlier[0] + text, earlier[1] + seconds
        if (size := job.size()) is not None:
            self.sizes[job.model] = size

    def seconds_per_byte(self, job: ScoringJob) -> float | None:
        """Return the time of a byte under a job's model, or under others by the size of weights, if known."""
        speeds = {model: seconds / text for model, (text, seconds) in self.scored.items() if text and seconds}
        if job.model in speeds or not speeds:
            return speeds.get(job.model)
        size = job.size()
        return fmean(
            speed * (size / self.sizes[model] if size and self.sizes.get(model) else 1.0)
            for model, speed in speeds.items()
        )

    @property
    def start(self) -> float:
        """The time that a job takes before its first prompt."""
        return fmean(self.starts) if self.starts else START


@dataclass
class Run:
    """The jobs of one run.

    Attributes
    ----------
    planned
        The number of jobs of each rule.
    began
        When the first job began.
    running
        {number: job that runs}.
    took
        The seconds that each finished job took, by rule.
    most_at_once
        The largest number of jobs that ran at once.
    scoring
        {first scores file: scoring job} of the study.
    """

    planned: Counter[str] = field(default_factory=Counter)
    began: float | None = None
    running: dict[int, Job] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)
    most_at_once: int = 1
    scoring: dict[Path, ScoringJob] = field(default_factory=dict)
    waiting: set[Path] = field(default_factory=set)
    finished: list[tuple[ScoringJob, Progress, float]] = field(default_factory=list)

    def plan(self, stats: Mapping[str, int]) -> None:
        """Take the number of jobs of each rule, as Snakemake counts them."""
        self.planned = Counter({rule: jobs for rule, jobs in stats.items() if rule != "total"})

    def expect(self, jobs: Iterable[ScoringJob]) -> None:
        """Take all scoring jobs of the study, including those that are done."""
        self.scoring = {next(iter(job.scores.values())): job for job in jobs}
        self.waiting = {path for path, job in self.scoring.items() if not job.is_done}

    def start(self, number: int, job: Job, outputs: Iterable[str] = ()) -> None:
        """A job starts, and will write these files."""
        first = Path(next(iter(outputs), ""))
        job.scoring = self.scoring.get(first)
        self.waiting.discard(first)
        self.began = job.began if self.began is None else self.began
        self.running[number] = job
        self.most_at_once = max(self.most_at_once, len(self.running))

    def end(self, number: int, clock: float, succeeded: bool = True) -> ScoringJob | None:
        """A job ends; one that failed is not counted. Return what it has scored, if anything."""
        job = self.running.pop(number, None)
        if job is None or not succeeded:
            return None
        self.took.setdefault(job.rule, []).append(clock - job.began)
        if job.scoring is not None:
            self.finished.append((job.scoring, job.progress, clock - job.began))
        return job.scoring

    @property
    def jobs_done(self) -> int:
        """The number of finished jobs."""
        return sum(map(len, self.took.values()))

    def prompts_scored(self) -> tuple[int, int] | None:
        """Return the number of scored prompts, and of all prompts of the study; None while it is unknown."""
        scored = total = 0
        running = {id(job.scoring): job.progress for job in self.running.values() if job.scoring}
        for path, job in self.scoring.items():
            cells = job.prompts_by_cell()
            total += sum(cells.values())
            if (progress := running.get(id(job))) is not None:
                if not progress.to_score:  # the job has not said yet what it has to score
                    return None
                scored += (
                    sum(cells.values()) - sum(progress.to_score.values()) + sum(progress.scored.values())
                )
            elif path not in self.waiting:
                scored += sum(cells.values())
        return scored, total

    def seconds_left(self, clock: float) -> float | None:
        """Return the estimated time that the rest takes; None as long as it is unknown.

        The time of scoring follows from the text of the prompts that are left and the speed so far. Any other
        job takes as long as the jobs of its rule on average. If there was none, it takes as long as the
        median job, and at least ``UNSEEN``. As many jobs run at once as did at most.
        """
        speed = self._speed()
        rests = []
        for job in self.running.values():
            if job.scoring is None:
                continue
            rest = self._rest(job, speed, clock)
            if rest is None:
                return None
            rests.append(rest)
        waiting = self.planned - Counter({rule: len(took) for rule, took in self.took.items()})
        waiting -= Counter(job.rule for job in self.running.values())
        later = 0.0
        rules = {job.rule for job in self.scoring.values()}
        for rule in rules & set(waiting):
            seconds = self._seconds_of_waiting(rule, speed)
            if seconds is None:
                return None
            later += seconds * waiting.pop(rule)
        mean_seconds = {rule: fmean(took) for rule, took in self.took.items() if rule not in rules}
        if not (mean_seconds or rests or later):
            return None
        job_seconds = [seconds for rule in mean_seconds for seconds in self.took[rule]]
        usual = max(median(job_seconds or [UNSEEN]), UNSEEN)
        later += sum(mean_seconds.get(rule, usual) * jobs for rule, jobs in waiting.items())
        rests += [
            max(mean_seconds.get(job.rule, usual) - (clock - job.began), 0.0)
            for job in self.running.values()
            if job.scoring is None
        ]
        return max([(sum(rests) + later) / self.most_at_once, *rests])

    def _speed(self) -> Speed:
        speed = Speed()
        running = [(job.scoring, job.progress) for job in self.running.values() if job.scoring]
        for job, progress in [*running, *((job, progress) for job, progress, _ in self.finished)]:
            text = _bytes(job, progress.scored)
            first = next(iter(progress.scored), None)
            if text is not None and first is not None:
                speed.add(job, text - (_bytes(job, {first: 1}) or 0.0), progress.seconds)
        speed.starts = [
            took - progress.seconds for _, progress, took in self.finished if any(progress.scored.values())
        ]
        return speed

    def _rest(self, job: Job, speed: Speed, clock: float) -> float | None:
        """Return the seconds that a running scoring job still takes."""
        assert job.scoring is not None
        progress, rate = job.progress, speed.seconds_per_byte(job.scoring)
        to_score = progress.to_score or job.scoring.prompts_by_cell()
        unscored = {cell: number - progress.scored.get(cell, 0) for cell, number in to_score.items()}
        text = _bytes(job.scoring, unscored)
        if rate is None or text is None:
            return None
        start = 0.0 if progress.scored else max(speed.start - (clock - job.began), 0.0)
        return start + rate * text

    def _seconds_of_waiting(self, rule: str, speed: Speed) -> float | None:
        """Return the mean time of the jobs of a scoring rule that wait, or of all while theirs is unknown."""
        waiting = [job for path, job in self.scoring.items() if job.rule == rule and path in self.waiting]
        for jobs in (waiting, self.scoring.values()):
            times = []
            for job in jobs:
                rate, text = speed.seconds_per_byte(job), _bytes(job, job.prompts_by_cell())
                if rate is not None and text is not None:
                    times.append(speed.start + rate * text)
            if times:
                return fmean(times)
        return None

    def line(self, clock: float) -> str:
        """Return one line: the stage in words, what is done of all, the time left and the time so far."""
        if not self.planned:
            return "reading the study"
        total = max(self.planned.total(), self.jobs_done + len(self.running))
        minutes, seconds = divmod(round(clock - (clock if self.began is None else self.began)), 60)
        scoring = [job for job in self.running.values() if job.scoring is not None]
        parts = [self._stage()] if self.running else []
        if scoring and (prompts := self.prompts_scored()) is not None:
            parts.append(f"{prompts[0]} of {prompts[1]} prompts")
        else:
            parts.append(f"{self.jobs_done} of {total} jobs done")
        if (seconds_left := self.seconds_left(clock)) is not None and self.jobs_done < total:
            parts.append(f"about {in_words(seconds_left)} left")
        return ", ".join([*parts, f"{minutes}:{seconds:02d} so far"])

    def _stage(self) -> str:
        jobs = [*self.running.values()]
        if any(job.scoring is not None for job in jobs):
            return "scoring"
        stages = [STAGES.get(job.rule, "analysing") for job in jobs]
        return min(stages, key=[*dict.fromkeys(STAGES.values()), "analysing"].index)


def _bytes(job: ScoringJob, prompts: Mapping[str, int]) -> float | None:
    """Return the text of so many prompts of each cell; None if it is unknown."""
    by_cell = job.bytes_per_prompt()
    if by_cell is None:
        return None
    return sum(by_cell.get(cell, 0.0) * number for cell, number in prompts.items())


def in_words(seconds: float) -> str:
    """Return a time as people say it: 42 s, 2 min 30 s, 12 min, 3 h 20 min.

    >>> in_words(41.7), in_words(154), in_words(12_000)
    ('42 s', '2 min 30 s', '3 h 20 min')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    if seconds < 595:
        minutes, rest = divmod(round(seconds / 10) * 10, 60)
        return f"{minutes} min" + f" {rest} s" * bool(rest)
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
