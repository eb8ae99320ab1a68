"""The history benchmark, as far as it needs no download: its data, its verdicts, whose crash."""

from __future__ import annotations

import json
import re
import sys
import types

import pytest

from fixtures import judging, properties
from fixtures.architectures import build
from fixtures.chat_formats import COLLECTED
from fixtures.many_types import Types
from history import install, judge, rows, run, table
from history.result import GREEN, RED, Result, exit_status, summary
from history.rows import Task

ROWS_OF_TRANSFORMERS = 17
RELEASE = re.compile(r"\d+\.\d+\.\d+")


# The data ----------------------------------------------------------------------------------------


def test_every_reported_defect_has_a_row():
    reports = [row.report for row in rows.rows()]
    assert len(set(reports)) == len(reports) == ROWS_OF_TRANSFORMERS


@pytest.mark.parametrize("row", rows.rows(), ids=lambda row: row.report)
def test_a_row_names_two_releases_and_what_is_tried(row):
    assert RELEASE.fullmatch(row.red)
    assert RELEASE.fullmatch(row.green)
    number = [tuple(map(int, release.split("."))) for release in (row.red, row.green)]
    assert number[0] < number[1]
    assert row.says
    assert row.tries


@pytest.mark.parametrize("tried", [t for row in rows.rows() for t in row.tries], ids=str)
def test_what_is_tried_is_a_general_property_of_a_known_subject(tried):
    if tried.template:
        assert tried.holds == ["continued"]
        assert tried.template in COLLECTED
        return
    assert set(tried.holds) <= set(judging.NAMES)
    assert tried.type in {*build.model_types(), *build.variants()}


def test_a_misspelt_key_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "rows.toml"
    path.write_text('[[row]]\nreport = "x"\ntry = [{ typ = "llama", holds = ["gen"] }]\n')
    monkeypatch.setattr(rows, "DATA", path)
    with pytest.raises(ValueError, match=r"rows.toml: x: .*typ"):
        rows.rows.__wrapped__()


def test_each_defect_is_tried_red_and_green():
    sides = {(t.row.report, t.side) for t in rows.tasks()}
    assert len(sides) == 2 * ROWS_OF_TRANSFORMERS


def test_quick_tries_each_detector_once_and_at_least_eight():
    detectors = [tuple(t.tried.holds) for t in rows.tasks(quick=True) if t.side == RED]
    assert len(detectors) == len(set(detectors)) >= 8


def test_only_chooses_by_report_release_or_property():
    assert {t.row.report for t in rows.tasks(only="43082")} == {"issue 43082, PR 43132"}
    assert {t.release for t in rows.tasks(only="4.39.3")} == {"4.39.3"}
    assert list(rows.tasks(only="no such thing")) == []


# Verdicts ----------------------------------------------------------------------------------------


def task(side: str = RED) -> Task:
    return next(t for t in rows.tasks(only="43082") if t.side == side)


def told(samples: list[float], **more: object) -> dict:
    about = {"property": "gen_chunk_pad", "samples": samples, "witness": "", "note": {}}
    return {**about, "blind": "", "seconds": 1.0, **more}


@pytest.mark.parametrize(
    ("lines", "side", "found", "word", "status"),
    [
        ([told([0.1, 7.0], witness="w")], RED, "REFUTED", "caught", 0),
        ([told([0.1, 1.0])], GREEN, "CONFIRMED", "clean", 0),
        ([told([0.1, 0.2])], RED, "CONFIRMED", "MISSED", 1),
        ([told([7.0], witness="w")], GREEN, "REFUTED", "FALSE ALARM", 1),
        ([told([])], GREEN, "VOID", "NOT JUDGED", 20),
        ([told([])], RED, "VOID", "NOT JUDGED", 20),
        ([told([float("nan")])], GREEN, "VOID", "NOT JUDGED", 20),
        ([told([0.1], blind="sees no past")], GREEN, "VOID", "NOT JUDGED", 20),
        ([{"crash": "NameError: x"}], RED, "VOID", "NOT JUDGED", 20),
        ([told([7.0]), {"crash": "NameError: x"}], RED, "VOID", "NOT JUDGED", 20),
        ([told([0.1], property="gen")], GREEN, "VOID", "NOT JUDGED", 20),
        ([], GREEN, "VOID", "NOT JUDGED", 20),
    ],
)
def test_what_a_child_says_becomes_a_verdict_and_a_status(lines, side, found, word, status):
    result = judge.verdict(task(side), lines, seconds=1.0)
    assert (str(result.found), result.word) == (found, word)
    assert exit_status([result]) == status


def result(side: str, found: str) -> Result:
    about = {"report": "r|1", "package": "p", "release": "1.0", "property": "<gen>"}
    return Result(**about, expected=side, found=found, seconds=1.0)


def test_a_miss_beats_what_was_not_judged_and_nothing_is_no_success():
    good, void, missed = (result(RED, f) for f in ("REFUTED", "VOID", "CONFIRMED"))
    assert exit_status([good]) == 0
    assert exit_status([good, void]) == 20
    assert exit_status([void, missed, good]) == 1
    assert exit_status([]) == 20


