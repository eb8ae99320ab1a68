"""Times taken beside other work on the processor are void, and say so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fixtures import waiting
from fixtures.needs import Need
from meta_tests.made_up import ROOT, claim, claim_of, conditions

# Two loops on one processor: each stands in line half of the time.
CROWDED = """
import os, subprocess, sys, time
from fixtures import waiting
here = {min(os.sched_getaffinity(0))}
os.sched_setaffinity(0, here)
other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
try:
    stop, end = waiting.begin(), time.perf_counter() + 1.5
    while time.perf_counter() < end:
        pass
    print(stop()[0])
finally:
    other.kill()
"""


def watch(waited: list[dict[str, float]], times: list[float]) -> waiting.Watched:
    looks, clocks = iter(waited), iter(times)
    return waiting.begin(look=lambda: next(looks), clock=lambda: next(clocks))()


def test_a_little_waiting_is_borne_and_told():
    said, seen = watch([{"1": 5.0}, {"1": 5.06}], [0.0, 2.0])
    assert said == ""
    assert seen == {"waited for a processor, seconds per second": 0.03}


def test_long_waiting_is_objected_to():
    assert "0.50 s in line" in watch([{"1": 5.0}, {"1": 6.0}], [0.0, 2.0])[0]


def test_threads_add_up_new_ones_count_whole_and_ended_ones_not():
    before, after = {"1": 5.0, "2": 1.0}, {"1": 5.3, "3": 0.2}
    seen = watch([before, after], [0.0, 1.0])[1]
    assert seen["waited for a processor, seconds per second"] == 0.5


def test_what_is_over_in_a_moment_is_not_judged():
    assert watch([{"1": 0.0}, {"1": 0.05}], [0.0, 0.06])[0] == ""


def test_a_kernel_that_does_not_count_is_named_and_voids_nothing(tmp_path):
    said, seen = waiting.begin(look=lambda: waiting.waited_s(tmp_path))()
    assert said == ""
    assert "not watched" in seen["processor while measuring"]


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or not waiting.THREADS.exists(),
    reason="a neighbour can be planted, and waiting counted, on Linux alone",
)
def test_a_planted_neighbour_is_noticed():
    done = subprocess.run(
        [sys.executable, "-c", CROWDED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "other work on the machine" in done.stdout


def test_a_timed_claim_of_a_server_is_not_watched_since_the_server_is_that_other_work(tmp_path):
    on = conditions(watch=lambda: pytest.fail("watched"), offers=lambda: frozenset(Need))
    made = claim(timed=True, needs=frozenset({Need.SERVER}))
    assert claim_of(tmp_path, made, conditions=on)["verdict"] == "CONFIRMED"
