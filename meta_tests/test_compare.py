"""Two runs compared: what got worse is found, noise is not, and the exit status says which."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claims._kit.ledger import Row
from claims._kit.verdict import Verdict
from meta_tests.pages import DATA, Parsed, made_up
from reports import compare, compare_html, compare_text, read
from reports.changes import RANK, conditions
from reports.changes import compare as compared
from reports.model import LABELS, UNFINISHED, view

CLAIM = "sample/always-confirmed"
Change = Callable[[Row], Row | None]


def kept(path: Path, rows: list[Row]) -> Path:
    """A ledger's file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def raw(name: str = "made_up") -> list[Row]:
    """Rows as they stand in the file."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def changed(change: Change) -> list[Row]:
    """The made-up ledger with a change to each row; None drops it."""
    return [row for old in raw() if (row := change(copy.deepcopy(old))) is not None]


def turned(verdict: str, *, claim: str = CLAIM, known: str = "") -> Change:
    def change(row: Row) -> Row:
        ours = row["kind"] == "claim" and row["claim"] == claim
        return {**row, "verdict": verdict, "known": known, "reason": "it broke"} if ours else row

    return change


def case_changed(**fields: Any) -> Change:
    """Changes of the honest subject's case ``shapes``, which had 0 to 5.9e-7 under 1e-5."""

    def change(row: Row) -> Row:
        where = (row["kind"], row.get("claim"), row.get("case"), row.get("role"))
        if where != ("verdict", CLAIM, "shapes", "subject"):
            return row
        figure = {**row["figure"], **fields.get("figure", {})}
        return {**row, **fields, "figure": figure}

    return change


def status_of(tmp_path: Path, change: Change, *options: str) -> int:
    later = kept(tmp_path / "later.jsonl", changed(change))
    return compare.main([str(DATA / "made_up.jsonl"), str(later), *options])


def test_a_run_compared_with_itself_has_no_change(tmp_path, capsys):
    assert status_of(tmp_path, lambda row: row) == 0
    said = capsys.readouterr().out
    assert "15 claims in both; no change" in said
    assert "same conditions" in said


def test_every_verdict_has_its_rank_and_the_exit_status_agrees_with_it():
    assert set(RANK) == {*LABELS, UNFINISHED}
    assert {v.value for v in Verdict} <= set(RANK)
    assert RANK[:3] == ("CONFIRMED", "NOT APPLICABLE", "REFUTED (known)")
    assert RANK[-1] == "REFUTED"


@pytest.mark.parametrize(
    "verdict", ["REFUTED", "VOID", "INCONCLUSIVE", "NOT APPLICABLE", "REFUTED (known)"]
)
def test_a_confirmed_claim_that_is_no_longer_confirmed_got_worse(tmp_path, capsys, verdict):
    known = "seen before" if verdict.endswith("(known)") else ""
    assert status_of(tmp_path, turned(verdict.removesuffix(" (known)"), known=known)) == 1
    said = capsys.readouterr().out
    assert f"worse     {CLAIM}: CONFIRMED -> {verdict}" in said
    assert "why: it broke" in said


def test_a_claim_that_is_confirmed_at_last_got_better(tmp_path, capsys):
    change = turned("CONFIRMED", claim="sample/share-is-refuted")
    assert status_of(tmp_path, change) == 0
    assert "better    sample/share-is-refuted: REFUTED -> CONFIRMED" in capsys.readouterr().out


def test_a_confirmed_claim_that_is_missing_got_worse_and_another_did_not(tmp_path, capsys):
    def without(claim: str) -> Change:
        return lambda row: None if row.get("claim") == claim else row

    assert status_of(tmp_path, without(CLAIM)) == 1
    assert f"{CLAIM}: CONFIRMED -> missing" in capsys.readouterr().out
    assert status_of(tmp_path, without(CLAIM), "--common") == 0
    assert status_of(tmp_path, without("text/crashes")) == 0
    assert "missing   text/crashes: was VOID" in capsys.readouterr().out


def test_a_new_claim_is_told_and_is_never_worse(tmp_path, capsys):
    first = kept(
        tmp_path / "first.jsonl", changed(lambda r: None if r.get("claim") == CLAIM else r)
    )
    assert compare.main([str(first), str(DATA / "made_up.jsonl")]) == 0
    assert f"added     {CLAIM}: CONFIRMED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fields", "moved"),
    [
        ({"estimate": 7e-7, "low": 6e-7, "high": 8e-7}, True),
        ({"estimate": 7e-7, "low": 5e-7, "high": 8e-7}, False),
        ({"estimate": 5.5e-7, "low": 0.0, "high": 5.5e-7}, False),
        ({"estimate": -1.0, "low": -1.0, "high": -1.0}, True),
        ({"estimate": 7e-7, "low": None, "high": 8e-7}, False),
        ({"estimate": -1.0, "low": None, "high": -0.5}, True),
        ({"estimate": None, "low": None, "high": None}, False),
        ({"estimate": 7.0, "low": 7.0, "high": 7.0, "figure": {"unit": "apples"}}, False),
    ],
)
def test_a_value_moved_when_its_interval_shares_nothing_with_the_old_one(fields, moved):
    found = compared(view(made_up()), view(changed(case_changed(**fields))))
    assert [p.before.name for p in found.moved] == (["shapes"] if moved else [])
    assert not found.got_worse()


