"""One verdict from several processes (ranks) that hold a model together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from claims._kit.verdict import Judgement, Verdict

MEASURED, LACKING, UNUSABLE, CRASHED = "measured", "not applicable", "cannot run", "crashed"
NOT_MINE = "needs no model: rank 0 judges it"


@dataclass(frozen=True)
class Told:
    """How a case ended on one rank, and what its own samples come to there."""

    how: str
    verdict: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Others:
    """The other ranks, as one of them, ``rank``, reaches them.

    ``begin`` waits for rank 0 to name the case; ``say`` hands over what came of it here and gives
    what each rank says, None for one that stays silent; ``part`` ends this rank's run.
    """

    rank: int
    begin: Callable[[str], None]
    say: Callable[[dict[str, str]], list[dict[str, str] | None]]
    part: Callable[[str], None]

    def end(self, how: str, judged: Judgement, *, timed: bool) -> tuple[Judgement, str]:
        """The judgement of all ranks, and why they cannot go on; empty where they can."""
        mine = Told(how, str(judged.verdict), judged.reason)
        told = [None if words is None else Told(**words) for words in self.say(asdict(mine))]
        return one_judgement(judged, told, rank=self.rank, timed=timed)


def one_judgement(
    own: Judgement, told: Sequence[Told | None], *, rank: int, timed: bool
) -> tuple[Judgement, str]:
    """What the ranks come to, from each one's words; the same on every rank.

    Seconds are rank 0's; what does not hang on seconds has to come out alike everywhere. Ranks
    that ended in different ways have made different calls, so that the next would hang.
    """
    if why := apart(told):
        return replace(own, verdict=Verdict.VOID, reason=why), why
    said = [each for each in told if each is not None]
    for number, each in enumerate(said):
        void = each.verdict == Verdict.VOID and said[0].verdict != Verdict.VOID
        if void or (not timed and each.verdict != said[0].verdict):
            reason = f"rank 0 comes to {said[0].verdict}, rank {number} to {each.verdict}"
            return replace(own, verdict=Verdict.VOID, reason=f"{reason}: {each.reason}"), ""
    if rank == 0:
        return own, ""
    return Judgement(verdict=Verdict(said[0].verdict), reason=said[0].reason), ""


def apart(told: Sequence[Told | None]) -> str:
    """Why ranks cannot go on together after a case that ended so; empty where they can."""
    ways = {each.how if each else "" for each in told}
    if len(ways) == 1 and "" not in ways:
        return ""
    return "the ranks went apart: " + "; ".join(
        f"rank {rank}: {_ended(each)}" for rank, each in enumerate(told)
    )


def _ended(each: Told | None) -> Any:
    if each is None:
        return "no word of it in time"
    return each.how if each.how == MEASURED else f"{each.how} ({each.reason[:160]})"
