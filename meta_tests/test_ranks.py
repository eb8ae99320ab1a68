"""A run over several ranks (torchrun): one ledger, one verdict, and no rank that hangs."""

from __future__ import annotations

import json
import types

import pytest
import torch
from torch import distributed

from claims._kit import ledger, together
from claims._kit.together import Told, one_judgement
from claims._kit.verdict import Judgement, Verdict
from claims._wiring import several
from fixtures import cutting, fitting, loading, ranks, targets
from fixtures.needs import CannotRun, Need
from fixtures.ranks import Place, Ranks
from fixtures.targets import TargetError
from meta_tests import made_up, over_ranks
from meta_tests.made_up import ROOT, answers, claim, conditions, run_of

# One process among several -----------------------------------------------------------------------


@pytest.fixture
def launched(monkeypatch):
    """The environment of the second of two ranks."""
    told = {"TORCHELASTIC_RUN_ID": "x", "RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_a_process_of_torchrun_knows_its_place(launched):
    assert ranks.place() == Place(1, 2, 2)


def test_other_launchers_and_a_single_process_change_nothing(launched):
    launched.setenv("WORLD_SIZE", "1")
    assert ranks.place() is None
    launched.setenv("WORLD_SIZE", "2")
    launched.delenv("TORCHELASTIC_RUN_ID")
    launched.setenv("SLURM_PROCID", "1")
    assert ranks.place() is None


def asked(**given):
    names = ("replay", "claims", "collectonly", "base_url", "serve")
    return types.SimpleNamespace(**{"markexpr": "gpu", **dict.fromkeys(names, ""), **given})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"markexpr": ""}, "give -m gpu"),
        ({"markexpr": "cpu"}, "give -m gpu"),
        ({"markexpr": "server"}, "give -m gpu"),
        ({"markexpr": "gpu or cpu"}, "give -m gpu"),
        ({"markexpr": "not gpu"}, "give -m gpu"),
        ({"dist": "loadfile"}, "leave -n out"),
        ({"replay": "x.jsonl"}, "--replay"),
        ({"base_url": "http://x"}, "--base-url"),
    ],
)
def test_what_ranks_cannot_share_is_refused(given, words):
    assert words in several.refusal(asked(**given), Place(0, 2, 2))


@pytest.mark.parametrize("lane", ["gpu", "gpu and not timed", "gpu and not cpu"])
def test_the_gpu_lane_is_shared(lane):
    assert several.refusal(asked(markexpr=lane, dist="no"), Place(0, 2, 2)) == ""


def test_ranks_on_two_nodes_are_refused():
    assert "server" in several.refusal(asked(), Place(0, 4, 2))


