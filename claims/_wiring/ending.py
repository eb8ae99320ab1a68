"""How a run ends: its exit status, stale deviations, and the ledger's last row."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from claims._kit import deviations
from claims._kit.run import Run
from claims._kit.verdict import Verdict, exit_status
from claims._wiring.common import REPLAYED


def close(session: pytest.Session, run: Run, exitstatus: int) -> None:
    """The verdicts decide the exit status; a broken run keeps its own and gets no footer."""
    ended, today = _end(session.config)
    notes = deviations.stale(
        run.deviations, run.outcomes(), target=run.conditions.target, today=today
    )
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.exitstatus = status = _exit(run, notes, exitstatus)
        if ended and not run.unfinished():
            run.close(ended, status, notes)


def _end(config: pytest.Config) -> tuple[str, date]:
    """When the run ended, and the day on which known deviations are looked at.

    A replay says what the run would have said: its end is the run's, and one that was cut off has
    none.
    """
    now = datetime.now(UTC)
    if not (old := config.stash.get(REPLAYED, None)):
        return f"{now:%Y-%m-%d %H:%M:%S} UTC", date.today()
    ended = str(old.footer["finished"]) if old.footer else ""
    try:
        return ended, date.fromisoformat((ended or str(old.header["started"]))[:10])
    except ValueError:
        return ended, date.today()


def _exit(run: Run, notes: list[str], exitstatus: int) -> int:
    """The worst of verdicts, stale deviations, claims cut short, and tests that are no claim's."""
    claims = [(Verdict(r["verdict"]), bool(r["known"])) for r in run.finished.values()]
    claims += [(Verdict.VOID, False) for _ in run.unfinished()]
    if run.conditions.rehearsal and all(v is Verdict.NOT_APPLICABLE for v, _ in claims):
        return int(exitstatus)  # nothing crashed, and more was not asked for
    return 1 if notes else exit_status(claims) or int(exitstatus)