@pytest.mark.parametrize(
    ("rule", "estimate", "wrong"),
    [
        ("every_sample_at_most", 2.0, True),
        ("every_sample_at_most", -2.0, False),
        ("median_at_least", 2.0, False),
        ("median_at_least", -2.0, True),
        ("every_sample_equals", 2.0, True),
        ("", 2.0, None),
        ("a_rule_of_ones_own", 2.0, None),
    ],
)
def test_a_move_has_a_wrong_way_where_the_rule_is_known(tmp_path, capsys, rule, estimate, wrong):
    change = case_changed(rule=rule, estimate=estimate, low=estimate, high=estimate)
    assert status_of(tmp_path, change) == 0
    assert ("the wrong way" in capsys.readouterr().out) is (wrong is True)
    assert status_of(tmp_path, change, "--strict") == (1 if wrong else 0)


def test_another_limit_is_told_apart_from_another_value(tmp_path, capsys):
    assert status_of(tmp_path, case_changed(figure={"limit": 2e-5})) == 0
    said = capsys.readouterr().out
    unit = "largest absolute difference"
    assert f"limit     {CLAIM} [shapes]: 1e-5 {unit} -> 2e-5 {unit}" in said
    assert "moved" not in said


def test_conditions_that_differ_are_named_and_dates_are_none():
    rows = raw()
    later = copy.deepcopy(rows)
    later[0]["software"]["torch"] = "9.9"
    later[0]["started"], later[0]["run"] = "2027-01-01", "another"
    later[0]["machine"]["gpus"] = [{"name": "one"}]
    differ, same = conditions([view(rows), view(later)])
    assert differ == [("machine.gpus 1.name", ["", "one"]), ("software.torch", ["0.0.0", "9.9"])]
    assert ("seed", ["7", "7"]) in same


def test_several_runs_are_each_held_against_the_first(tmp_path, capsys):
    worse = kept(tmp_path / "worse.jsonl", changed(turned("VOID")))
    first = str(DATA / "made_up.jsonl")
    assert compare.main([first, str(worse), first]) == 1
    said = capsys.readouterr().out
    assert re.search(rf"^{CLAIM} +C V C$", said, re.MULTILINE)
    assert compare.main([first, first]) == 0
    assert compare.main([first]) == 0


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path, capsys):
    (tmp_path / "x").mkdir()
    other = kept(tmp_path / "x" / "made_up.jsonl", raw())
    compare.main([str(DATA / "made_up.jsonl"), str(other)])
    assert f"B  {other}" in capsys.readouterr().out


def test_an_unfinished_run_is_compared_and_says_so(capsys):
    files = [str(DATA / f"{name}.jsonl") for name in ("made_up", "made_up_unfinished")]
    assert compare.main(files) == 1
    said = capsys.readouterr().out
    assert "speed/first-token-grows: CONFIRMED -> UNFINISHED" in said
    assert "this run did not reach its end" in said


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"hello\n", ":1: no row of a ledger"),
        (b"", "begins with its one header"),
        (b"\xff\n", "cannot be read"),
        (b'{"kind": "header"}\n', ":1: 'run' is a required property"),
        (b'{"kind": []}\n', ":1: no row of a ledger"),
        (b"[1]\n", ":1: no row of a ledger"),
    ],
)
def test_what_is_no_ledger_is_one_line_and_its_own_status(tmp_path, capsys, content, told):
    path = tmp_path / "made.jsonl"
    path.write_bytes(content)
    assert compare.main([str(DATA / "made_up.jsonl"), str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert said.err.count("\n") == 1


def test_a_ledger_is_read_as_the_kit_reads_it(tmp_path):
    cut = tmp_path / "cut.jsonl"
    whole = (DATA / "made_up.jsonl").read_bytes()
    cut.write_bytes(whole[:-30])
    assert len(read.rows(cut)) == len(read.rows(DATA / "made_up.jsonl")) - 1
    assert view(read.rows(DATA / "made_up.jsonl")).counts == view(made_up()).counts


@pytest.fixture(scope="module")
def compared_page() -> str:
    def change(row: Row) -> Row:
        return case_changed(estimate=2.0, low=2.0, high=2.0)(turned("REFUTED")(row))

    runs = [view(made_up()), view(changed(change)), view(made_up("made_up_unfinished"))]
    found = [compared(runs[0], run) for run in runs[1:]]
    return compare_html.page(runs, ["<b>a</b>", "b", "c"], found)


def test_the_page_is_whole_loads_nothing_and_runs_nothing(compared_page):
    seen = Parsed(compared_page)
    assert seen.faults == []
    assert not {"script", "link", "img", "iframe"} & set(seen.tags)
    assert len(seen.values("id")) == len(set(seen.values("id")))
    assert {v[1:] for v in seen.values("href")} <= set(seen.values("id"))
    assert "<b>a</b>" in seen.text
    assert "http" not in compared_page.replace("text/hostile-output", "")


def test_the_page_has_a_row_for_every_claim_and_a_column_for_every_run(compared_page):
    matrix = compared_page[compared_page.index("Every claim in every run") :]
    for claim in view(made_up()).claims:
        row = matrix[matrix.index(f'<tr id="{claim.id}"') :].split("</tr>")[0]
        assert row.count("<td>") == 3
        assert claim.label in row
    # One in the second run; one unfinished and four missing claims in the third.
    assert "<strong>6 verdicts got worse</strong>, none got better" in compared_page


def test_the_same_runs_give_the_same_bytes_and_text_obeys_nothing(compared_page):
    runs = [view(made_up()), view(made_up("made_up_unfinished"))]
    found = [compared(*runs)]
    pages = {compare_html.page(runs, ["a", "\x1b[31m"], found) for _ in range(2)}
    assert len(pages) == 1
    said = compare_text.told(runs, ["a", "\x1b[31m"], found)
    assert "\x1b" not in said + pages.pop()