def test_a_timeout_that_is_no_number_is_one_line(monkeypatch):
    for told in ("soon", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(ranks.TIMEOUT, told)
        with pytest.raises(CannotRun, match="give a number of seconds"):
            ranks.timeout_s()


# Words between ranks -----------------------------------------------------------------------------


@pytest.fixture
def pair():
    """Two ranks in one process, over a store in its memory."""
    store = distributed.HashStore()
    return [Ranks(rank, 2, store, timeout_s=0.2) for rank in (0, 1)]


def test_what_rank_0_says_is_agreed(pair):
    first, second = pair
    assert (first.agreed(3), second.agreed(4)) == (3, 3)
    assert (first.agreed([True, ""]), second.agreed(None)) == ([True, ""], [True, ""])
    assert (first.begins("x"), second.begins("y")) == ("x", "x")


def test_ranks_that_asked_differently_often_meet_again_where_the_next_part_begins(pair):
    first, second = pair
    first.agreed(1)
    first.agreed(2)
    second.agreed(0)
    for rank in pair:
        rank.begins("x")
    assert (first.agreed(3), second.agreed(4)) == (3, 3)


def test_a_rank_that_says_nothing_is_not_waited_for_longer_than_that(pair):
    first, second = pair
    with pytest.raises(TimeoutError):
        second.agreed(1)
    assert first.all_say("here") == ["here", None]
    assert second.ends("here") == [None, "here"]


def test_alone_a_value_is_its_own():
    assert ranks.here() is None
    assert ranks.agreed(7) == 7
    assert ranks.first(lambda: 8) == ranks.everywhere(lambda: 8) == 8


@pytest.fixture
def second(pair, monkeypatch):
    """This process as the second of two; gives what speaks as the first."""
    monkeypatch.setattr(ranks, "_here", [pair[1]])
    return pair[0]


def test_what_rank_0_cannot_do_none_can(second):
    second.agreed(["/weights", ""])
    assert ranks.first(lambda: pytest.fail("done twice")) == "/weights"
    second.agreed([None, "no room"])
    with pytest.raises(TargetError, match="no room"):
        ranks.first(lambda: pytest.fail("done twice"))


def test_what_one_rank_cannot_do_none_goes_on_with(second):
    second.store.set("0 said 1 0", json.dumps("OutOfMemoryError: full"))
    with pytest.raises(TargetError, match="rank 0: OutOfMemoryError: full"):
        ranks.everywhere(lambda: "loaded")


# One verdict -------------------------------------------------------------------------------------

HELD = Told(together.MEASURED, "CONFIRMED", "at most 1")
REFUTED = Told(together.MEASURED, "REFUTED", "2 is more than 1")
VOID = Told(together.MEASURED, "VOID", "the device slowed itself down")
LACKS = Told(together.LACKING, "NOT APPLICABLE", "lacks it")
CRASHED = Told("crashed, OutOfMemoryError", "VOID", "out of memory")
OWN = Judgement(verdict=Verdict.CONFIRMED, reason="at most 1", estimate=0.5, n=3)


@pytest.mark.parametrize(
    ("told", "timed", "verdict"),
    [
        ((HELD, HELD), False, "CONFIRMED"),
        ((HELD, REFUTED), False, "VOID"),
        ((HELD, REFUTED), True, "CONFIRMED"),
        ((REFUTED, HELD), True, "REFUTED"),
        ((HELD, VOID), True, "VOID"),
        ((LACKS, LACKS), False, "NOT APPLICABLE"),
        ((CRASHED, CRASHED), False, "VOID"),
    ],
)
def test_seconds_are_rank_0s_and_all_else_is_everybodys(told, timed, verdict):
    own = Judgement(verdict=Verdict(told[0].verdict), reason=told[0].reason, estimate=0.5)
    judged, stop = one_judgement(own, told, rank=0, timed=timed)
    assert (str(judged.verdict), stop) == (verdict, "")
    assert judged.estimate == 0.5
    other, _ = one_judgement(OWN, told, rank=1, timed=timed)
    assert (other.verdict, other.reason) == (judged.verdict, judged.reason)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ((HELD, None), "rank 1: no word of it in time"),
        ((None, CRASHED), "rank 1: crashed, OutOfMemoryError"),
        ((HELD, LACKS), "rank 1: not applicable"),
        ((CRASHED, Told("crashed, RuntimeError", "VOID", "closed")), "RuntimeError"),
    ],
)
def test_ranks_that_ended_differently_do_not_go_on(told, words):
    judged, stop = one_judgement(OWN, told, rank=0, timed=True)
    assert judged.verdict is Verdict.VOID
    assert words in stop
    assert judged.reason == stop


def others(rank, *told, begun=None):
    """The other ranks, which said this."""
    said = [None if each is None else vars(each) for each in told]
    begun = [] if begun is None else begun
    parted = pytest.fail if None not in told else begun.append
    return together.Others(rank=rank, begin=begun.append, say=lambda _: said, part=parted)