def test_a_missed_defect_ends_the_run_with_status_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run, "judge", lambda t: judge.verdict(t, [told([0.1])], seconds=1))
    args = ["--half", "transformers", "--only", "43082", "--out", str(tmp_path)]
    assert run.main(args) == 1
    assert "MISSED" in capsys.readouterr().out
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert [Result.from_json(line).word for line in lines] == ["MISSED", "clean"]
    assert "MISSED" in (tmp_path / "history.html").read_text()


def test_a_run_that_selects_nothing_is_no_success(tmp_path):
    assert run.main(["--half", "transformers", "--only", "none", "--out", str(tmp_path)]) == 20


def test_a_result_of_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="no such result"):
        result("amber", "REFUTED")
    with pytest.raises(ValueError, match="not a result"):
        Result.from_json('{"a": 1}')


def test_what_a_library_said_cannot_break_the_table():
    shown = [result(RED, "REFUTED")]
    assert "<gen>" not in table.page(shown)
    assert table.markdown(shown).splitlines()[4].count("|") == len(table.HEAD) + 1
    assert "1 of 1 red releases caught" in summary(shown)


# Whose crash -------------------------------------------------------------------------------------


def library(code: str) -> types.ModuleType:
    """A made-up module of a library, whose frames stand outside this project."""
    module = types.ModuleType("library")
    exec(compile(code, "/site-packages/library/model.py", "exec"), module.__dict__)
    return module


def test_a_crash_inside_the_library_is_a_catch(monkeypatch):
    broken = library("def forward(*a, **k):\n    return [][1]")
    engine = Types().engine(trial())
    monkeypatch.setattr(type(engine.model), "forward", broken.forward)
    found = judging.judge(engine, trial())
    assert found.excess > 1
    assert "IndexError in model.py" in found.told


def test_a_crash_of_ours_inside_a_judged_property_is_none(monkeypatch):
    monkeypatch.setattr(properties, "passed", None)
    with pytest.raises(TypeError, match="not callable"):
        judging.judge(Types().engine(trial()), trial())


def test_a_model_called_with_what_it_does_not_take_is_our_crash(monkeypatch):
    narrow = library("def forward(self, input_ids):\n    return 1")
    engine = Types().engine(trial())
    monkeypatch.setattr(type(engine.model), "forward", narrow.forward)
    with pytest.raises(TypeError, match="unexpected keyword"):
        judging.judge(engine, trial())


def test_an_attribute_that_an_old_release_lacks_is_our_crash(monkeypatch):
    code = (
        "class Config:\n    def __getattribute__(self, name):\n        raise AttributeError(name)"
    )
    engine = Types().engine(trial())
    monkeypatch.setattr(type(engine), "forward", lambda self, *_a, **_k: self.model.forward())
    monkeypatch.setattr(engine, "model", library(code).Config())
    monkeypatch.setattr(judging, "OURS", (*judging.OURS, __file__))
    with pytest.raises(AttributeError, match="forward"):
        judging.judge(engine, trial())


def trial() -> judging.Trial:
    return judging.Trial("llama", "causal", (3, 4, 5), (6, 7, 8), 1, attention="eager")


def test_operands_that_do_not_fit_are_no_refusal():
    assert not judging.REFUSALS.search("unsupported operand type(s) for +: 'Tensor'")
    assert judging.REFUSALS.search("static caches are unsupported")
    assert judging.REFUSALS.search("Rwkv cannot use beam search with a cache currently")
    assert not judging.REFUSALS.search("cannot use a slice of a cache as an index")


# Children and releases ---------------------------------------------------------------------------


def test_a_child_that_imports_another_release_judges_nothing(tmp_path):
    found = judge._child(task(), tmp_path, 120)  # an empty folder: the environment's own release
    assert "was imported, not 4.57.6" in found[0]["crash"]


def test_a_child_that_takes_too_long_or_dies_judges_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "ended with 1" in judge._child(task(), tmp_path, 60)[0]["crash"]
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(slow))
    assert "no answer within" in judge._child(task(), tmp_path, 0.2)[0]["crash"]


def test_a_release_that_cannot_be_had_is_not_judged(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = judge.judge(task())
    assert (found.word, found.note[:19]) == ("NOT JUDGED", "pip cannot install ")
    assert not list(install.folder().iterdir())


def test_a_release_is_installed_once_and_whole(monkeypatch, tmp_path):
    calls = []

    def fake(target, package, release, beside):
        calls.append(release)
        target.mkdir()
        (target / "module.py").write_text("")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(install, "_install", fake)
    places = [install.installed("transformers", "4.0.0") for _ in range(2)]
    assert places[0] == places[1]
    assert calls == ["4.0.0"]
    assert [path.name for path in places[0].iterdir()] == ["module.py"]
    assert [path for path in install.folder().iterdir() if path != places[0]] == []


def test_what_the_child_is_told_is_plain_json():
    assert json.loads(json.dumps(judge.spec(task())))["release"] == "4.57.6"
