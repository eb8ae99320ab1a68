"""The skeleton of a claim: refused where it cannot be, clean where it is, and never a pass."""

from __future__ import annotations

import subprocess
import sys

import pytest

from claims import new
from claims._kit import ledger
from meta_tests.made_up import ROOT


def test_a_skeleton_is_void_and_says_what_is_missing(tmp_path, inside):
    assert new.main(["made/anything-at-all"], claims=tmp_path) == 0
    file = tmp_path / "made" / "test_anything_at_all.py"
    path = tmp_path / "run.jsonl"
    status, output = inside(file, "--ledger", path)
    assert status == 20, output
    row = next(r for r in ledger.read(path).rows if r["kind"] == "claim")
    assert (row["claim"], row["verdict"]) == ("made/anything-at-all", "VOID")
    assert "not written yet: measure, the limit and the control" in row["reason"]
    assert not any(control["caught"] for control in row["controls"])


@pytest.mark.parametrize("sample", ["0.0", "float('inf')", "-1e300"])
def test_a_skeleton_that_only_measures_still_passes_nothing(tmp_path, inside, sample):
    new.main(["made/half"], claims=tmp_path)
    file = tmp_path / "made" / "test_half.py"
    old = 'raise NotImplementedError("not written yet: measure, the limit and the control")'
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, f"return Measured(samples=[{sample}])"))
    path = tmp_path / "run.jsonl"
    assert inside(file, "--ledger", path)[0] != 0
    assert not [r for r in ledger.read(path).rows if r.get("verdict") == "CONFIRMED"]


def test_a_skeleton_whose_limit_and_measure_are_written_still_lacks_its_control(tmp_path, inside):
    new.main(["made/most"], claims=tmp_path)
    file = tmp_path / "made" / "test_most.py"
    text = file.read_text().replace('float("nan")', "1.0")
    at = text.index("    raise NotImplementedError")
    end = text.index("\n", at)
    file.write_text(text[:at] + "    return Measured(samples=[0.0])" + text[end:])
    path = tmp_path / "run.jsonl"
    assert inside(file, "--ledger", path)[0] == 20
    row = next(r for r in ledger.read(path).rows if r["kind"] == "claim")
    assert row["reason"] == "controls not shown to be caught: nothing planted yet"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x",
        "/x",
        "x/",
        "X/y",
        "x/Y",
        "x/y_z",
        "x/y--z",
        "x/-y",
        "x/y/z",
        "../x/y",
        "x1/y",
        "x/y ",
    ],
)
def test_a_name_that_is_no_id_is_refused_in_one_line(tmp_path, capsys, name):
    assert new.main(["--", name], claims=tmp_path) == 2
    said = capsys.readouterr()
    assert "is no id: write family/sentence-with-dashes" in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_claim_that_exists_is_left_alone(tmp_path, capsys):
    file = tmp_path / "made" / "test_up.py"
    file.parent.mkdir()
    file.write_text("mine")
    assert new.main(["made/up"], claims=tmp_path) == 2
    assert "exists; choose another sentence" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_every_claim_of_the_suite_lies_where_a_new_one_would():
    for file in (ROOT / "claims").glob("[a-z]*/test_*.py"):
        name = f"{file.parent.name}/{file.stem.removeprefix('test_').replace('_', '-')}"
        assert new.NAME.fullmatch(name), name
        assert new.path_of(name) == file.relative_to(ROOT / "claims")


def test_the_skeleton_is_clean(tmp_path):
    new.main(["made/clean"], claims=tmp_path)
    file = tmp_path / "made" / "test_clean.py"
    for check in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *check, "--config", ROOT / "pyproject.toml", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(file.read_text().splitlines()) < 80


def test_it_runs_as_a_command_without_pytest():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, claims.new; sys.exit('pytest' in sys.modules)"],
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0


def left_over(text: str) -> list[str]:
    """What a claim's file still says as the skeleton does."""
    said = ("Say here what was", "not said yet", "not written yet", "nothing planted yet")
    return [words for words in said if words in text]


def test_no_claim_of_the_suite_is_still_a_skeleton():
    assert len(left_over(new.SKELETON)) == 4
    files = (ROOT / "claims").glob("[a-z]*/test_*.py")
    assert {f.name: left for f in files if (left := left_over(f.read_text()))} == {}
