"""A disturbed measurement is taken again, said aloud; what was measured has no say in that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from claims._kit.again import TOLD
from claims._kit.claim_row import SUBJECT
from claims._kit.measure import Measured
from fixtures import once, phases, replies, waiting
from fixtures.reproduced import passes
from fixtures.session import Session
from fixtures.targets import named
from meta_tests.made_up import claim, conditions, judge, run_of

BUSY = "other work on the machine"


def watching(objections: list[str]):
    """A watch that objects to its looks one after another as told, and then to none."""
    said = iter(objections)

    def watch():
        objection = next(said, "")
        return lambda: (objection, {})

    return watch


def measuring(*attempts: float):
    """A subject whose attempts give these samples in turn."""
    left: Iterator[float] = iter(attempts)
    return lambda _case: Measured(samples=[next(left)])


def outcome_of(folder, attempts, objections, *, again=2):
    made = claim(measuring(*attempts), timed=True, controls=(), no_control_because="made up")
    dropped: list[str] = []
    on = conditions(
        again=again, watch=watching(objections), forget=lambda: dropped.append("dropped")
    )
    run = run_of(folder, made, conditions=on)
    judge(run, made)
    (row,) = (r for r in run.writer.rows if r["kind"] == "samples")
    return run.verdicts[made.id, SUBJECT, "all"], row, len(dropped)


def test_the_undisturbed_attempt_is_judged_and_the_other_one_told(tmp_path):
    verdict, row, dropped = outcome_of(tmp_path, [9.0, 0.5], [BUSY])
    assert verdict["verdict"] == "CONFIRMED"
    assert (row["samples"], row["disturbed"]) == ([0.5], "")
    assert row["notes"][TOLD] == [{"because": BUSY, "samples": [9.0]}]
    assert dropped == 1


def test_a_disturbed_attempt_is_thrown_away_even_if_it_would_confirm(tmp_path):
    verdict, row, _ = outcome_of(tmp_path, [0.5, 9.0], [BUSY])
    assert verdict["verdict"] == "REFUTED"
    assert row["samples"] == [9.0]


def test_an_undisturbed_attempt_is_the_only_one_whatever_it_measures(tmp_path):
    verdict, row, dropped = outcome_of(tmp_path, [9.0, 0.5], [])
    assert (verdict["verdict"], row["notes"], dropped) == ("REFUTED", {}, 0)


@pytest.mark.parametrize("again", [0, 1, 2])
def test_what_stays_disturbed_is_void_after_so_many_attempts(tmp_path, again):
    verdict, row, dropped = outcome_of(tmp_path, [0.5] * 9, [BUSY] * 9, again=again)
    assert (verdict["verdict"], verdict["reason"]) == ("VOID", BUSY)
    assert len(row["notes"].get(TOLD, [])) == again
    assert dropped == again + 1


def test_times_kept_for_another_case_are_dropped(monkeypatch):
    asked: list[int] = []
    monkeypatch.setattr(replies, "warm_up", lambda *_: None)
    monkeypatch.setattr(replies, "waits", lambda *_: asked.append(1))
    subject = object()
    for _ in range(2):
        replies.in_turn(subject, (1, 2), (1, 3), rounds=1)
    assert len(asked) == 2
    once.forget()
    replies.in_turn(subject, (1, 2), (1, 3), rounds=1)
    assert len(asked) == 4


def test_so_are_times_behind_several_published_values(monkeypatch):
    asked: list[int] = []
    both = phases.Phases(4, [2.0], [1.0])
    monkeypatch.setattr(phases, "paired_rounds", lambda *_, **__: asked.append(1) or both)
    engine = type("Engine", (), {"weight_bytes": lambda: 8})
    for what in ("prefill", "step", "prefill"):
        passes.of_passes(engine, what, tokens=4)
    assert len(asked) == 1
    once.forget()
    passes.of_passes(engine, "step", tokens=4)
    assert len(asked) == 2


@pytest.mark.parametrize(("rehearsal", "times"), [(False, waiting.AGAIN), (True, 0)])
def test_a_run_on_a_processor_tries_again(rehearsal, times):
    session = Session(target=named("smollm2-135m"), device="cpu", seed=0, rehearsal=rehearsal)
    assert session.again == times