def test_a_run_asks_the_others_about_claims_with_a_model_alone(tmp_path):
    begun = []
    offers = frozenset({Need.MODEL})
    on = conditions(
        others=others(0, HELD, REFUTED, begun=begun),
        engine=lambda: answers(0.5),
        offers=lambda: offers,
    )
    modelled = claim(id="made/up", needs=frozenset({Need.MODEL}))
    object.__setattr__(modelled, "subject", None)
    run = run_of(tmp_path, modelled, conditions=on)
    made_up.judge(run, modelled)
    row = run.verdicts["made/up", "subject", "all"]
    assert row["verdict"] == "VOID"
    assert "rank 1 to REFUTED: 2 is more than 1" in row["reason"]
    assert begun == ["made/up [subject, all]", "made/up [too slow, all]"]
    free = claim(id="made/free")
    run.plan(free, "subject", "all")
    assert made_up.outcome(lambda: run.holds(free, free.cases[0]))[0] == "passed"


def test_another_rank_leaves_claims_without_a_model_to_rank_0(tmp_path):
    free = claim()
    run = run_of(tmp_path, free, conditions=conditions(others=others(1)))
    made_up.judge(run, free)
    assert run.verdicts["made/up", "subject", "all"]["reason"] == together.NOT_MINE


def test_a_run_whose_ranks_went_apart_keeps_the_case_as_void_and_parts(tmp_path):
    parted = []
    on = conditions(others=others(0, HELD, None, begun=parted), engine=lambda: answers(0.5))
    made = claim()
    object.__setattr__(made, "subject", None)
    run = run_of(tmp_path, made, conditions=on)
    made_up.judge(run, made)
    assert run.verdicts["made/up", "subject", "all"]["verdict"] == "VOID"
    assert any("no word of it in time" in line for line in parted)


# What a rank holds -------------------------------------------------------------------------------


def test_heads_that_ranks_do_not_divide_are_refused():
    config = types.SimpleNamespace(num_attention_heads=9, num_key_value_heads=3)
    assert "2 ranks do not divide its 9 heads, 3 of them" in cutting.uneven(config, 2)
    assert cutting.uneven(config, 3) == ""


def test_a_whole_model_is_held_whole():
    model = loading.from_shape("tiny", device="cpu", seed=0)
    assert (cutting.parts(model), cutting.kv_parts(model)) == (1, 1)
    assert cutting.held_bytes(model) == 4 * sum(p.numel() for p in model.parameters())


def test_what_a_rank_needs_is_its_part_by_the_plan():
    """Of the 8B shape all but the scales of its normalisations is cut."""
    values = targets.shape_of("qwen3-8b")
    model = loading.from_values(values, device="meta", dtype=torch.bfloat16)
    assert fitting.share_of_a_rank(model, 2) == pytest.approx(0.5, abs=0.001)
    assert fitting.share_of_a_rank(model, 1) == 1.0
    model.tp_plan = None
    assert fitting.share_of_a_rank(model, 2) == 1.0


def test_a_model_that_one_device_does_not_hold_fits_on_two(monkeypatch, pair):
    target = targets.random_weights("qwen3-8b")
    monkeypatch.setattr(fitting, "free_bytes", lambda _device: 12 * 2**30)
    with pytest.raises(TargetError, match="does not fit"):
        fitting.check(target, dtype=torch.bfloat16, device="cuda")
    monkeypatch.setattr(ranks, "_here", [pair[0]])
    fitting.check(target, dtype=torch.bfloat16, device="cuda")
    with pytest.raises(TargetError, match="each of 2 ranks needs"):
        fitting.check(target, dtype=torch.bfloat16, device="cpu")


def test_random_weights_that_find_no_room_are_refused(monkeypatch):
    monkeypatch.setattr(fitting, "free_bytes", lambda _device: 1000)
    with pytest.raises(TargetError, match="bytes and a tenth more in the host's memory"):
        cutting.written("tiny", 17, "cpu")


# torchrun ----------------------------------------------------------------------------------------

