"""The ledger: what survives a cut, a kill, a full disk, and a hand that wrote nonsense into it."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from math import inf, isnan, nan
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claims._kit import ledger, stored
from claims._kit.figures import Case
from claims._kit.ledger import LedgerError, Unwritable, Writer
from claims._kit.measure import Measured
from meta_tests import made_up
from meta_tests.made_up import answers, claim, header, judge, refused, run_of


def whole(folder: Path) -> Path:
    """A finished ledger with two cases, a control, and a sample that is no number."""
    made = claim(
        lambda case: Measured(samples=[nan] if case.name == "b" else [0.5]),
        cases=(Case(name="a"), Case(name="b")),
    )
    run = run_of(folder, made)
    judge(run, made)
    run.close("2026-01-01", 20, [])
    return run.writer.path


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    return whole(tmp_path_factory.mktemp("whole"))


def error_of(path: Path, **options) -> str:
    with pytest.raises(LedgerError) as caught:
        ledger.read(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert str(path) in line
    return line


# Reading -----------------------------------------------------------------------------------------


def test_a_ledger_cut_at_any_byte_reads_as_its_whole_lines_or_says_one_line(tmp_path):
    made = claim(answers(nan), controls=(), no_control_because="short, for a test of each byte")
    run = run_of(tmp_path, made)
    judge(run, made)
    run.close("2026-01-01", 20, [])
    data, cut = run.writer.path.read_bytes(), tmp_path / "cut.jsonl"
    rows = ledger.read(run.writer.path).all_rows
    assert [r["kind"] for r in rows] == ["header", "samples", "verdict", "claim", "footer"]
    ends = [i for i, byte in enumerate(data) if byte == ord("\n")]
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        # A last line that lacks only its line break is whole.
        complete = sum(end <= size for end in ends)
        at_line_end = size in ends or size - 1 in ends
        if complete == 0:
            assert "empty" in error_of(cut, tolerate_cut=True)
        else:
            # As words, because a sample that is no number does not equal itself.
            assert str(ledger.read(cut, tolerate_cut=True).all_rows) == str(rows[:complete])
        if at_line_end:
            assert str(ledger.read(cut).all_rows) == str(rows[:complete])
        else:
            assert ("cut off" if size else "empty") in error_of(cut)


def test_a_ledger_cut_at_any_byte_can_be_resumed_and_appended_to(finished, tmp_path):
    data, cut = finished.read_bytes(), tmp_path / "cut.jsonl"
    lines = data.splitlines(keepends=True)
    last = len(data) - len(lines[-1])
    first = len(lines[0])
    for size in [*range(first, last, 7), *range(last - 3, last + 1)]:
        cut.write_bytes(data[:size])
        writer = Writer(cut)
        kept = stored.resume(cut, header(), writer)
        writer.write(json.loads(lines[-1]))
        writer.close()
        again = ledger.read(cut)
        verdicts = [r for r in again.rows if r["kind"] == "verdict"]
        assert len(kept) == len(verdicts)
        assert data.startswith(cut.read_bytes()[: -len(lines[-1])])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"\n", "not a JSON line"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"hello\n", "not a JSON line"),
        (b"null\n", "no kind of ledger row"),
        (b"[1, 2]\n", "no kind of ledger row"),
        (b"{}\n", "no kind of ledger row"),
        (b'{"kind": "guess"}\n', "'guess' is no kind of ledger row"),
        (b'{"kind": ["header"]}\n', "no kind of ledger row"),
        (b'{"kind": "header"}\n', "required property"),
        (b'{"kind": "footer", "exit": NaN}\n', "NaN is not JSON"),
        (b'{"kind": "footer", "exit": ' + b"9" * 400 + b"}\n", "beyond what a float holds"),
        (b'{"kind": "footer", "exit": ' + b"9" * 5000 + b"}\n", "not a JSON line"),
        (b"[" * 100_000 + b"\n", "not a JSON line"),
    ],
)
@pytest.mark.parametrize("tolerate_cut", [False, True])
def test_what_is_no_ledger_is_told_in_one_line(tmp_path, content, told, tolerate_cut):
    path = tmp_path / "made.jsonl"
    path.write_bytes(content)
    assert told in error_of(path, tolerate_cut=tolerate_cut)


def test_a_missing_ledger_and_a_folder_are_told_in_one_line(tmp_path):
    assert "No such file" in error_of(tmp_path / "none.jsonl")
    assert "directory" in error_of(tmp_path)


def _rewritten(finished: Path, tmp_path: Path, change) -> Path:
    rows = [json.loads(line) for line in finished.read_text().splitlines()]
    path = tmp_path / "rewritten.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))
    return path


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows[1:], "no header"),
        (lambda rows: [rows[0], *rows], ":2: a second header"),
        (lambda rows: [*rows, rows[1]], ":9: a second footer"),
        (lambda rows: [*rows, rows[-1]], "a second footer"),
        (lambda rows: [{**rows[0], "schema": 2}, *rows[1:]], ":1: 1 was expected"),
        (lambda rows: [{**rows[0], "shoe": 1}, *rows[1:]], "'shoe' was unexpected"),
        (lambda rows: [rows[0], {**rows[1], "samples": ["x"]}], ":2: 'x' is not valid"),
        (lambda rows: [rows[0], {**rows[1], "samples": [True]}], ":2: True is not valid"),
        (lambda rows: [rows[0], {**rows[2], "verdict": "FINE"}], ":2: 'FINE' is not one of"),
        (lambda rows: [rows[0], {**rows[2], "claim": "../etc"}], ":2: '../etc' does not match"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_line(finished, tmp_path, change, told):
    assert told in error_of(_rewritten(finished, tmp_path, change))


@settings(max_examples=150, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_a_damaged_ledger_is_an_error_of_the_ledger_and_of_no_other_kind(finished, data):
    content = bytearray(finished.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = finished.with_name("damaged.jsonl")
    path.write_bytes(content)
    for tolerate_cut in (False, True):
        try:
            read = ledger.read(path, tolerate_cut=tolerate_cut)
        except LedgerError as error:
            assert "\n" not in str(error)
        else:
            assert read.header["kind"] == "header"


def test_numbers_that_are_none_survive_the_way_to_the_disk_and_back(tmp_path):
    made = claim(answers(nan, inf, -inf, 0.1 + 0.2, 5e-324, notes={"worst": nan}))
    run = run_of(tmp_path, made)
    judge(run, made)
    row = next(r for r in ledger.read(run.writer.path).rows if r["kind"] == "samples")
    first, *rest = row["samples"]
    assert isnan(first)
    assert rest == [inf, -inf, 0.1 + 0.2, 5e-324]
    assert row["notes"] == {"worst": "nan"}
    assert "NaN" not in run.writer.path.read_text()


def test_what_the_writer_keeps_in_memory_is_what_a_reader_finds(finished):
    read = ledger.read(finished)
    assert read.footer is not None
    assert [r["kind"] for r in read.all_rows].count("verdict") == 3
    writer = Writer(finished.with_name("copy.jsonl"))
    for row in read.all_rows:
        writer.write(row)
    copied = [{**r, "samples": str(r.get("samples"))} for r in writer.rows]
    assert copied == [{**r, "samples": str(r.get("samples"))} for r in read.all_rows]


# Writing -----------------------------------------------------------------------------------------


def test_a_row_is_synced_to_the_disk_before_the_next_one_begins(tmp_path, monkeypatch):
    writer, synced = Writer(tmp_path / "run.jsonl"), []
    sync = os.fsync

    def spy(descriptor: int) -> None:
        sync(descriptor)
        synced.append(writer.path.read_text().count("\n"))

    monkeypatch.setattr(os, "fsync", spy)
    for count in (1, 2, 3):
        writer.write(header())
        assert synced == list(range(1, count + 1))


def test_a_verdict_is_on_the_disk_before_the_next_case_is_measured(tmp_path):
    found = []

    def look(_case: Case) -> Measured:
        rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
        found.append([r["case"] for r in rows if r["kind"] == "verdict"])
        return Measured(samples=[0.5])

    made = claim(look, cases=tuple(Case(name=name) for name in "abc"), controls=())
    judge(run_of(tmp_path, made), made)
    assert found == [[], ["a"], ["a", "b"]]


class FullDisk:
    """A file on a disk without room; it takes the first ``room`` characters."""

    def __init__(self, path: Path, room: int) -> None:
        self.file, self.room = path.open("a"), room

    def write(self, text: str) -> None:
        self.file.write(text[: self.room])
        self.file.flush()
        if len(text) > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        pass

    def fileno(self) -> int:
        return self.file.fileno()

    def close(self) -> None:
        self.file.close()


def test_a_full_disk_is_told_in_one_line_and_keeps_what_was_written(tmp_path):
    writer = Writer(tmp_path / "run.jsonl")
    writer.write(header())
    writer.close()
    writer._file = FullDisk(writer.path, room=40)
    with pytest.raises(Unwritable, match="No space left on device"):
        writer.write(header())
    assert len(writer.rows) == 1
    assert ledger.read(writer.path, tolerate_cut=True).header["kind"] == "header"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full on this system")
def test_the_systems_own_full_device_is_told_in_one_line():
    with pytest.raises(Unwritable, match="No space left on device"):
        Writer(Path("/dev/full")).write(header())


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unwritable, match=r"Not a directory|File exists"):
        Writer(tmp_path / "file" / "run.jsonl").write(header())


def test_a_row_that_does_not_fit_is_refused_before_anything_is_written(tmp_path):
    writer = Writer(tmp_path / "run.jsonl")
    with pytest.raises(LedgerError, match="new header row: 1 was expected"):
        writer.write(header(schema=2))
    with pytest.raises(TypeError):
        writer.write(header(target={"model": object()}))
    assert not writer.path.exists()


# Stored runs -------------------------------------------------------------------------------------


def _verdict(case: str) -> dict:
    return {"kind": "verdict", "claim": "made/up", "role": "subject", "case": case}


def _samples(case: str, value: float) -> dict:
    return {**_verdict(case), "kind": "samples", "samples": [value]}


def test_samples_without_a_verdict_are_left_out():
    rows = [_samples("a", 1.0), _verdict("a"), _samples("b", 2.0)]
    assert list(stored.stored_rows(rows)) == [("made/up", "subject", "a")]


def test_a_case_measured_again_after_a_kill_is_judged_on_its_new_samples():
    rows = [_samples("a", 1.0), _samples("a", 2.0), _verdict("a")]
    found = stored.stored_rows(rows)["made/up", "subject", "a"]
    assert [r.get("samples") for r in found] == [[2.0], None]


def test_resuming_what_is_no_ledger_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"one line\nanother without an end")
    with pytest.raises(LedgerError):
        stored.resume(path, header(), Writer(path))
    assert path.read_bytes() == b"one line\nanother without an end"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"target": {"name": "other"}}, "target"),
        ({"device": "cuda"}, "device"),
        ({"lane": "gpu"}, "lane"),
        ({"rehearsal": True}, "rehearsal"),
        ({"engine": {"name": "other"}}, "engine"),
        ({"software": {"torch": "1.0"}}, "software"),
        ({"machine": {"cpu": "another"}}, "machine"),
        ({"machine": {"gpus": [{"name": "another"}]}}, "machine"),
        ({"seed": 1, "lane": "gpu"}, "seed, lane"),
    ],
)
def test_a_run_under_other_conditions_is_not_joined(tmp_path, changed, named):
    path = tmp_path / "run.jsonl"
    Writer(path).write(header())
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=f"{named} differ") as caught:
        stored.resume(path, header(**changed), Writer(path))
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_clocks_and_temperature_may_move_between_the_halves_of_a_run(tmp_path):
    def at(degrees: int) -> dict:
        gpu = {"name": "one", "temperature_c": degrees, "sm_clock_mhz": 1000 + degrees}
        return header(machine={"cpu": "c", "gpus": [gpu]}, started=str(degrees))

    path = tmp_path / "run.jsonl"
    Writer(path).write(at(30))
    assert stored.resume(path, at(60), Writer(path)) == {}


# Runs of pytest itself ---------------------------------------------------------------------------

DEADLINE_S = 60


def kill_at(case: str, folder: Path, path: Path) -> None:
    """Run the claims of ``folder`` and kill the run while it measures ``case``."""
    args = made_up.arguments(folder, "--ledger", path, "-q")
    process = made_up.command(args, folder=folder, ONECALL_HOLD_AT=case)
    until = time.monotonic() + DEADLINE_S
    while not any(case in line.split() for line in made_up.calls(folder)):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until, "the run never came to its slow case"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == -signal.SIGKILL


def test_a_killed_run_is_finished_by_resume_and_nothing_is_measured_twice(tmp_path, inside):
    made_up.write_claim(tmp_path, "first")
    made_up.write_claim(tmp_path, "second", cases=["a", "slow", "z"])
    path = tmp_path / "run.jsonl"
    kill_at("slow", tmp_path, path)
    half = path.read_bytes()
    before = ledger.read(path)
    assert before.footer is None
    assert {(r["claim"], r["role"], r["case"]) for r in before.rows if r["kind"] == "verdict"} == {
        ("made/first", "subject", "all"),
        ("made/first", "too slow", "all"),
        ("made/second", "subject", "a"),
    }

    status, output = inside(tmp_path, "--resume", path)
    assert status == 0, output
    assert path.read_bytes().startswith(half)
    after = ledger.read(path)
    assert after.footer is not None
    assert after.footer["counts"] == {"CONFIRMED": 2}
    done = made_up.calls(tmp_path)
    again = [line for line in set(done) if done.count(line) > 1]
    assert again == ["second slow 1.0"]
    claims = [r["claim"] for r in after.rows if r["kind"] == "claim"]
    assert sorted(claims) == ["made/first", "made/second"]

    page = path.with_suffix(".html")
    shown = page.read_bytes()
    assert "this run is finished" in refused(inside(tmp_path, "--resume", path))
    assert page.read_bytes() == shown


def test_a_run_killed_between_samples_and_verdict_measures_that_case_again(inside, tmp_path):
    made_up.write_claim(tmp_path, cases=["a", "b"])
    path = tmp_path / "run.jsonl"
    assert inside(tmp_path, "--ledger", path)[0] == 0
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    assert json.loads(lines[3])["kind"] == "samples"
    assert inside(tmp_path, "--resume", path)[0] == 0
    assert made_up.calls(tmp_path).count("up a 1.0") == 1
    assert made_up.calls(tmp_path).count("up b 1.0") == 2
    assert ledger.read(path).footer is not None


def test_a_resume_that_cannot_be_is_told_in_one_line(inside, tmp_path):
    made_up.write_claim(tmp_path, cases=["a", "b"])
    path = tmp_path / "run.jsonl"
    assert inside(tmp_path, "--ledger", path)[0] == 0
    whole_run = path.read_bytes()
    path.write_bytes(b"".join(whole_run.splitlines(keepends=True)[:3]))
    resume = (tmp_path, "--resume", path)
    assert "seed differ" in refused(inside(*resume, "--seed", 7))
    assert "target differ" in refused(inside(*resume, "--target", "qwen3-8b"))
    assert "lane differ" in refused(inside(*resume, "-m", "gpu"))
    nowhere = tmp_path / "nowhere" / "run.jsonl"
    assert "no such ledger" in refused(inside(tmp_path, "--resume", nowhere))
    assert not nowhere.parent.exists()
    assert whole_run.startswith(path.read_bytes())


def test_a_new_run_never_writes_into_a_ledger_that_is_there(inside, tmp_path):
    made_up.write_claim(tmp_path)
    path = tmp_path / "run.jsonl"
    assert inside(tmp_path, "--ledger", path)[0] == 0
    kept, page = path.read_bytes(), path.with_suffix(".html").read_bytes()
    assert "exists" in refused(inside(tmp_path, "--ledger", path))
    assert "exists" in refused(inside(tmp_path, "--replay", path, "--ledger", path))
    assert (path.read_bytes(), path.with_suffix(".html").read_bytes()) == (kept, page)


def _verdicts(path: Path) -> dict:
    rows = ledger.read(path).rows
    return {(r["claim"], r["role"], r["case"]): r for r in rows if r["kind"] == "verdict"}


def test_a_replay_judges_again_without_measuring_and_says_the_same(inside, tmp_path):
    made_up.write_claim(tmp_path, "good", cases=["a", "b"])
    made_up.write_claim(tmp_path, "bad", samples=[2.0])
    made_up.write_claim(tmp_path, "crash", body="raise RuntimeError('fell over')")
    made_up.write_claim(tmp_path, "gpu", judged_on={"cuda"})
    made_up.write_claim(tmp_path, "nan", samples="[float('nan')]")
    path, again = tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    status, _ = inside(tmp_path, "--ledger", path)
    measured = made_up.calls(tmp_path)
    replayed, output = inside(tmp_path, "--replay", path, "--ledger", again, stand_in=False)
    assert (status, replayed) == (1, 1), output
    assert made_up.calls(tmp_path) == measured
    assert _verdicts(again) == _verdicts(path)
    claims = [
        {r["claim"]: r["verdict"] for r in ledger.read(p).rows if r["kind"] == "claim"}
        for p in (path, again)
    ]
    assert claims[0] == claims[1]
    assert claims[0] == {
        "made/good": "CONFIRMED",
        "made/bad": "REFUTED",
        "made/crash": "VOID",
        "made/gpu": "NOT APPLICABLE",
        "made/nan": "VOID",
    }


def test_a_replay_under_another_limit_changes_the_verdict(inside, tmp_path):
    made_up.write_claim(tmp_path, limit=1.0)
    path, again = tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    assert inside(tmp_path, "--ledger", path)[0] == 0
    made_up.write_claim(tmp_path, limit=0.25)
    assert inside(tmp_path, "--replay", path, "--ledger", again)[0] == 1
    key = ("made/up", "subject", "all")
    assert _verdicts(again)[key]["verdict"] == "REFUTED"
    assert _verdicts(again)[key]["figure"]["limit"] == 0.25
    assert len(made_up.calls(tmp_path)) == 2


def test_a_replay_of_a_part_judges_that_part_and_measures_nothing(inside, tmp_path):
    made_up.write_claim(tmp_path, "held", cases=["a", "b"])
    path, again = tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    assert inside(tmp_path, "--ledger", path)[0] == 0
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3])[:-1])
    made_up.write_claim(tmp_path, "other")
    count = len(made_up.calls(tmp_path))
    status, output = inside(tmp_path, "--replay", path, "--ledger", again)
    assert status == 20, output
    assert list(_verdicts(again)) == [("made/held", "subject", "a")]
    assert len(made_up.calls(tmp_path)) == count


def test_a_replay_of_nothing_or_of_no_ledger_is_told_in_one_line(inside, tmp_path):
    made_up.write_claim(tmp_path)
    assert "cannot read" in refused(inside(tmp_path, "--replay", tmp_path / "none.jsonl"))
    (tmp_path / "none.txt").write_text("hello\n")
    assert "not a JSON line" in refused(inside(tmp_path, "--replay", tmp_path / "none.txt"))
    assert made_up.calls(tmp_path) == []


def test_a_disk_that_fills_during_a_run_ends_it_with_one_line(tmp_path):
    made_up.write_claim(tmp_path, cases=["a", "b", "c", "d"])
    path = tmp_path / "run.jsonl"

    # The limit on a file's size stops writes as a full disk does: in the middle of a row.
    small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))"
    args = made_up.arguments(tmp_path, "--ledger", path, "-q")
    status, output = made_up.finished(args, folder=tmp_path, prelude=small)
    assert "cannot write the ledger (File too large)" in output
    assert status == 4, output
    assert "Traceback" not in output
    kept = ledger.read(path, tolerate_cut=True)
    assert kept.footer is None
    assert [r["kind"] for r in kept.rows][:2] == ["samples", "verdict"]
