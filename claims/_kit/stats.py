"""Intervals: exact for proportions, bootstrap for ratios. Worked examples stand in meta_tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite

import numpy as np
from scipy import stats as scipy_stats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A point estimate between two bounds, all in the unit of the samples."""

    low: float
    estimate: float
    high: float


def proportion(successes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Exact (Clopper-Pearson) two-sided interval of ``successes`` out of ``n`` trials.

    Raises ValueError when there are no trials or more successes than trials.
    Source: Clopper and Pearson, Biometrika 26 (1934), as scipy computes it.
    """
    result = scipy_stats.binomtest(successes, n).proportion_ci(confidence, method="exact")
    return Interval(float(result.low), successes / n, float(result.high))


def median(samples: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval:
    """Bootstrap interval of the median of ``samples``; seeded, so that a replay repeats it.

    Fewer than five samples cannot bracket a median at 95 % (2 x 0.5^n > 0.05): their interval
    is unbounded, so no rule can lean on them.
    """
    if not samples or not all(map(isfinite, samples)):
        raise ValueError(f"a median needs finite samples, got {list(samples)!r}")
    middle = float(np.median(samples))
    if len(samples) < fewest_for_median(confidence):
        return Interval(float("-inf"), middle, float("inf"))
    if min(samples) == max(samples):
        return Interval(middle, middle, middle)
    low, high = scipy_stats.bootstrap(
        (np.asarray(samples, dtype=float),),
        np.median,
        confidence_level=confidence,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Interval(float(low), middle, float(high))


def fewest_for_median(confidence: float = CONFIDENCE) -> int:
    """The smallest sample whose extremes enclose the true median often enough.

    >>> fewest_for_median()
    6
    """
    n = 2
    while 2 * 0.5**n > 1 - confidence:
        n += 1
    return n


def trials_to_settle(
    successes: int, n: int, limit: float, *, ceiling: int = 100_000
) -> int | None:
    """How many more trials at the seen rate would move the exact interval off ``limit``.

    None when the seen rate equals the limit or ``ceiling`` trials would not be enough.
    """
    total = n
    while total < ceiling:
        total = ceil(total * 1.25) + 1
        interval = proportion(round(successes / n * total), total)
        if interval.low > limit or interval.high < limit:
            return total - n
    return None


def samples_to_settle(interval: Interval, n: int, limit: float) -> int | None:
    """How many more samples would shrink ``interval`` off ``limit``, by the square-root law."""
    gap = abs(interval.estimate - limit)
    half = max(interval.high - interval.estimate, interval.estimate - interval.low)
    if gap == 0 or not isfinite(half):
        return None
    return max(1, ceil(n * (half / gap) ** 2) - n)
