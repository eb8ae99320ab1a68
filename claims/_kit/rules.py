"""Rules turn samples and a figure into a judgement.

They are pure, so that a stored run can be judged again. Each *accepts*: NaN, an empty list or a
short one falls on the safe side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from claims._kit import stats
from claims._kit.figures import Figure
from claims._kit.verdict import Judgement, Verdict

Rule = Callable[[Sequence[float], Figure], Judgement]


def usable(samples: Sequence[float]) -> str | None:
    """Why ``samples`` cannot be judged at all, or None when they can."""
    if not samples:
        return "nothing was measured"
    bad = [s for s in samples if not isfinite(s)]
    return f"{len(bad)} of {len(samples)} samples are not finite numbers" if bad else None


def _void(reason: str, n: int) -> Judgement:
    return Judgement(verdict=Verdict.VOID, reason=reason, n=n)


def every_sample_at_most(samples: Sequence[float], figure: Figure) -> Judgement:
    """CONFIRMED when every sample is finite and no larger than the limit; the worst is shown.

    For infinite or NaN samples the verdict is VOID, never a pass.
    """
    if trouble := usable(samples):
        return _void(trouble, len(samples))
    worst, over = max(samples), sum(not s <= figure.limit for s in samples)
    return Judgement(
        verdict=Verdict.REFUTED if over else Verdict.CONFIRMED,
        reason=f"{over} of {len(samples)} samples exceed the limit" if over else "all within",
        estimate=worst,
        low=min(samples),
        high=worst,
        n=len(samples),
    )


def every_sample_at_least(samples: Sequence[float], figure: Figure) -> Judgement:
    """CONFIRMED when every sample is finite and no smaller than the limit; the worst is shown."""
    if trouble := usable(samples):
        return _void(trouble, len(samples))
    worst, under = min(samples), sum(not s >= figure.limit for s in samples)
    return Judgement(
        verdict=Verdict.REFUTED if under else Verdict.CONFIRMED,
        reason=f"{under} of {len(samples)} samples miss the limit" if under else "all reach it",
        estimate=worst,
        low=worst,
        high=max(samples),
        n=len(samples),
    )


def every_sample_equals(samples: Sequence[float], figure: Figure) -> Judgement:
    """CONFIRMED when every sample is exactly the limit: for counts and proofs."""
    if trouble := usable(samples):
        return _void(trouble, len(samples))
    off = [s for s in samples if s != figure.limit]
    return Judgement(
        verdict=Verdict.REFUTED if off else Verdict.CONFIRMED,
        reason=f"{len(off)} of {len(samples)} differ" if off else "exact",
        estimate=off[0] if off else samples[0],
        low=min(samples),
        high=max(samples),
        n=len(samples),
    )


def every_one_of(samples: Sequence[float], figure: Figure) -> Judgement:
    """Of 0/1 samples each is 1: for guarantees, which one counterexample refutes.

    The exact interval of the share is shown, so that "80 of 80" comes with its lower bound.
    """
    if trouble := _not_shares(samples):
        return _void(trouble, len(samples))
    hits, n = sum(map(int, samples)), len(samples)
    interval = stats.proportion(hits, n)
    return Judgement(
        verdict=Verdict.CONFIRMED if hits == n and figure.limit == 1 else Verdict.REFUTED,
        reason=f"{hits} of {n}",
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        n=n,
    )


def share_at_least(samples: Sequence[float], figure: Figure) -> Judgement:
    """Of 0/1 samples, the true share is above the limit: exact interval decides."""
    return _share(samples, figure, above=True)


def share_at_most(samples: Sequence[float], figure: Figure) -> Judgement:
    """Of 0/1 samples, the true share is below the limit: exact interval decides."""
    return _share(samples, figure, above=False)


def _not_shares(samples: Sequence[float]) -> str | None:
    strange = [s for s in samples if s not in (0, 1)]
    return usable(samples) or (f"a share counts 0 and 1, got {strange[0]!r}" if strange else None)


def _share(samples: Sequence[float], figure: Figure, *, above: bool) -> Judgement:
    if trouble := _not_shares(samples):
        return _void(trouble, len(samples))
    hits, n = sum(map(int, samples)), len(samples)
    interval = stats.proportion(hits, n)
    return _against_limit(
        interval, figure, n=n, above=above, more=stats.trials_to_settle(hits, n, figure.limit)
    )


def median_at_least(samples: Sequence[float], figure: Figure) -> Judgement:
    """The interval of the median lies above the limit."""
    return _median(samples, figure, above=True)


def median_at_most(samples: Sequence[float], figure: Figure) -> Judgement:
    """The interval of the median lies below the limit."""
    return _median(samples, figure, above=False)


def _median(samples: Sequence[float], figure: Figure, *, above: bool) -> Judgement:
    if trouble := usable(samples):
        return _void(trouble, len(samples))
    n = len(samples)
    interval = stats.median(samples)
    more = stats.samples_to_settle(interval, n, figure.limit)
    if n < stats.fewest_for_median():
        more = stats.fewest_for_median() - n
    return _against_limit(interval, figure, n=n, above=above, more=more)


def _against_limit(
    interval: stats.Interval, figure: Figure, *, n: int, above: bool, more: int | None
) -> Judgement:
    right = interval.low > figure.limit if above else interval.high < figure.limit
    wrong = interval.high < figure.limit if above else interval.low > figure.limit
    shown: dict[str, Any] = {
        "estimate": interval.estimate,
        "low": interval.low if isfinite(interval.low) else None,
        "high": interval.high if isfinite(interval.high) else None,
        "n": n,
    }
    if right:
        return Judgement(verdict=Verdict.CONFIRMED, reason="interval clears the limit", **shown)
    if wrong:
        return Judgement(verdict=Verdict.REFUTED, reason="interval beyond the limit", **shown)
    settle = f"; about {more} more samples would settle it" if more else ""
    return Judgement(
        verdict=Verdict.INCONCLUSIVE,
        reason=f"the interval contains the limit{settle}",
        more=more,
        **shown,
    )


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        every_sample_at_most,
        every_sample_at_least,
        every_sample_equals,
        every_one_of,
        share_at_least,
        share_at_most,
        median_at_least,
        median_at_most,
    )
}
