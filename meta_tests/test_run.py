"""What a run makes of a claim: each way to a verdict, and each way a verdict could be lost."""

from __future__ import annotations

import errno
from math import nan

import pytest

from claims._kit.claim_row import SUBJECT
from claims._kit.deviations import Deviation
from claims._kit.figures import Case, Scope
from claims._kit.ledger import Unwritable, read
from claims._kit.measure import Floor, Measured, NotApplicable
from claims._kit.rules import median_at_most
from claims._kit.run import Run
from fixtures.needs import CannotRun, Need
from meta_tests import made_up
from meta_tests.made_up import (
    answers,
    claim,
    claim_of,
    conditions,
    control,
    figure,
    judge,
    outcome,
    raises,
    run_of,
)

BEATEN = Floor(what="a step", measured=1.0, floor=2.0, unit="ms", why="bytes over rate")

# Subject, verdict of the case, outcome of its test, words of the reason.
WAYS = {
    "every sample holds": (answers(0.5), "CONFIRMED", "passed", "all within"),
    "one sample does not": (answers(0.5, 2.0), "REFUTED", "failed", "1 of 2 samples exceed"),
    "no sample at all": (answers(), "VOID", "failed", "nothing was measured"),
    "a sample is no number": (answers(0.5, nan), "VOID", "failed", "not finite"),
    "a sample is no number at all": (answers(None), "VOID", "failed", "crashed: LedgerError"),
    "a sample is a word": (answers("fast"), "VOID", "failed", "crashed: LedgerError"),
    "a sample is a truth value": (answers(True), "VOID", "failed", "crashed: LedgerError"),
    "a floor is beaten": (answers(0.5, floors=[BEATEN]), "VOID", "failed", "beats the floor"),
    "the machine was disturbed": (answers(0.5, disturbed="hot"), "VOID", "failed", "hot"),
    "a crash": (raises(RuntimeError("fell\nover")), "VOID", "failed", "RuntimeError: fell over"),
    "a failing assert": (raises(AssertionError()), "VOID", "failed", "AssertionError"),
    "no memory": (raises(MemoryError()), "VOID", "failed", "out of memory: MemoryError"),
    "no memory on the device": (
        raises(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")),
        "VOID",
        "failed",
        "out of memory: CUDA out of memory",
    ),
    "a model that cannot be run": (raises(CannotRun("no wheel")), "VOID", "failed", "no wheel"),
    "an error without words": (raises(CannotRun()), "VOID", "failed", "CannotRun"),
    "something only seen now": (
        raises(NotApplicable("no sliding window")),
        "NOT APPLICABLE",
        "skipped",
        "no sliding window",
    ),
    "no reason given": (raises(NotApplicable()), "NOT APPLICABLE", "skipped", "NotApplicable"),
    "a skip inside": (raises(pytest.skip.Exception("later")), "VOID", "failed", "Skipped: later"),
    "an xfail inside": (raises(pytest.xfail.Exception("known")), "VOID", "failed", "known"),
    "a failure inside": (raises(pytest.fail.Exception("no")), "VOID", "failed", "Failed: no"),
    "no measurement returned": (lambda _case: None, "VOID", "failed", "AttributeError"),
    "notes that cannot be kept": (
        answers(0.5, notes={"model": object()}),
        "VOID",
        "failed",
        "TypeError",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_through_a_measurement_ends_in_its_verdict(tmp_path, way):
    subject, verdict, seen, words = WAYS[way]
    made = claim(subject)
    run = run_of(tmp_path, made)
    shown, told = outcome(lambda: run.holds(made, made.cases[0]))
    row = run.verdicts[made.id, SUBJECT, "all"]
    assert (row["verdict"], shown) == (verdict, seen)
    assert words in row["reason"]
    assert "\n" not in row["reason"]
    assert shown == "passed" or words in told
    run.control(made, made.controls[0])
    assert run.finished[made.id]["verdict"] == verdict
    assert read(run.writer.path).rows[-1]["verdict"] == verdict


@pytest.mark.parametrize("way", [w for w in WAYS if w != "one sample does not"])
def test_a_control_is_caught_by_a_refutation_and_by_nothing_else(tmp_path, way):
    row = claim_of(tmp_path, claim(controls=(control(WAYS[way][0]),)))
    assert row["verdict"] == "VOID"
    assert row["controls"][0]["caught"] is not True
    assert "controls not shown to be caught: too slow" in row["reason"]


def test_a_control_that_is_refuted_counts_as_caught(tmp_path):
    row = claim_of(tmp_path, claim(controls=(control(answers(0.5, 2.0)),)))
    assert row["verdict"] == "CONFIRMED"
    assert row["controls"][0]["caught"] is True


def test_a_fault_that_cannot_even_be_planted_is_not_caught(tmp_path):
    fault = made_up.control()
    broken = type(fault)(name="broken", sentence="It crashes.", plant=lambda _: 1 / 0)
    row = claim_of(tmp_path, claim(controls=(broken,)))
    assert row["verdict"] == "VOID"
    assert "ZeroDivisionError" in row["controls"][0]["reason"]


def test_one_control_that_is_missed_voids_whatever_the_others_say(tmp_path):
    missed = control(answers(0.5), name="missed")
    for sample in (0.5, 2.0):
        made = claim(answers(sample), controls=(control(), missed))
        row = claim_of(tmp_path / str(sample), made)
        assert (row["verdict"], row["reason"]) == (
            "VOID",
            "controls not shown to be caught: missed",
        )


def test_the_test_of_a_missed_control_fails_and_says_what_it_voids(tmp_path):
    made = claim(controls=(control(answers(0.5)),))
    shown, told = outcome(lambda: run_of(tmp_path, made).control(made, made.controls[0]))
    assert shown == "failed"
    assert "was not caught (CONFIRMED: all within), so the claim is VOID" in told


def test_a_claim_without_controls_needs_a_reason_for_having_none(tmp_path):
    row = claim_of(tmp_path / "a", claim(controls=()))
    assert (row["verdict"], row["reason"]) == (
        "VOID",
        "nothing shows that a fault would be caught",
    )
    excused = claim(controls=(), no_control_because="every output is an integer by construction")
    assert claim_of(tmp_path / "b", excused)["verdict"] == "CONFIRMED"


def test_a_reason_for_having_no_control_does_not_excuse_one_that_is_missed(tmp_path):
    made = claim(controls=(control(answers(0.5)),), no_control_because="none can exist")
    assert claim_of(tmp_path, made)["verdict"] == "VOID"


def test_the_failure_of_a_case_shows_promise_limit_measurement_and_how_to_repeat(tmp_path):
    made = claim(answers(2.5))
    run = run_of(tmp_path, made, conditions=conditions(repeat_with="--seed 3"))
    _, told = outcome(lambda: run.holds(made, made.cases[0]))
    for words in (
        "made/up [all] REFUTED: 1 of 1 samples exceed",
        "It takes at most a second. (one-call, nowhere)",
        "1 s (the source names no machine)",
        "1.0 seconds: made up for a test",
        "2.5 [2.5, 2.5], n = 1",
        "pytest claims/made/test_up.py --seed 3",
    ):
        assert words in told


def test_an_inconclusive_case_fails_and_says_how_many_more_samples_settle_it(tmp_path):
    made = claim(answers(0.5, 0.6, 0.7), rule=median_at_most)
    row = claim_of(tmp_path, made)
    assert row["verdict"] == "VOID"  # its control too has a thousand only once
    made = claim(
        answers(0.5, 0.6, 0.7), rule=median_at_most, controls=(control(answers(*[9.0] * 6)),)
    )
    row = claim_of(tmp_path / "b", made)
    assert row["verdict"] == "INCONCLUSIVE"
    assert "about 3 more samples would settle it" in row["reason"]


HERE_AND_THERE = (Case(name="here"), Case(name="there", judged_on=frozenset({"cuda"})))

# Out of scope ------------------------------------------------------------------------------------


def reason_of(tmp_path, made, **on) -> str:
    run = run_of(tmp_path, made, conditions=conditions(**on))
    shown, told = outcome(lambda: run.holds(made, made.cases[0]))
    assert (shown, run.verdicts[made.id, SUBJECT, "all"]["verdict"]) == (
        "skipped",
        "NOT APPLICABLE",
    )
    return told


def test_a_device_out_of_scope_is_named_with_the_reason_why_there_is_no_other(tmp_path):
    made = claim(scope=Scope(judged_on=frozenset({"cuda"})))
    told = reason_of(tmp_path, made, why_no_cuda="no NVIDIA driver")
    assert told == "judged on cuda, this run uses cpu (no NVIDIA driver)"


def test_a_claim_of_cpus_is_not_judged_on_a_gpu(tmp_path):
    made = claim(scope=Scope(judged_on=frozenset({"cpu"})))
    assert reason_of(tmp_path, made, device="cuda") == "judged on cpu, this run uses cuda"


def test_a_case_may_narrow_where_it_is_judged(tmp_path):
    made = claim(cases=(Case(name="all", judged_on=frozenset({"cuda"})),))
    assert "judged on cuda" in reason_of(tmp_path, made)


def test_an_unmet_need_is_named_with_the_target_that_lacks_it(tmp_path):
    made = claim(needs=frozenset({Need.TRAINED, Need.TOKENIZER}))
    told = reason_of(tmp_path, made, offers=lambda: frozenset({Need.TOKENIZER}))
    assert told == "nothing lacks trained weights"


def test_a_need_that_cannot_be_looked_up_is_void_and_not_a_lack(tmp_path):
    def offers() -> frozenset[Need]:
        raise CannotRun("the wheel is not installed; run: pip install it")

    made = claim(needs=frozenset({Need.TRAINED}))
    row = claim_of(tmp_path, made, conditions=conditions(offers=offers))
    assert (row["verdict"], "pip install it" in row["reason"]) == ("VOID", True)


def test_a_timed_claim_is_refused_beside_other_workers(tmp_path):
    made = claim(timed=True)
    assert "run it without -n" in reason_of(tmp_path / "a", made, parallel=True)
    assert claim_of(tmp_path / "b", made)["verdict"] == "CONFIRMED"
    row = claim_of(tmp_path / "c", claim(), conditions=conditions(parallel=True))
    assert row["verdict"] == "CONFIRMED"


def test_the_engine_is_not_asked_for_where_a_claim_brings_its_own_subject(tmp_path):
    def engine() -> None:
        raise AssertionError("loaded a model that nobody needs")

    on = conditions(engine=engine, offers=engine)
    assert claim_of(tmp_path, claim(), conditions=on)["verdict"] == "CONFIRMED"


def test_a_claim_without_a_subject_measures_the_engine_of_the_run(tmp_path):
    made = claim()
    object.__setattr__(made, "subject", None)
    on = conditions(engine=lambda: answers(0.25))
    run = run_of(tmp_path, made, conditions=on)
    run.holds(made, made.cases[0])
    assert run.verdicts[made.id, SUBJECT, "all"]["estimate"] == 0.25


def test_a_case_out_of_scope_keeps_no_other_from_confirming(tmp_path):
    row = claim_of(tmp_path, claim(cases=HERE_AND_THERE))
    assert (row["verdict"], row["cases"]) == ("CONFIRMED", ["here", "there"])


def test_a_claim_whose_only_control_is_out_of_scope_is_void(tmp_path):
    row = claim_of(tmp_path, claim(cases=HERE_AND_THERE, controls=(control(case="there"),)))
    assert row["verdict"] == "VOID"
    assert row["controls"][0]["caught"] is None


def test_a_control_out_of_scope_needs_one_in_scope_that_is_caught(tmp_path):
    there = control(case="there", name="there")
    caught = claim(cases=HERE_AND_THERE, controls=(control(), there))
    assert claim_of(tmp_path / "a", caught)["verdict"] == "CONFIRMED"
    missed = claim(cases=HERE_AND_THERE, controls=(control(answers(0.5)), there))
    assert claim_of(tmp_path / "b", missed)["verdict"] == "VOID"


def test_a_fault_that_makes_its_measure_look_away_is_not_caught(tmp_path):
    away = control(raises(NotApplicable("no sliding window")), name="away")
    row = claim_of(tmp_path, claim(controls=(control(), away)))
    assert (row["verdict"], row["controls"][1]["caught"]) == ("VOID", False)
    assert row["reason"] == "controls not shown to be caught: away"


def test_a_claim_that_applies_nowhere_is_not_applicable_though_no_control_ran(tmp_path):
    row = claim_of(tmp_path, claim(scope=Scope(judged_on=frozenset({"cuda"}))))
    assert row["verdict"] == "NOT APPLICABLE"


# Cases, rules and figures ------------------------------------------------------------------------


def by_case(**samples: float) -> made_up.Subject:
    return lambda case: Measured(samples=[samples[case.name]])


def test_one_refuted_case_refutes_the_claim_and_is_named(tmp_path):
    cases = tuple(Case(name=n) for n in ("a", "b", "c"))
    row = claim_of(tmp_path, claim(by_case(a=0.5, b=2.0, c=3.0), cases=cases))
    assert row["verdict"] == "REFUTED"
    assert row["reason"] == "b: 1 of 1 samples exceed the limit (and 1 more cases)"


def test_a_case_may_have_a_rule_and_a_figure_of_its_own(tmp_path):
    cases = (
        Case(name="a"),
        Case(name="b", rule="every_sample_equals", figure=figure(38.0, unit="tokens")),
    )
    made = claim(by_case(a=0.5, b=38.0), cases=cases)
    run = run_of(tmp_path, made)
    judge(run, made)
    assert run.finished[made.id]["verdict"] == "CONFIRMED"
    row = run.verdicts[made.id, SUBJECT, "b"]
    assert (row["figure"]["limit"], row["figure"]["unit"]) == (38.0, "tokens")


def test_a_control_runs_on_the_case_it_names(tmp_path):
    seen = []

    def look(case: Case) -> Measured:
        seen.append(case.name)
        return Measured(samples=[9.0])

    cases = (Case(name="a"), Case(name="b"))
    made = claim(cases=cases, controls=(control(look, case="b"),))
    judge(run_of(tmp_path, made), made)
    assert seen == ["b"]


def test_the_honest_subject_reaches_the_measure_unwrapped_and_a_control_wraps_it(tmp_path):
    subject, seen = answers(0.5), []
    fault = made_up.Control(
        name="f", sentence="s", plant=lambda honest: seen.append(honest) or answers(9.0)
    )
    made = claim(subject, controls=(fault,))
    judge(run_of(tmp_path, made), made)
    assert seen == [subject]


# Parts of a claim --------------------------------------------------------------------------------


def _part(tmp_path, made, roles: set[tuple[str, str]]) -> Run:
    run = run_of(tmp_path, made)
    run.planned = {made.id: sorted(roles)}
    for role, case in sorted(roles):
        fault = next((c for c in made.controls if c.name == role), None)
        act = (run.control, fault) if fault else (run.holds, made.case(case))
        outcome(lambda a=act: a[0](made, a[1]))
    return run


TWO = (Case(name="a"), Case(name="b"))


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({(SUBJECT, "a"), ("too slow", "a")}, "missing: b"),
        ({(SUBJECT, "a"), (SUBJECT, "b")}, "controls not shown to be caught: too slow"),
        ({("too slow", "a")}, "missing: a, b"),
        ({(SUBJECT, "b")}, "too slow"),
    ],
)
def test_a_part_of_a_claim_is_void_and_says_what_is_missing(tmp_path, roles, words):
    run = _part(tmp_path, claim(cases=TWO), roles)
    row = run.finished["made/up"]
    assert row["verdict"] == "VOID"
    assert words in row["reason"]


def test_a_part_that_is_refuted_with_its_controls_refutes_the_whole(tmp_path):
    made = claim(answers(2.0), cases=TWO)
    run = _part(tmp_path, made, {(SUBJECT, "a"), ("too slow", "a")})
    assert run.finished[made.id]["verdict"] == "REFUTED"


def test_a_claim_is_closed_once_and_only_after_all_that_was_planned(tmp_path):
    made = claim(cases=TWO)
    run = run_of(tmp_path, made)
    for step, act in enumerate(
        [
            lambda: run.holds(made, TWO[0]),
            lambda: run.control(made, made.controls[0]),
            lambda: run.holds(made, TWO[1]),
        ]
    ):
        assert run.unfinished() == [made.id]
        assert not run.finished, step
        act()
    assert run.unfinished() == []
    kinds = [r["kind"] for r in run.writer.rows]
    assert kinds.count("claim") == 1


def test_a_full_disk_ends_the_run_with_one_line_and_keeps_its_own_exit_status(
    tmp_path, monkeypatch
):
    made = claim()
    run = run_of(tmp_path, made)

    def full(_row: object) -> None:
        raise Unwritable(f"run.jsonl: cannot write the ledger ({errno.ENOSPC}); free some space")

    monkeypatch.setattr(run.writer, "write", full)
    with pytest.raises(pytest.exit.Exception) as caught:
        run.holds(made, made.cases[0])
    assert caught.value.returncode == 4
    assert str(caught.value).startswith("onecall: run.jsonl: cannot write")


def test_a_replay_measures_nothing_even_where_a_case_was_never_stored(tmp_path):
    def measured(_case: Case) -> Measured:
        raise AssertionError("a replay measured something")

    row = claim_of(tmp_path, claim(measured, controls=(control(measured),)), replay=True)
    assert row["verdict"] == "VOID"
    assert "a replay measures nothing" in row["reason"]


def test_a_stored_case_whose_samples_no_rule_reads_is_void_on_replay(tmp_path):
    made = claim()
    first = run_of(tmp_path / "a", made)
    judge(first, made)
    samples, verdict = first.writer.rows[1:3]
    key = (made.id, SUBJECT, "all")
    again = run_of(
        tmp_path / "b", made, stored={key: [{**samples, "samples": []}, verdict]}, replay=True
    )
    outcome(lambda: again.holds(made, made.cases[0]))
    assert again.verdicts[key]["verdict"] == "VOID"


# Rehearsals and watches --------------------------------------------------------------------------

CUDA_ONLY = Scope(judged_on=frozenset({"cuda"}))


@pytest.mark.parametrize("way", [w for w in WAYS if WAYS[w][1] in {"CONFIRMED", "REFUTED"}])
def test_a_rehearsal_measures_what_is_judged_on_cuda_and_judges_nothing(tmp_path, way):
    made = claim(WAYS[way][0], scope=CUDA_ONLY)
    run = run_of(tmp_path, made, conditions=conditions(rehearsal=True))
    judge(run, made)
    assert {row["verdict"] for row in run.verdicts.values()} == {"NOT APPLICABLE"}
    assert run.verdicts[made.id, SUBJECT, "all"]["reason"] == "rehearsal: judges nothing"
    assert [r["kind"] for r in run.writer.rows].count("samples") == 2
    assert run.finished[made.id]["verdict"] == "NOT APPLICABLE"


def test_a_rehearsal_takes_the_smaller_size_of_a_case(tmp_path):
    def look(case: Case) -> Measured:
        seen.append(case.params)
        return Measured(samples=[0.5])

    seen: list[dict] = []
    case = Case(name="all", params={"tokens": 4096, "seed": 1}, rehearsal={"tokens": 8})
    made = claim(look, cases=(case,), controls=(), scope=CUDA_ONLY)
    judge(run_of(tmp_path / "a", made, conditions=conditions(rehearsal=True)), made)
    judge(run_of(tmp_path / "b", made, conditions=conditions(device="cuda")), made)
    assert seen == [{"tokens": 8, "seed": 1}, {"tokens": 4096, "seed": 1}]


@pytest.mark.parametrize("judged_on", [{"cpu"}, {"cpu", "cuda"}])
def test_a_rehearsal_leaves_out_what_a_cpu_judges_as_it_is(tmp_path, judged_on):
    scope = Scope(judged_on=frozenset(judged_on))
    made = claim(raises(AssertionError("measured")), scope=scope, controls=())
    row = claim_of(tmp_path, made, conditions=conditions(rehearsal=True))
    assert row["verdict"] == "NOT APPLICABLE"
    assert "rehears" in row["reason"]


def test_a_crash_in_a_rehearsal_is_void(tmp_path):
    on = conditions(rehearsal=True)
    crash = raises(RuntimeError("fell over"))
    honest = claim(crash, scope=CUDA_ONLY)
    assert claim_of(tmp_path / "a", honest, conditions=on)["verdict"] == "VOID"
    fault = claim(scope=CUDA_ONLY, controls=(control(crash),))
    assert claim_of(tmp_path / "b", fault, conditions=on)["verdict"] == "VOID"


def watching(told: list[str], objection: str = ""):
    """A watch of the machine that notes when it begins and ends."""

    def watch():
        told.append("begins")

        def stop():
            told.append("ends")
            return objection, {"clock_mhz": 1200}

        return stop

    return watch


def test_a_timed_claim_is_watched_and_void_when_the_watch_objects(tmp_path):
    told: list[str] = []
    on = conditions(watch=watching(told, "clocks fell by a fifth"))
    row = claim_of(tmp_path / "a", claim(timed=True), conditions=on)
    assert (row["verdict"], row["reason"]) == ("VOID", "clocks fell by a fifth")
    assert told == ["begins", "ends"] * 2
    assert claim_of(tmp_path / "b", claim(), conditions=on)["verdict"] == "CONFIRMED"
    assert len(told) == 4


def test_what_a_watch_saw_stands_in_the_ledger(tmp_path):
    made = claim(timed=True)
    run = run_of(tmp_path, made, conditions=conditions(watch=watching([])))
    judge(run, made)
    row = next(r for r in run.writer.rows if r["kind"] == "samples")
    assert row["notes"] == {"clock_mhz": 1200}


def test_after_a_crash_the_watch_ends_and_what_the_crash_held_is_freed(tmp_path):
    told: list[str] = []
    on = conditions(watch=watching(told), tidy=lambda: told.append("tidied"))
    made = claim(raises(RuntimeError("fell over")), timed=True, controls=())
    assert claim_of(tmp_path, made, conditions=on)["verdict"] == "VOID"
    assert told == ["begins", "ends", "tidied"]


def test_a_timed_claim_after_a_profiler_is_void_and_says_why(tmp_path):
    profiled = claim(id="made/profiled", profiled=True, timed=True)
    timed, plain = claim(id="made/timed", timed=True), claim(id="made/plain")
    run = run_of(tmp_path, timed, profiled, plain)
    judge(run, profiled, timed, plain)
    verdicts = {name: row["verdict"] for name, row in run.finished.items()}
    assert verdicts == {
        "made/profiled": "CONFIRMED",
        "made/timed": "VOID",
        "made/plain": "CONFIRMED",
    }
    assert "a profiler ran earlier in this process" in run.finished["made/timed"]["reason"]


# Known deviations --------------------------------------------------------------------------------


def _known(**changes: str) -> Deviation:
    about = {"claim": "made/up", "target": "nothing", "why": "rounds at 3 places"}
    return Deviation(review_by=None, **{**about, **changes})


def test_a_known_refutation_is_an_xfail_with_its_reason(tmp_path):
    made = claim(answers(2.0))
    run = run_of(tmp_path, made, deviations=[_known()])
    shown, told = outcome(lambda: run.holds(made, made.cases[0]))
    assert (shown, told) == ("xfailed", "known: rounds at 3 places")
    run.control(made, made.controls[0])
    row = run.finished[made.id]
    assert (row["verdict"], row["known"]) == ("REFUTED", "rounds at 3 places")


@pytest.mark.parametrize("way", ["no sample at all", "a floor is beaten", "a crash"])
def test_a_known_refutation_excuses_no_other_verdict(tmp_path, way):
    row = claim_of(tmp_path, claim(WAYS[way][0]), deviations=[_known()])
    assert (row["verdict"], row["known"]) == ("VOID", "")


def test_one_unknown_refutation_beside_a_known_one_is_not_excused(tmp_path):
    made = claim(answers(2.0), cases=TWO)
    row = claim_of(tmp_path, made, deviations=[_known(case="a")])
    assert (row["verdict"], row["known"]) == ("REFUTED", "")


def test_a_known_refutation_without_a_caught_control_is_void(tmp_path):
    made = claim(answers(2.0), controls=(control(answers(0.5)),))
    row = claim_of(tmp_path, made, deviations=[_known()])
    assert (row["verdict"], row["known"]) == ("VOID", "")


def test_the_refutation_of_a_control_is_never_marked_as_known(tmp_path):
    made = claim()
    run = run_of(tmp_path, made, deviations=[_known()])
    judge(run, made)
    assert run.verdicts[made.id, "too slow", "all"]["known"] == ""


# Whole runs of pytest ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 0),
        ({"samples": [2.0]}, 1),
        ({"samples": []}, 20),
        ({"body": "raise MemoryError"}, 20),
        ({"body": "import pytest; pytest.skip('later')"}, 20),
        ({"judged_on": {"cuda"}}, 20),
        ({"limit": 5000.0}, 20),
    ],
)
def test_the_exit_status_of_pytest_is_that_of_the_verdicts(inside, tmp_path, changes, status):
    made_up.write_claim(tmp_path, **changes)
    found, output = inside(tmp_path, "--ledger", tmp_path / "run.jsonl")
    assert found == status, output
    footer = read(tmp_path / "run.jsonl").footer
    assert footer is not None
    assert footer["exit"] == status