# Two of the gpu lane's claims that a processor judges, two that only a rehearsal tries, one that
# a model in parts does not have, and one without a model.
JUDGED = ("loop/test_hand_loop_equals_generate", "memory/test_cache_grows_linearly")
TRIED = ("roofline/test_not_thermal", "phases/test_short_prompts_are_flat")
FILES = (*JUDGED, *TRIED, "roofline/test_graph_speedup", "loop/test_stateless")


def verdicts(path):
    """Verdict by claim, role and case, and the claims' own."""
    rows = ledger.read(path).rows
    cases = {
        (r["claim"], r["role"], r["case"]): r["verdict"] for r in rows if r["kind"] == "verdict"
    }
    return cases, {r["claim"]: r["verdict"] for r in rows if r["kind"] == "claim"}


def files(*names):
    return [ROOT / "claims" / f"{name}.py" for name in names]


@pytest.mark.slow
def test_two_ranks_come_to_the_verdicts_of_one(tmp_path):
    """Judged for real on a processor, weights and cache in two parts; the page says so."""
    chosen = files(*FILES)
    plain = ["-m", "gpu", "--device", "cpu", "--model", "random:tiny", "--ledger"]
    one = made_up.arguments(*plain, tmp_path / "one.jsonl", *chosen, stand_in=False)
    status, output = made_up.finished(one, folder=tmp_path)
    assert status == 0, output
    status, output = over_ranks.torchrun(
        "--ledger", tmp_path / "two.jsonl", *chosen, folder=tmp_path
    )
    assert status == 0, output
    assert verdicts(tmp_path / "two.jsonl") == verdicts(tmp_path / "one.jsonl")
    assert output.count("claims hold here") == 1
    assert output.count("ledger:") == 1
    told = ledger.read(tmp_path / "two.jsonl")
    assert told.header["engine"]["ranks"] == 2
    assert told.header["engine"]["backend"] == "gloo"
    assert told.header["command"].startswith("torchrun --nproc-per-node 2 -m pytest")
    assert told.footer is not None
    shown = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert "ranks 2" in shown
    assert "torchrun --nproc-per-node 2 -m pytest claims/loop" in shown


@pytest.mark.slow
def test_a_rehearsal_over_two_ranks_tries_what_a_model_in_parts_can_do(tmp_path):
    path = tmp_path / "run.jsonl"
    chosen = files(*TRIED, "roofline/test_graph_speedup")
    status, output = over_ranks.torchrun("--rehearsal", "--ledger", path, *chosen, folder=tmp_path)
    assert status == 0, output
    rows = ledger.read(path).rows
    reasons = {r["claim"]: r["reason"] for r in rows if r["kind"] == "verdict"}
    assert reasons["roofline/not-thermal"] == "rehearsal: judges nothing"
    assert reasons["phases/short-prompts-are-flat"] == "rehearsal: judges nothing"
    assert "lacks a model that one device holds" in reasons["roofline/graph-speedup"]


# The first reading sets the end: by its own clock rank 0 decodes once, rank 1 would twice.
WORK = """\
left = iter(range(2 + RANK))
stages.work(engine, 1.0, clock=lambda: 0.0 if next(left, None) is not None else 2.0)
samples = [0.5 + ranks.agreed(RANK)]
forward(engine)"""


@pytest.mark.slow
def test_a_clock_that_ends_later_on_one_rank_hangs_none(tmp_path):
    over_ranks.write_claim(tmp_path, "work", WORK)
    path = tmp_path / "run.jsonl"
    status, output = over_ranks.torchrun("--ledger", path, tmp_path, folder=tmp_path)
    assert status == 0, output
    assert verdicts(path)[0]["made/work", "subject", "all"] == "CONFIRMED"
    samples = [r["samples"] for r in ledger.read(path).rows if r["kind"] == "samples"]
    assert samples[0] == [0.5]


ALONE = """\
for _ in range(2 + 4 * RANK):
    forward(engine)"""


