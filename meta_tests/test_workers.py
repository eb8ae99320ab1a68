"""A run over several workers (pytest-xdist): one ledger, whole claims, no timed ones."""

from __future__ import annotations

import pytest

from claims._kit import ledger
from meta_tests import made_up

pytest.importorskip("xdist", reason="pytest-xdist is not installed here")


def spread(folder, *args: object) -> tuple[int, str]:
    """Exit status and output of a run of ``folder``'s claims over two workers."""
    given = ["-n", "2", "-v", "--ledger", folder / "run.jsonl", *args, folder]
    return made_up.finished(made_up.arguments(*given), folder=folder)


def kinds(folder) -> list[str]:
    return [row["kind"] for row in ledger.read(folder / "run.jsonl").all_rows]


@pytest.mark.parametrize("dist", [[], ["--dist", "load"], ["--dist", "worksteal"]])
def test_one_ledger_holds_what_all_workers_judged(dist, tmp_path):
    for name in "abcd":
        made_up.write_claim(tmp_path, name, cases=["x", "y"])
    status, output = spread(tmp_path, *dist)
    assert status == 0, output
    rows = ledger.read(tmp_path / "run.jsonl").all_rows
    assert (rows[0]["kind"], rows[-1]["kind"]) == ("header", "footer")
    assert kinds(tmp_path).count("header") == 1
    claims = {row["claim"]: row["verdict"] for row in rows if row["kind"] == "claim"}
    assert claims == {f"made/{name}": "CONFIRMED" for name in "abcd"}
    assert rows[-1]["counts"] == {"CONFIRMED": 4}
    assert kinds(tmp_path).count("verdict") == 12
    assert "4 of 4 claims hold here" in output
    assert [p.name for p in sorted(tmp_path.glob("run.*"))] == ["run.html", "run.jsonl"]


def test_cases_and_controls_of_a_claim_stay_with_one_worker(tmp_path):
    for name in "abcd":
        made_up.write_claim(tmp_path, name, cases=["x", "y", "z"], body="print(os.getpid())")
    body = (
        "open(Path(__file__).parent / f'pid-{Path(__file__).stem}', 'a').write(f'{os.getpid()} ')"
    )
    for name in "abcd":
        made_up.write_claim(tmp_path, name, cases=["x", "y", "z"], body=body)
    status, output = spread(tmp_path, "--dist", "load")
    assert status == 0, output
    pids = [set(path.read_text().split()) for path in tmp_path.glob("pid-*")]
    assert [len(each) for each in pids] == [1] * 4
    assert len(set.union(*pids)) == 2


def test_the_page_is_the_one_of_a_single_process(tmp_path):
    for name in "ab":
        made_up.write_claim(tmp_path, name)
    spread(tmp_path)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.count('id="made/a"') == 1
    assert page.count('id="made/b"') == 1


TOLD = (
    "from time import monotonic_ns; "
    "open(Path(__file__).parent / f'pid-{Path(__file__).stem}', 'a')"
    ".write(f'{os.getpid()} {os.getppid()} {monotonic_ns()} ')"
)


def test_timed_claims_go_to_no_worker_and_come_when_all_others_are_done(tmp_path):
    for name in "abc":
        made_up.write_claim(tmp_path, name, body=TOLD)
    made_up.write_claim(tmp_path, "t", timed=True, body=TOLD)
    made_up.write_claim(tmp_path, "u", timed=True, samples=[2.0])
    status, output = spread(tmp_path)
    assert status == 1, output
    old = ledger.read(tmp_path / "run.jsonl")
    found = {row["claim"]: row["verdict"] for row in old.rows if row["kind"] == "claim"}
    others = {f"made/{name}": "CONFIRMED" for name in "abct"}
    assert found == {**others, "made/u": "REFUTED"}
    assert old.footer["counts"] == {"CONFIRMED": 4, "REFUTED": 1}
    told = {p.stem[-1]: p.read_text().split() for p in tmp_path.glob("pid-*")}
    workers = {told[name][0] for name in "abc"}
    assert {told[name][1] for name in "abc"} == {told["t"][0]}
    assert told["t"][0] not in workers
    assert int(told["t"][2]) > max(int(told[name][-1]) for name in "abc")


