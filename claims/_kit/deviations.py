"""Known refutations: a dated list beside the claims, in which a stale line fails the run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from claims._kit.verdict import Verdict

FILE = Path(__file__).parents[1] / "deviations.toml"


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One claim (and case) that a target is known to refute, why, and when to look again.

    ``target`` is ``*`` where the claim does not depend on the model.
    """

    claim: str
    target: str
    why: str
    review_by: date
    case: str = ""


def read(path: Path = FILE) -> list[Deviation]:
    """The deviations in ``path``; a misspelt key is a TypeError that names it."""
    lines = tomllib.loads(path.read_text(encoding="utf-8")).get("deviation", [])
    return [Deviation(**line) for line in lines]


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
