"""Known refutations: whom they excuse, and when they turn stale."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from claims._kit import deviations
from claims._kit.deviations import Deviation
from claims._kit.verdict import Verdict
from meta_tests import made_up

TODAY = date(2026, 6, 1)
WHY = "24 layers with two norms each are 49, printed 24"


def line(**changes) -> Deviation:
    about = {"claim": "made/up", "target": "small", "why": WHY, "review_by": date(2027, 1, 1)}
    return Deviation(**{**about, **changes})


@pytest.mark.parametrize(
    ("listed", "excused"),
    [
        ({}, True),
        ({"case": "a"}, True),
        ({"target": "*"}, True),
        ({"target": "*", "case": "a"}, True),
        ({"case": "b"}, False),
        ({"target": "large"}, False),
        ({"claim": "made/other"}, False),
        ({"claim": "made"}, False),
        ({"case": "*"}, False),
    ],
)
def test_a_line_excuses_its_own_claim_case_and_target_alone(listed, excused):
    told = deviations.known([line(**listed)], claim="made/up", case="a", target="small")
    assert told == (WHY if excused else "")


def test_no_line_excuses_nothing():
    assert deviations.known([], claim="made/up", case="a", target="small") == ""


C, R, I, V, N = (  # noqa: E741
    Verdict.CONFIRMED,
    Verdict.REFUTED,
    Verdict.INCONCLUSIVE,
    Verdict.VOID,
    Verdict.NOT_APPLICABLE,
)


@pytest.mark.parametrize(
    ("listed", "seen", "stale"),
    [
        ({}, {"a": R}, ""),
        ({}, {"a": C}, "confirmed now"),
        ({}, {"a": C, "b": R}, ""),
        ({"case": "a"}, {"a": C, "b": R}, "confirmed now"),
        ({"case": "b"}, {"a": C, "b": R}, ""),
        ({"case": "b"}, {"a": C}, ""),
        ({}, {"a": V}, ""),
        ({}, {"a": N}, ""),
        ({}, {"a": I}, ""),
        ({}, {"a": V, "b": C}, "confirmed now"),
        ({}, {}, ""),
        ({"target": "*"}, {"a": C}, "confirmed now on small"),
        ({"target": "large"}, {"a": C}, ""),
        ({"claim": "made/other"}, {"a": C}, ""),
        ({"review_by": TODAY}, {"a": R}, ""),
        ({"review_by": TODAY - timedelta(days=1)}, {"a": R}, "past its review date"),
        ({"review_by": TODAY - timedelta(days=1)}, {"a": V}, "past its review date"),
        ({"review_by": TODAY - timedelta(days=1)}, {"a": C}, "confirmed now"),
        ({"review_by": TODAY - timedelta(days=1)}, {}, ""),
        ({"review_by": TODAY - timedelta(days=1), "target": "large"}, {"a": R}, ""),
    ],
)
def test_a_line_that_the_run_does_not_bear_out_is_stale(listed, seen, stale):
    outcomes = {("made/up", case): verdict for case, verdict in seen.items()}
    told = deviations.stale([line(**listed)], outcomes, target="small", today=TODAY)
    assert len(told) == bool(stale)
    if stale:
        assert stale in told[0]
        assert told[0].startswith(f"claims/deviations.toml: {line(**listed).claim}")


# The file ----------------------------------------------------------------------------------------

FILE = """
[[deviation]]
claim = "made/up"
target = "{target}"
why = "made up for a test"
review_by = {review_by}
"""


def write(folder, *, target="smollm2-135m", review_by="2999-01-01", more=""):
    path = folder / "deviations.toml"
    path.write_text(FILE.format(target=target, review_by=review_by) + more)
    return path


def test_the_file_is_read_as_it_is_written(tmp_path):
    (read,) = deviations.read(write(tmp_path, more='case = "a"\n'))
    assert (read.claim, read.case, read.review_by) == ("made/up", "a", date(2999, 1, 1))


def test_an_empty_file_lists_nothing(tmp_path):
    (tmp_path / "none.toml").write_text("")
    assert deviations.read(tmp_path / "none.toml") == []


@pytest.mark.parametrize("key", ["cases", "reason", "until"])
def test_a_misspelt_key_is_an_error_that_names_it(tmp_path, key):
    with pytest.raises(deviations.DeviationError, match=key):
        deviations.read(write(tmp_path, more=f'{key} = "x"\n'))


def test_a_missing_key_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "deviations.toml"
    path.write_text('[[deviation]]\nclaim = "made/up"\n')
    with pytest.raises(deviations.DeviationError, match="review_by"):
        deviations.read(path)


# Whole runs --------------------------------------------------------------------------------------


@pytest.fixture
def run(inside, tmp_path, monkeypatch):
    def call(*, samples: list[float], **listed: str) -> tuple[int, str]:
        monkeypatch.setenv("ONECALL_MADE_UP_DEVIATIONS", str(write(tmp_path, **listed)))
        made_up.write_claim(tmp_path, samples=samples)
        return inside(tmp_path, "--ledger", tmp_path / "run.jsonl")

    return call


@pytest.mark.parametrize("target", ["smollm2-135m", "*"])
def test_a_known_refutation_is_shown_and_fails_nothing(run, target):
    status, output = run(samples=[2.0], target=target)
    assert status == 0, output
    assert "1 passed, 1 xfailed" in output
    assert "REFUTED (known)" in output
    assert "made up for a test" in output


def test_a_refutation_known_of_another_target_fails(run):
    assert run(samples=[2.0], target="qwen3-8b")[0] == 1


def test_a_line_that_is_confirmed_now_fails_the_run_and_says_to_delete_it(run):
    status, output = run(samples=[0.5])
    assert status == 1, output
    assert "made/up is confirmed now on smollm2-135m; delete the line" in output


def test_a_line_past_its_review_date_fails_the_run_and_says_to_look_again(run):
    status, output = run(samples=[2.0], review_by="2020-01-01")
    assert status == 1, output
    assert "past its review date 2020-01-01; look again" in output


def test_a_line_about_a_claim_that_was_not_judged_says_nothing(run):
    status, output = run(samples=[0.5], target="qwen3-8b", review_by="2020-01-01")
    assert status == 0, output
    assert "review date" not in output