def test_the_worst_claim_decides_the_exit_status(inside, tmp_path):
    made_up.write_claim(tmp_path, "good")
    made_up.write_claim(tmp_path, "void", samples=[])
    assert inside(tmp_path, "--ledger", tmp_path / "a.jsonl")[0] == 20
    made_up.write_claim(tmp_path, "bad", samples=[2.0])
    assert inside(tmp_path, "--ledger", tmp_path / "b.jsonl")[0] == 1


def test_a_run_that_stops_at_the_first_failure_is_no_success_and_can_be_resumed(inside, tmp_path):
    made_up.write_claim(tmp_path, "a")
    made_up.write_claim(tmp_path, "b", samples=[2.0], cases=["one", "two"])
    path = tmp_path / "run.jsonl"
    status, output = inside(tmp_path, "-x", "--ledger", path)
    assert status == 20, output
    assert read(path).footer is None
    assert inside(tmp_path, "--resume", path)[0] == 1
    assert read(path).footer is not None


def test_a_rehearsal_without_a_crash_succeeds_and_its_replay_says_the_same(inside, tmp_path):
    made_up.write_claim(tmp_path, judged_on={"cuda"}, samples=[2.0])
    path, again = tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    status, output = inside(tmp_path, "--rehearsal", "--ledger", path)
    assert status == 0, output
    assert len(made_up.calls(tmp_path)) == 2
    status, output = inside(tmp_path, "--replay", path, "--ledger", again)
    assert status == 0, output
    for ledger in (path, again):
        rows = read(ledger).rows
        assert {r["verdict"] for r in rows if "verdict" in r} == {"NOT APPLICABLE"}


