"""The page about every architecture: made of the sample ledger, complete, nothing invented."""

from __future__ import annotations

import json

import pytest

from fixtures import judging
from fixtures.architectures import build
from meta_tests.made_up import ROOT
from meta_tests.pages import DATA
from reports import architectures, read

SAMPLE = ROOT / "reports" / "samples" / "architectures.jsonl"
PAGE = ROOT / "docs" / "architectures.md"
made = pytest.mark.skipif(
    not SAMPLE.exists(), reason=f"pytest -m architectures --ledger {SAMPLE.name} makes it"
)


def rows() -> list[dict]:
    return read.rows(SAMPLE)


@made
def test_the_page_is_what_the_sample_ledger_says():
    name = SAMPLE.relative_to(ROOT).as_posix()
    assert PAGE.read_text(encoding="utf-8") == architectures.page(rows(), name)


def test_every_property_is_told():
    assert sorted(architectures.PROPERTIES) == sorted(judging.NAMES)


@made
def test_the_sample_ledger_judged_every_type_or_says_why_not():
    found = {case.name: case.verdict for case in architectures.cases(rows())}
    assert {*build.model_types(), *build.variants()} <= set(found)
    left = {name for name, row in found.items() if row["verdict"] == "NOT APPLICABLE"}
    assert left == {name for name in build.model_types() if build.left_out(name)}
    assert {row["verdict"] for row in found.values() if not row["known"]} <= {
        "CONFIRMED",
        "NOT APPLICABLE",
    }


def test_a_ledger_without_the_claim_is_refused_in_one_line(capsys):
    assert architectures.main([str(DATA / "made_up.jsonl")]) == 2
    assert "no verdict of architectures/" in capsys.readouterr().err


@pytest.mark.parametrize(("value", "told"), [(1e12, "a failure"), (0.12345, "0.123"), (0, "0")])
def test_an_excess_is_told_in_three_digits(value, told):
    assert architectures.excess(value) == told


@made
def test_the_page_is_written_to_a_file(tmp_path):
    assert architectures.main([str(SAMPLE), "-o", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    trials = sum(
        tally["trials"]
        for line in SAMPLE.read_text(encoding="utf-8").splitlines()
        if (row := json.loads(line))["kind"] == "samples" and row["role"] == "subject"
        for name, tally in row["notes"].items()
        if name in architectures.PROPERTIES
    )
    assert f"{trials:,} trials" in text
