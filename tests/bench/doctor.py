"""How many injected faults `abovechance doctor` reports, and how many sound logs raise an alarm."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from abovechance.importers import Options, diagnose
from tests.doctor.logs import FAULTS, WRITERS, sound

SEEDS = range(10)
SOUND_LOGS = 500


def checks(folder: Path) -> set[str]:
    """Return the checks that raise an alarm."""
    diagnoses, _ = diagnose([folder], Options(command="doctor"))
    signs = [diagnosis.suspicion for diagnosis in diagnoses]
    return {suspicion.check for suspicion in signs if suspicion.severity != "note"}


def faults(root: Path) -> pd.DataFrame:
    """Return a row per injected fault: the share of logs in which it is reported."""
    rows = []
    for name, fault in FAULTS.items():
        reports = []
        for writer in fault.writers:
            for seed in SEEDS:
                folder = root / name / writer / str(seed)
                for number, log in enumerate(fault.inject(seed)):
                    WRITERS[writer](log, folder / str(number))
                reports.append(fault.check in checks(folder))
        rows.append(
            {
                "fault": name,
                "check": fault.check,
                "formats": ", ".join(fault.writers),
                "logs": len(reports),
                "reported": sum(reports),
            }
        )
    return pd.DataFrame(rows)


def false_alarms(root: Path, logs: int = SOUND_LOGS) -> Counter[str]:
    """Return how many sound logs raise each alarm."""
    counts: Counter[str] = Counter()
    for seed in range(logs):
        writer = list(WRITERS.values())[seed % len(WRITERS)]
        writer(sound(seed), root / str(seed))
        counts.update(checks(root / str(seed)))
    return counts


def reports(sound_logs: int = SOUND_LOGS) -> Iterator[dict[str, object]]:
    """Yield the page's rows."""
    with tempfile.TemporaryDirectory() as folder:
        broken = faults(Path(folder) / "faults")
        yield {
            "logs": f"with one of {len(broken)} faults",
            "number": int(broken["logs"].sum()),
            "reported": int(broken["reported"].sum()),
        }
        alarms = false_alarms(Path(folder) / "sound", sound_logs)
        yield {"logs": "sound", "number": sound_logs, "reported": sum(alarms.values())}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(faults(Path(folder) / "faults").to_markdown(index=False))
        counts = false_alarms(Path(folder) / "sound")
    print(f"\n{sum(counts.values())} alarms in {SOUND_LOGS} sound logs: {dict(counts)}")


if __name__ == "__main__":
    main()