def test_a_rehearsal_with_a_crash_is_no_success(inside, tmp_path):
    made_up.write_claim(tmp_path, judged_on={"cuda"}, body="raise MemoryError")
    status, output = inside(tmp_path, "--rehearsal", "--ledger", tmp_path / "run.jsonl")
    assert status == 20, output


def test_claims_that_attach_a_profiler_come_last(inside, tmp_path):
    first = made_up.write_claim(tmp_path, "a")
    first.write_text(first.read_text().replace("timed=False", "profiled=True"))
    made_up.write_claim(tmp_path, "b")
    status, output = inside(tmp_path, "--ledger", tmp_path / "run.jsonl")
    assert status == 0, output
    assert [line.split()[0] for line in made_up.calls(tmp_path)] == ["b", "b", "a", "a"]


def test_a_failing_test_that_is_no_claims_fails_the_run_all_the_same(inside, tmp_path):
    made_up.write_claim(tmp_path)
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert False\n")
    assert inside(tmp_path, "--ledger", tmp_path / "run.jsonl")[0] == 1


def test_a_claim_file_that_cannot_be_loaded_fails_the_run_without_a_traceback_of_ours(
    inside, tmp_path
):
    made_up.write_claim(tmp_path)
    (tmp_path / "test_broken.py").write_text("import nowhere_at_all\n")
    status, output = inside(tmp_path, "--ledger", tmp_path / "run.jsonl")
    assert status == 2, output
    assert "INTERNALERROR" not in output


def test_a_claim_with_a_reason_for_no_control_has_one_test_and_no_skip(inside, tmp_path):
    path = made_up.write_claim(tmp_path)
    text = path.read_text()
    lines = [
        "    no_control_because='no fault can be planted', controls=(),"
        if "controls=(" in line
        else line
        for line in text.splitlines()
    ]
    path.write_text("\n".join(lines))
    status, output = inside(tmp_path, "--ledger", tmp_path / "run.jsonl")
    assert status == 0, output
    assert "1 passed" in output
    assert "skipped" not in output


@pytest.mark.parametrize(
    ("selection", "status"),
    [(["-k", "holds"], 20), (["-k", "control"], 20), (["-k", "holds and a"], 20), ([], 0)],
)
def test_a_selection_of_some_tests_of_a_claim_is_no_success(inside, tmp_path, selection, status):
    made_up.write_claim(tmp_path, cases=["a", "b"])
    found, output = inside(tmp_path, *selection, "--ledger", tmp_path / "run.jsonl")
    assert found == status, output


def test_a_selection_of_nothing_is_no_success(inside, tmp_path):
    made_up.write_claim(tmp_path)
    assert inside(tmp_path, "-k", "no_such_test", "--ledger", tmp_path / "run.jsonl")[0] == 5
