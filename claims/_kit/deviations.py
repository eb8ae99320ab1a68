"""Known refutations: a dated list beside the claims, in which a stale line fails the run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from claims._kit.verdict import Verdict
from fixtures.needs import CannotRun


class DeviationError(CannotRun):
    """The list of known refutations cannot be used; one line says where and why."""


FILE = Path(__file__).parents[1] / "deviations.toml"


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One claim (and case) that a target is known to refute, why, and when to look again.

    ``target`` is ``*`` where the claim does not depend on the model. ``witness`` is the smallest
    input that was seen to show it, and the command that repeats it.
    """

    claim: str
    target: str
    why: str
    review_by: date
    case: str = ""
    witness: str = ""


def read(path: Path = FILE) -> list[Deviation]:
    """The deviations in ``path``; DeviationError in one line where it cannot be read."""
    try:
        lines = tomllib.loads(path.read_text(encoding="utf-8")).get("deviation", [])
    except (OSError, ValueError) as error:
        raise DeviationError(f"{path}: cannot be read: {error}") from None
    return [_line(path, number, line) for number, line in enumerate(lines, start=1)]


def _line(path: Path, number: int, line: dict[str, Any]) -> Deviation:
    where = f"{path}: deviation {number} ({line.get('claim', 'no claim')})"
    known = {f.name: f.default is MISSING for f in fields(Deviation)}
    if odd := sorted(line.keys() - known.keys()):
        raise DeviationError(f"{where}: unknown key {odd[0]!r}; it takes {', '.join(known)}")
    if lacking := [name for name, needed in known.items() if needed and name not in line]:
        raise DeviationError(f"{where}: it lacks {', '.join(lacking)}")
    return Deviation(**line)


def known(deviations: Iterable[Deviation], *, claim: str, case: str, target: str) -> str:
    """Why ``target`` is known to refute this case of the claim; empty when it is not."""
    for d in deviations:
        if d.claim == claim and d.target in ("*", target) and d.case in ("", case):
            return d.why
    return ""


def stale(
    deviations: Iterable[Deviation],
    outcomes: dict[tuple[str, str], Verdict],
    *,
    target: str,
    today: date,
) -> list[str]:
    """One line for each deviation of ``target`` that the run no longer bears out.

    ``outcomes`` maps (claim, case) to what this run saw; cases it did not judge say nothing.
    """
    lines = []
    for d in deviations:
        seen = [
            v for (claim, case), v in outcomes.items() if claim == d.claim and d.case in ("", case)
        ]
        if d.target not in ("*", target) or not seen:
            continue
        where = f"claims/deviations.toml: {d.claim}" + (f" [{d.case}]" if d.case else "")
        if Verdict.REFUTED not in seen and Verdict.CONFIRMED in seen:
            lines.append(f"{where} is confirmed now on {target}; delete the line")
        elif d.review_by < today:
            lines.append(f"{where} is past its review date {d.review_by}; look again")
    return lines