def test_a_run_of_timed_claims_alone_needs_no_worker(tmp_path):
    made_up.write_claim(tmp_path, "t", timed=True)
    status, output = spread(tmp_path)
    assert status == 0, output
    assert "1 of 1 claim" in output


def test_a_refuted_claim_is_the_runs_exit_status(tmp_path):
    made_up.write_claim(tmp_path, "a")
    made_up.write_claim(tmp_path, "b", samples=[2.0])
    assert spread(tmp_path)[0] == 1


def test_a_worker_that_dies_leaves_its_claim_unfinished_and_the_run_void(tmp_path):
    made_up.write_claim(tmp_path, "a")
    body = "if case.name == 'y': os._exit(1)"
    made_up.write_claim(tmp_path, "b", cases=["x", "y"], body=body)
    status, output = spread(tmp_path, "--max-worker-restart", "0")
    assert status != 0, output
    rows = ledger.read(tmp_path / "run.jsonl", tolerate_cut=True)
    assert rows.footer is None
    assert "made/b" not in {row["claim"] for row in rows.rows if row["kind"] == "claim"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--dist", "each"], "judges every claim several times"),
        (["--base-url", "http://127.0.0.1:9/v1"], "with one client alone"),
        (["--resume", "run.jsonl"], "finished by one process"),
        (["--replay", "run.jsonl"], "measures nothing"),
    ],
)
def test_what_cannot_be_spread_is_refused_in_one_line(more, words, tmp_path):
    made_up.write_claim(tmp_path)
    assert words in made_up.refused(spread(tmp_path, *more))


def test_a_ledger_that_exists_is_left_alone(tmp_path):
    made_up.write_claim(tmp_path)
    (tmp_path / "run.jsonl").write_text("old\n")
    assert "exists" in made_up.refused(spread(tmp_path))
    assert (tmp_path / "run.jsonl").read_text() == "old\n"


def test_a_worker_that_cannot_begin_says_why_in_one_line(tmp_path):
    made_up.write_claim(tmp_path)
    assert "unknown target 'nope'" in made_up.refused(spread(tmp_path, "--target", "nope"))


def test_architectures_go_case_by_case_and_the_controller_says_what_the_claim_came_to(tmp_path):
    made_up.write_claim(tmp_path, cases=[f"type {n}" for n in range(8)], body=TOLD)
    made_up.write_claim(tmp_path, "t", timed=True)
    status, output = spread(tmp_path, "-m", "cpu or architectures")
    assert status == 0, output
    told = (tmp_path / "pid-test_up").read_text().split()
    assert len(set(told[0::3])) == 2  # two workers measured cases of the one claim
    rows = ledger.read(tmp_path / "run.jsonl").all_rows
    (claim,) = (row for row in rows if row["kind"] == "claim" and row["claim"] == "made/up")
    assert (claim["verdict"], len(claim["cases"])) == ("CONFIRMED", 8)
    assert claim["repeat"].endswith("-m 'cpu or architectures' --seed 0")
    assert "2 of 2 claims hold here" in output


def test_a_claim_of_which_a_worker_lost_a_case_is_not_said_to_hold(tmp_path):
    body = "case.name == 'type 5' and os._exit(1)"
    made_up.write_claim(tmp_path, cases=[f"type {n}" for n in range(8)], body=body)
    status, output = spread(tmp_path, "-m", "cpu or architectures")
    assert status == 20 or "crashed" in output, output
    rows = ledger.read(tmp_path / "run.jsonl").all_rows
    assert "CONFIRMED" not in {row["verdict"] for row in rows if row["kind"] == "claim"}
