"""A stored run is judged by the claims of today: what they no longer hold is named."""

from __future__ import annotations

from claims._kit import ledger, stored
from claims._kit.figures import Case
from meta_tests import made_up


def test_cases_that_no_claim_has_any_more_are_named(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "test_elsewhere.py").touch()
    here = made_up.claim(cases=(Case(name="a"),), controls=(made_up.control(case="a"),))
    held = [
        ("made/up", "subject", "a"),
        ("made/up", "too slow", "a"),
        ("made/elsewhere", "subject", "x"),
        ("made/up", "subject", "b"),
        ("made/up", "too slow", "b"),
        ("made/up", "too fast", "a"),
        ("made/gone-by-now", "subject", "x"),
    ]
    assert stored.gone(held, [here], tmp_path) == [
        "made/up [b]",
        "made/up [too slow]",
        "made/up [too fast]",
        "made/gone-by-now [x]",
    ]


def run(folder, *args: object) -> tuple[int, str]:
    return made_up.finished(made_up.arguments(*args, folder), folder=folder)


def test_a_replay_says_which_stored_cases_it_leaves_out(tmp_path):
    made_up.write_claim(tmp_path, "a")
    made_up.write_claim(tmp_path, "b")
    old = tmp_path / "run.jsonl"
    assert run(tmp_path, "--ledger", old)[0] == 0
    (tmp_path / "test_b.py").unlink()
    status, output = run(tmp_path, "--replay", old, "--ledger", tmp_path / "again.jsonl")
    assert status == 0, output
    told = [line for line in output.splitlines() if line.startswith("onecall:")]
    assert len(told) == 1
    assert "2 of its cases" in told[0]
    assert "made/b [all]" in told[0]
    kept = {row["claim"] for row in ledger.read(tmp_path / "again.jsonl").rows if "claim" in row}
    assert kept == {"made/a"}


def test_a_list_of_deviations_that_cannot_be_read_is_one_line(tmp_path, monkeypatch):
    listed = tmp_path / "deviations.toml"
    listed.write_text('[[deviation]]\nclaim = "made/a"\nreason = "x"\n')
    monkeypatch.setenv("ONECALL_MADE_UP_DEVIATIONS", str(listed))
    made_up.write_claim(tmp_path, "a")
    status, output = run(tmp_path)
    assert status == 4
    assert "deviation 1 (made/a): unknown key 'reason'" in output
    assert "Traceback" not in output
