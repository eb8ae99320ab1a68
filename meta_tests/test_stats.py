"""Intervals against published worked examples, and on data whose truth is known.

Published examples:
- Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven
  methods", Statistics in Medicine 17 (1998) 857-872, table I, method 5 (Clopper-Pearson),
  doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E.
- Hanley and Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983)
  1743-1745, doi:10.1001/jama.1983.03330370053031: the rule of three.
- Campbell and Gardner, "Calculating confidence intervals for some non-parametric analyses",
  BMJ 296 (1988) 1454-1456, doi:10.1136/bmj.296.6634.1454: ranks that enclose a median; the same
  ranks follow from the sign test of Dixon and Mood, JASA 41 (1946) 557-566.
"""

from __future__ import annotations

from math import comb, inf, nan

import numpy as np
import pytest

from claims._kit import stats
from claims._kit.measure import paired_seconds, ratios
from claims._kit.rules import median_at_least, median_at_most
from claims._kit.verdict import Verdict
from meta_tests.made_up import figure


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0000, 0.1684),
        (1, 29, 0.0009, 0.1776),
    ],
)
def test_exact_intervals_are_those_of_newcombes_table(successes, n, low, high):
    interval = stats.proportion(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert interval.estimate == successes / n


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_no_event_in_n_trials_bounds_the_rate_near_three_over_n(n):
    # One-sided 95 % is the upper end of a two-sided 90 % interval; the rule rounds -ln 0.05 to 3.
    upper = stats.proportion(0, n, confidence=0.9).high
    assert upper == pytest.approx(1 - 0.05 ** (1 / n), abs=1e-9)
    assert upper == pytest.approx(3 / n, rel=0.05)


def test_eighty_of_eighty_is_shown_with_its_lower_bound():
    interval = stats.proportion(80, 80)
    assert interval.low == pytest.approx(0.025 ** (1 / 80), abs=1e-9)
    assert (interval.estimate, interval.high) == (1.0, 1.0)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_a_proportion_of_impossible_counts_is_an_error(successes, n):
    with pytest.raises(ValueError):
        stats.proportion(successes, n)


@pytest.mark.parametrize("n", [5, 10, 20, 80])
def test_exact_intervals_cover_any_true_share_at_least_as_often_as_they_say(n):
    intervals = [stats.proportion(k, n) for k in range(n + 1)]
    for share in (0.005, 0.05, 0.184, 0.5, 0.77, 0.95, 0.999):
        covered = sum(
            comb(n, k) * share**k * (1 - share) ** (n - k)
            for k, i in enumerate(intervals)
            if i.low <= share <= i.high
        )
        assert covered >= stats.CONFIDENCE


@pytest.mark.parametrize(
    ("n", "low_rank", "high_rank"),
    [
        (6, 1, 6),
        (7, 1, 7),
        (8, 1, 8),
        (9, 2, 8),
        (10, 2, 9),
        (11, 2, 10),
        (12, 3, 10),
        (15, 4, 12),
        (20, 6, 15),
        (25, 8, 18),
        (30, 10, 21),
        (40, 14, 27),
        (50, 18, 33),
        (100, 40, 61),
    ],
)
def test_the_median_lies_between_the_published_ranks(n, low_rank, high_rank):
    samples = [float(rank) for rank in range(1, n + 1)]
    interval = stats.median(samples[::-1])
    assert (interval.low, interval.high) == (low_rank, high_rank)
    assert interval.estimate == (n + 1) / 2


@pytest.mark.parametrize("n", range(6, 60))
def test_the_ranks_of_a_median_carry_at_most_the_stated_risk(n):
    interval = stats.median([float(rank) for rank in range(1, n + 1)])
    rank = int(interval.low)

    def risk(rank: int) -> float:
        return 2 * sum(comb(n, k) for k in range(rank)) / 2**n

    assert risk(rank) <= 1 - stats.CONFIDENCE < risk(rank + 1)


def test_fewer_samples_than_six_never_bound_a_median():
    assert stats.fewest_for_median() == 6
    for n in range(1, 6):
        interval = stats.median([1.0] * n)
        assert (interval.low, interval.high) == (-inf, inf)
    assert stats.median([1.0] * 6).low == 1.0


@pytest.mark.parametrize("samples", [[], [nan], [1.0] * 9 + [nan], [inf] * 9])
def test_a_median_of_nothing_or_of_no_numbers_is_an_error(samples):
    with pytest.raises(ValueError, match="needs finite samples"):
        stats.median(samples)


@pytest.mark.parametrize("n", [6, 7, 9, 15, 30])
@pytest.mark.parametrize("shape", ["normal", "skewed", "heavy-tailed"])
def test_intervals_of_a_median_cover_the_true_one(shape, n):
    random = np.random.default_rng(n)
    draw = {
        "normal": (lambda: random.normal(1.0, 0.1, n), 1.0),
        "skewed": (lambda: random.exponential(1.0, n), np.log(2)),
        "heavy-tailed": (lambda: 1.0 + random.standard_cauchy(n), 1.0),
    }
    samples, truth = draw[shape]
    intervals = [stats.median(list(samples())) for _ in range(600)]
    # At least 95 % are promised; 600 draws of 95 % fall under 93 % once in a hundred runs.
    assert sum(i.low <= truth <= i.high for i in intervals) / 600 >= 0.93


def test_the_interval_of_a_median_is_the_same_when_it_is_worked_out_again():
    samples = list(np.random.default_rng(3).normal(1.0, 0.1, 25))
    assert stats.median(samples) == stats.median(samples)


@pytest.mark.parametrize(("successes", "n", "limit"), [(18, 20, 0.8), (2, 20, 0.2), (10, 10, 0.9)])
def test_the_trials_named_as_enough_settle_it_at_the_seen_rate(successes, n, limit):
    more = stats.trials_to_settle(successes, n, limit)
    total = n + more
    interval = stats.proportion(round(successes / n * total), total)
    assert interval.low > limit or interval.high < limit


def test_no_number_of_trials_settles_a_share_that_equals_the_limit():
    assert stats.trials_to_settle(10, 20, 0.5) is None


def test_samples_to_settle_follow_the_square_root_law():
    # Twice as near the limit needs four times the samples.
    assert stats.samples_to_settle(stats.Interval(0.0, 2.0, 4.0), 10, 1.0) == 30
    assert stats.samples_to_settle(stats.Interval(0.0, 2.0, 4.0), 10, 1.5) == 150


@pytest.mark.parametrize(
    ("interval", "limit"),
    [
        (stats.Interval(0.0, 1.0, 2.0), 1.0),
        (stats.Interval(-inf, 1.0, inf), 2.0),
        (stats.Interval(0.0, 2.3e-261, 1.0), 0.0),
        (stats.Interval(0.0, 5e-324, 1e300), 0.0),
    ],
)
def test_an_estimate_on_the_limit_names_no_number_of_samples(interval, limit):
    assert stats.samples_to_settle(interval, 10, limit) is None


# Two arms against a clock that the test turns ---------------------------------------------------


class Bench:
    """A clock and two arms that move it: jitter, and a machine that slows down as it warms."""

    def __init__(self, seed: int, *, second: float = 1.0, drift: float = 0.0) -> None:
        self.random = np.random.default_rng(seed)
        self.now = 0.0
        self.second, self.drift = second, drift

    def clock(self) -> float:
        return self.now

    def arm(self, factor: float) -> None:
        jitter = float(self.random.lognormal(0.0, 0.05))
        self.now += 0.01 * factor * jitter * (1 + self.drift * self.now)

    def ratios(self, rounds: int = 20) -> list[float]:
        arms = (lambda: self.arm(1.0), lambda: self.arm(self.second))
        return ratios(paired_seconds(*arms, rounds=rounds, clock=self.clock))


RUNS = 300


def test_comparing_an_arm_with_itself_finds_no_difference():
    found = [Bench(seed).ratios() for seed in range(RUNS)]
    slower = sum(median_at_least(r, figure(1.0)).verdict is Verdict.CONFIRMED for r in found)
    faster = sum(median_at_most(r, figure(1.0)).verdict is Verdict.CONFIRMED for r in found)
    # Each side may err 2.5 % of the time: 7.5 of 300; 14 or more happen twice in a hundred runs.
    assert slower < 14
    assert faster < 14


def test_an_arm_against_itself_stays_equal_on_a_machine_that_slows_down():
    found = [Bench(seed, drift=1.0).ratios() for seed in range(RUNS)]
    wrong = [median_at_least(r, figure(1.0)).verdict is not Verdict.INCONCLUSIVE for r in found]
    assert sum(wrong) < 28


def test_without_turns_the_same_slowing_looks_like_a_slower_arm():
    # Shows that the test above can fail: always first one, then the other, under strong drift.
    def in_one_order(seed: int) -> list[float]:
        bench, found = Bench(seed, drift=10.0), []
        for _ in range(20):
            marks = [bench.now]
            for _ in range(2):
                bench.arm(1.0)
                marks.append(bench.now)
            found.append((marks[2] - marks[1]) / (marks[1] - marks[0]))
        return found

    def slower(samples: list[float]) -> bool:
        return median_at_least(samples, figure(1.0)).verdict is Verdict.CONFIRMED

    assert sum(slower(in_one_order(seed)) for seed in range(60)) > 50
    assert sum(slower(Bench(seed, drift=10.0).ratios()) for seed in range(60)) < 7


@pytest.mark.parametrize("second", [1.1, 0.9])
def test_a_planted_difference_of_a_tenth_is_found(second):
    rule = median_at_least if second > 1 else median_at_most
    found = [rule(Bench(seed, second=second).ratios(), figure(1.0)) for seed in range(100)]
    assert sum(judged.verdict is Verdict.CONFIRMED for judged in found) >= 97
    assert not any(judged.verdict is Verdict.REFUTED for judged in found)


def test_a_planted_difference_is_measured_at_its_size():
    found = [stats.median(Bench(seed, second=1.2).ratios()) for seed in range(200)]
    assert sum(i.low <= 1.2 <= i.high for i in found) / 200 >= 0.93
    assert np.mean([i.estimate for i in found]) == pytest.approx(1.2, rel=0.01)
