"""What a run tells: words beside each test, JUnit properties, the rule, a still page."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from claims._kit import ledger
from claims._kit.figures import Case
from meta_tests import made_up
from meta_tests.made_up import answers, claim, claim_of, control, judge, run_of
from meta_tests.pages import Parsed
from reports import page, still

WEAK = 'controls=(Control(name="too slow", sentence="It is too slow.", plant=lambda s: 1000 * s),)'


def write_all(folder: Path) -> None:
    """Claims that end in each verdict, and a control that is missed."""
    made_up.write_claim(folder, "good", cases=["a", "b"])
    made_up.write_claim(folder, "bad", samples=[2.0])
    made_up.write_claim(folder, "crash", body="raise RuntimeError('fell over')")
    made_up.write_claim(folder, "gpu", judged_on={"cuda"})
    blind = made_up.write_claim(folder, "blind")
    text = blind.read_text()
    assert WEAK in text
    blind.write_text(text.replace("plant=lambda s: 1000 * s", "plant=lambda s: s"))


def deviations(folder: Path) -> Path:
    path = folder / "deviations.toml"
    path.write_text(
        '[[deviation]]\nclaim = "made/bad"\ntarget = "*"\nwhy = "it was seen before"\n'
        "review_by = 2099-01-01\n"
    )
    return path


@pytest.fixture
def ran(tmp_path, monkeypatch, inside) -> tuple[Path, str]:
    """A run of claims with every verdict: its folder and what the terminal showed."""
    write_all(tmp_path)
    monkeypatch.setenv("ONECALL_MADE_UP_DEVIATIONS", str(deviations(tmp_path)))
    junit, path = tmp_path / "junit.xml", tmp_path / "run.jsonl"
    _, output = inside(tmp_path, "--ledger", path, "-v", "--junitxml", junit)
    return tmp_path, output


def test_each_test_is_shown_by_its_verdict_and_counted_as_pytest_counts_it(ran):
    _, output = ran
    for test, word in (
        ("good.py::test_holds[a]", "CONFIRMED"),
        ("bad.py::test_holds[all]", "REFUTED (known)"),
        ("crash.py::test_holds[all]", "VOID"),
        ("gpu.py::test_holds[all]", "NOT APPLICABLE"),
        ("gpu.py::test_control_is_caught[too slow]", "NOT APPLICABLE"),
        ("good.py::test_control_is_caught[too slow]", "CAUGHT"),
        ("blind.py::test_control_is_caught[too slow]", "MISSED"),
    ):
        line = next(line for line in output.splitlines() if f"{test} " in line)
        assert line.split(f"{test} ")[1].startswith(word), line
    last = output.splitlines()[-1]
    assert "5 passed" in last
    assert "2 skipped" in last
    assert "1 xfailed" in last
    assert "3 failed" in last
    assert not {"PASSED", "XFAIL ", "SKIPPED"} & set(output.replace("[", " [").split())


def test_junit_carries_claim_case_and_verdict_of_every_test(ran):
    folder, _ = ran
    told = []
    for case in ET.parse(folder / "junit.xml").iter("testcase"):
        told.append({p.get("name"): p.get("value") for p in case.iter("property")})
    good = {"claim": "made/good", "case": "a"}
    assert {**good, "verdict": "CONFIRMED"} in told
    assert {**good, "control": "too slow", "caught": "yes"} in told
    assert {"claim": "made/bad", "case": "all", "verdict": "REFUTED (known)"} in told
    blind = {"claim": "made/blind", "case": "all"}
    assert {**blind, "control": "too slow", "caught": "no"} in told
    assert all({"claim", "case"} <= set(each) for each in told)
    # A caught fault is no refuted claim.
    assert all(("verdict" in each) != ("control" in each) for each in told)


def test_a_known_refutation_fills_no_page_with_a_traceback(ran):
    folder, _ = ran
    shown = (folder / "run.html").read_text()
    assert "it was seen before" in shown
    assert "bench = " not in shown


# The rule and the missing control ---------------------------------------------------------------


def test_every_verdict_names_the_rule_that_judged_it(tmp_path):
    cases = (Case(name="own"), Case(name="other", rule="every_sample_equals"))
    run = run_of(tmp_path, made := claim(cases=cases))
    judge(run, made)
    named = {(r["role"], r["case"]): r["rule"] for r in run.writer.rows if r["kind"] == "verdict"}
    assert named == {
        ("subject", "own"): "every_sample_at_most",
        ("subject", "other"): "every_sample_equals",
        ("too slow", "own"): "every_sample_at_most",
    }


def test_a_rule_that_does_not_exist_is_void_and_named(tmp_path):
    made = claim(cases=(Case(name="all", rule="every_sample_is_nice"),))
    run = run_of(tmp_path, made)
    judge(run, made)
    row = run.finished[made.id]
    assert row["verdict"] == "VOID"
    assert "every_sample_is_nice" in row["reason"]


def test_the_page_reads_the_limit_as_the_rule_does(tmp_path):
    for rule, said in (
        ("every_sample_at_most", "at most 1"),
        ("median_at_least", "at least 1"),
        ("every_sample_equals", "exactly 1"),
    ):
        folder = tmp_path / rule
        run = run_of(folder, made := claim(cases=(Case(name="all", rule=rule),)))
        judge(run, made)
        assert f"<b>{said}</b>" in page.body(run.writer.rows)


def test_the_page_says_why_a_claim_has_no_control(tmp_path):
    why = "every output is an integer by construction"
    made = claim(controls=(), no_control_because=why)
    row = claim_of(tmp_path / "a", made)
    assert row["no_control_because"] == why
    run = run_of(tmp_path / "b", made)
    judge(run, made)
    assert f"No control exists: {why}" in Parsed(page.body(run.writer.rows)).text


def test_a_ledger_from_before_the_rule_was_named_still_reads(tmp_path):
    run = run_of(tmp_path, made := claim(answers(0.5), controls=(control(),)))
    judge(run, made)
    new = ("rule", "no_control_because")
    rows = [json.loads(line) for line in run.writer.path.read_text().splitlines()]
    old = tmp_path / "old.jsonl"
    bare = ({k: v for k, v in row.items() if k not in new} for row in rows)
    old.write_text("".join(json.dumps(row) + "\n" for row in bare))
    shown = page.body(ledger.read(old).all_rows)
    assert "<b>1</b>" in shown


# Replays ----------------------------------------------------------------------------------------


def test_a_replay_writes_the_same_page_and_ledger_byte_for_byte(ran, tmp_path):
    folder, _ = ran
    made = []
    for name, environment in (("one", {}), ("two", {"BUILD_NUMBER": "7", "TZ": "Asia/Tokyo"})):
        path = tmp_path / f"{name}.jsonl"
        args = made_up.arguments(folder, "--replay", folder / "run.jsonl", "--ledger", path)
        named = {"ONECALL_MADE_UP_DEVIATIONS": str(folder / "deviations.toml")}
        status, output = made_up.finished(args, folder=folder, **named, **environment)
        assert status == 20, output
        made.append((path.read_bytes(), path.with_suffix(".html").read_bytes()))
    assert made[0] == made[1]
    shown = made[0][1].decode()
    assert str(made_up.ROOT) not in shown.split("data-jsonblob")[1]
    assert "judged again from its ledger" in shown
    assert "9 tests.</p>" in shown  # pytest-html counts no skips
    ended = ledger.read(folder / "run.jsonl").footer
    assert ledger.read(path).footer == ended


def test_a_replay_of_a_cut_run_is_shown_as_cut(ran, tmp_path, inside):
    folder, _ = ran
    cut, again = tmp_path / "cut.jsonl", tmp_path / "again.jsonl"
    lines = (folder / "run.jsonl").read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:-1]))
    inside(folder, "--replay", cut, "--ledger", again)
    assert ledger.read(again).footer is None
    assert "did not reach its end" in again.with_suffix(".html").read_text()


def test_deviations_are_stale_by_the_day_of_the_run_and_not_of_its_replay(
    tmp_path, monkeypatch, inside
):
    made_up.write_claim(tmp_path, "bad", samples=[2.0])
    path = deviations(tmp_path)
    monkeypatch.setenv("ONECALL_MADE_UP_DEVIATIONS", str(path))
    run = tmp_path / "run.jsonl"
    assert inside(tmp_path, "--ledger", run)[0] == 0
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    rows[-1]["finished"] = "2000-01-01 00:00:00 UTC"
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path.write_text(path.read_text().replace("2099", "2001"))
    assert inside(tmp_path, "--replay", run, "--ledger", tmp_path / "a.jsonl")[0] == 0
    rows[-1]["finished"] = "2002-01-01 00:00:00 UTC"
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert inside(tmp_path, "--replay", run, "--ledger", tmp_path / "b.jsonl")[0] == 1


def test_only_time_and_place_are_taken_out_of_the_page():
    said = (
        "<p>Report generated on 01-Jan-2026 at 01:02:03 by <a href='x'>pytest-html</a> v1</p>"
        f'/* {page.CSS} */<p class="run-count">1 test took 3 ms.</p><p>kept took 3 ms.</p>'
    )
    assert still.settled(said, {"started": "then"}) == (
        "<p>Run of then, judged again from its ledger; written by <a href='x'>pytest-html</a> "
        'v1</p>/* page.css */<p class="run-count">1 test.</p><p>kept took 3 ms.</p>'
    )
