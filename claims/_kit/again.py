"""A measurement that other work disturbed is taken again, and what was disturbed is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from claims._kit.conditions import Watched
from claims._kit.measure import Measured

TOLD = "measured again"


@dataclass(frozen=True)
class Taken:
    """One attempt: what was measured, in how many seconds, and what a watch of it says."""

    measured: Measured
    seconds: float
    objection: str
    seen: dict[str, Any]


def attempt(
    measure: Callable[[], Measured],
    watch: Callable[[], Callable[[], Watched]],
    clock: Callable[[], float],
) -> Taken:
    """Call ``measure`` while ``watch`` looks at the machine; the watch ends whatever comes."""
    stop = watch()
    started = clock()
    try:
        measured = measure()
    finally:
        seconds = clock() - started
        objection, seen = stop()
    return Taken(measured, seconds, objection, seen)


def until_undisturbed(
    take: Callable[[], Taken], *, again: int, forget: Callable[[], None]
) -> tuple[Measured, float]:
    """What the first undisturbed attempt measured, or the last of ``again`` further ones.

    The conditions alone decide, never what was measured, so that this favours no verdict. Each
    attempt that was thrown away stays in the notes, with its samples and the objection to them.
    ``forget`` drops what was disturbed wherever it is kept for another case.
    """
    before: list[dict[str, Any]] = []
    taken = take()
    while taken.objection:
        forget()
        if len(before) == again:
            break
        before.append({"because": taken.objection, "samples": taken.measured.samples})
        taken = take()
    told = {TOLD: before} if before else {}
    return taken.measured.watched(taken.objection, {**taken.seen, **told}), taken.seconds
