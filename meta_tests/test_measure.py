"""What a measurement hands over, and the order in which two arms are timed."""

from __future__ import annotations

import json
from math import inf, nan

import pytest

from claims._kit.measure import Floor, Measured, paired_seconds, ratios, seconds_of


class Bench:
    """A clock that only the arms move, and a diary of who was called when."""

    def __init__(self, **seconds: float) -> None:
        self.now, self.seconds, self.diary = 0.0, seconds, []

    def clock(self) -> float:
        self.diary.append("clock")
        return self.now

    def settle(self) -> None:
        self.diary.append("settle")

    def arm(self, name: str):
        def call() -> None:
            self.diary.append(name)
            self.now += self.seconds[name]

        return call

    def pairs(self, **options):
        both = (self.arm("first"), self.arm("second"))
        return paired_seconds(*both, clock=self.clock, settle=self.settle, **options)

    def order(self) -> list[str]:
        return [name for name in self.diary if name in ("first", "second")]


def test_the_right_order_of_two_arms_flips_each_round():
    bench = Bench(first=1.0, second=3.0)
    bench.pairs(rounds=4, warm_up=0)
    assert bench.order() == ["first", "second", "second", "first"] * 2


def test_each_pair_is_first_then_second_whichever_ran_first():
    assert Bench(first=1.0, second=3.0).pairs(rounds=5) == [(1.0, 3.0)] * 5


@pytest.mark.parametrize("warm_up", [0, 1, 3])
def test_warm_up_rounds_run_both_arms_and_are_not_timed(warm_up):
    bench = Bench(first=1.0, second=3.0)
    pairs = bench.pairs(rounds=2, warm_up=warm_up)
    assert len(pairs) == 2
    assert bench.order()[: 2 * warm_up] == ["first", "second"] * warm_up
    assert len(bench.order()) == 2 * (warm_up + 2)


def test_a_slow_first_call_stays_out_of_the_samples():
    calls = []

    def arm() -> None:
        calls.append(1)
        bench.now += 100.0 if len(calls) <= 2 else 1.0

    bench = Bench()
    assert paired_seconds(arm, arm, rounds=3, clock=bench.clock) == [(1.0, 1.0)] * 3


def test_the_device_settles_before_each_clock_reading():
    bench = Bench(first=1.0, second=1.0)
    bench.pairs(rounds=3, warm_up=0)
    readings = [i for i, name in enumerate(bench.diary) if name == "clock"]
    assert len(readings) == 12
    assert all(bench.diary[i - 1] == "settle" for i in readings)


def test_work_left_over_from_before_is_not_charged_to_the_arm():
    bench = Bench(arm=1.0)
    pending = [50.0]

    def settle() -> None:
        bench.now += pending.pop() if pending else 0.0

    assert seconds_of(bench.arm("arm"), clock=bench.clock, settle=settle) == 1.0


def test_work_that_the_arm_leaves_running_is_charged_to_it():
    bench, pending = Bench(), []

    def settle() -> None:
        bench.now += pending.pop() if pending else 0.0

    assert seconds_of(lambda: pending.append(7.0), clock=bench.clock, settle=settle) == 7.0


def test_no_rounds_give_no_samples():
    assert Bench(first=1.0, second=1.0).pairs(rounds=0) == []


def test_a_crash_in_an_arm_is_not_swallowed():
    def crash() -> None:
        raise RuntimeError("out of memory")

    bench = Bench(first=1.0)
    with pytest.raises(RuntimeError):
        paired_seconds(bench.arm("first"), crash, rounds=1, clock=bench.clock)


def test_a_ratio_is_the_second_arm_over_the_first():
    assert ratios([(1.0, 3.0), (2.0, 1.0)]) == [3.0, 0.5]


def test_a_ratio_to_no_time_at_all_is_an_error():
    with pytest.raises(ZeroDivisionError):
        ratios([(0.0, 1.0)])


FULL = Measured(
    samples=[1.0, -0.5],
    witness="16 cached tokens",
    x=512.0,
    points={"prefill_ms": 3.0},
    notes={"tokens": 38, "<b>": ["a", None]},
    floors=[Floor(what="a step", measured=2.0, floor=1.0, unit="ms", why="bytes over rate")],
    disturbed="clocks fell",
)


@pytest.mark.parametrize("measured", [FULL, Measured(samples=[])])
def test_a_measurement_comes_back_from_its_row_unchanged(measured):
    row = json.loads(json.dumps(measured.row()))
    assert Measured.from_row({**row, "kind": "samples", "seconds": 1.0}) == measured


@pytest.mark.parametrize(
    ("measured", "floor", "beaten"),
    [
        (1.0, 1.0, False),
        (1.1, 1.0, False),
        (0.999, 1.0, True),
        (nan, 1.0, True),
        (1.0, nan, True),
        (inf, 1.0, False),
        (-inf, 1.0, True),
    ],
)
def test_a_floor_is_beaten_by_less_and_by_no_number(measured, floor, beaten):
    assert Floor(what="w", measured=measured, floor=floor, unit="ms", why="y").beaten is beaten