@pytest.mark.slow
def test_without_agreement_the_same_ranks_part_in_time(tmp_path):
    """What `agreed` prevents: one rank waits in a collective that the other never reaches."""
    over_ranks.write_claim(tmp_path, "alone", ALONE)
    path = tmp_path / "run.jsonl"
    status, output = over_ranks.torchrun(
        "--ledger", path, tmp_path, folder=tmp_path, ONECALL_RANKS_TIMEOUT_S="8"
    )
    assert status != 0
    lines = [line for line in output.splitlines() if "the ranks went apart" in line]
    assert len(lines) == 1, output
    assert "rank 1: no word of it in time" in lines[0]
    assert verdicts_of_a_cut_run(path)["made/alone", "subject", "all"] == "VOID"


def verdicts_of_a_cut_run(path):
    old = ledger.read(path, tolerate_cut=True)
    assert old.footer is None
    return {
        (r["claim"], r["role"], r["case"]): r["verdict"]
        for r in old.rows
        if r["kind"] == "verdict"
    }


FAILS = """\
if RANK and case.name == "y":
    {failure}
for _ in range(3):
    forward(engine)"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ("raise MemoryError('planted: out of memory')", "planted: out of memory"),
        ("os.kill(os.getpid(), 9)", ""),
    ],
)
def test_a_rank_that_fails_alone_ends_the_run_in_time(failure, said, tmp_path):
    """It says so in one line; one that was killed leaves that to torchrun."""
    over_ranks.write_claim(tmp_path, "a", "forward(engine)")
    body = FAILS.format(failure=failure)
    over_ranks.write_claim(tmp_path, "b", body, cases=["x", "y", "z"])
    path = tmp_path / "run.jsonl"
    status, output = over_ranks.torchrun(
        "--ledger", path, tmp_path, folder=tmp_path, longest_s=120, ONECALL_RANKS_TIMEOUT_S="8"
    )
    assert status != 0
    lines = [line for line in output.splitlines() if line.startswith("onecall: rank 1")]
    assert len(lines) == bool(said), output
    assert all("made/b [subject, y]" in line and said in line for line in lines)
    held = verdicts_of_a_cut_run(path)
    assert held["made/a", "subject", "all"] == "CONFIRMED"
    assert held["made/b", "subject", "x"] == "CONFIRMED"
    assert ("made/b", "subject", "z") not in held
    assert "did not reach its end" in (tmp_path / "run.html").read_text(encoding="utf-8")
    if said:
        assert held["made/b", "subject", "y"] == "VOID"
        resumed(path, tmp_path)


def resumed(path, folder):
    """The same run again: it leaves the case that broke it, and comes to its end."""
    status, output = over_ranks.torchrun("--resume", path, folder, folder=folder)
    assert status == 1, output
    assert "exit status of rank 0: 20" in output
    assert ledger.read(path).footer["counts"] == {"CONFIRMED": 1, "VOID": 1}
    assert verdicts(path)[0]["made/b", "subject", "z"] == "CONFIRMED"


@pytest.mark.slow
def test_a_failure_of_all_ranks_voids_its_case_alone(tmp_path):
    body = "forward(engine)\nif case.name == 'x':\n    raise MemoryError('planted')"
    over_ranks.write_claim(tmp_path, "a", body, cases=["x", "y"])
    path = tmp_path / "run.jsonl"
    status, output = over_ranks.torchrun("--ledger", path, tmp_path, folder=tmp_path)
    assert status == 1, output  # torchrun's own
    cases, _ = verdicts(path)
    assert cases["made/a", "subject", "x"] == "VOID"
    assert cases["made/a", "subject", "y"] == "CONFIRMED"
    assert "exit status of rank 0: 20" in output


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["cpu", "server"])
def test_another_lane_under_torchrun_is_one_line(lane, tmp_path):
    status, output = over_ranks.torchrun("-m", lane, tmp_path, folder=tmp_path)
    assert status != 0
    lines = [line for line in output.splitlines() if "onecall:" in line]
    assert len(lines) == 1, output
    assert "give -m gpu, or start pytest without torchrun" in lines[0]
