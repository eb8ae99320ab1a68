"""The commands that users type: what they list, what they refuse, and what they leave behind."""

from __future__ import annotations

import shlex

import pytest
import torch

from claims._kit import ledger
from fixtures import session
from meta_tests import made_up
from meta_tests.made_up import ROOT, refused
from meta_tests.readme_table import files, load
from reports import page


def test_the_list_of_claims_names_each_one_and_runs_nothing(tmp_path):
    path = tmp_path / "run.jsonl"
    status, output = made_up.finished(["--claims", "-q", "--ledger", path], folder=ROOT)
    assert status == 0, output
    listed = [line.split()[0] for line in output.splitlines() if "/" in line.split(" ")[0]]
    assert sorted(listed) == sorted(load(file).id for file in files())
    assert list(tmp_path.iterdir()) == []


def test_the_list_of_claims_follows_the_selection(inside, tmp_path):
    made_up.write_claim(tmp_path, "first")
    made_up.write_claim(tmp_path, "second")
    status, output = inside(tmp_path, "--claims", "-k", "second")
    assert status == 0, output
    assert ("made/second" in output, "made/first" in output) == (True, False)
    assert made_up.calls(tmp_path) == []


def test_collecting_without_running_leaves_no_ledger_and_no_page(inside, tmp_path):
    made_up.write_claim(tmp_path)
    out = tmp_path / "out"
    status, output = inside(tmp_path, "--collect-only", "--ledger", out / "run.jsonl")
    assert status == 0, output
    assert not out.exists()
    assert made_up.calls(tmp_path) == []


def test_a_run_leaves_its_ledger_and_the_page_beside_it(inside, tmp_path):
    made_up.write_claim(tmp_path)
    path = tmp_path / "new" / "run.jsonl"
    status, output = inside(tmp_path, "--ledger", path, "--seed", "7")
    assert status == 0, output
    assert ledger.read(path).header["seed"] == 7
    assert "<html" in path.with_suffix(".html").read_text(encoding="utf-8")
    assert f"ledger: {path}" in output


def test_a_page_that_is_named_is_the_same_page(inside, tmp_path):
    """pytest-html's own option says where it goes, not what it looks like."""
    made_up.write_claim(tmp_path)
    where = tmp_path / "named.html"
    status, output = inside(tmp_path, "--ledger", tmp_path / "run.jsonl", f"--html={where}")
    assert status == 0, output
    assert page.CSS.read_text(encoding="utf-8")[:200] in where.read_text(encoding="utf-8")
    assert not (tmp_path / "assets").exists()
    assert not (tmp_path / "run.html").exists()


def test_the_gpu_lane_runs_on_the_gpu_or_says_why_there_is_none(inside, tmp_path):
    path = tmp_path / "run.jsonl"
    claim = ROOT / "claims/prefix/test_one_attention_layer.py"
    status, output = inside(claim, "-m", "gpu", "--ledger", path, stand_in=False)
    run = ledger.read(path)
    assert run.header["device"] == "cuda"
    assert run.header["lane"] == "gpu"
    why = run.header["machine"]["why_no_cuda"]
    assert bool(why) != torch.cuda.is_available()
    assert status == (20 if why else 0), output
    verdicts = [row for row in run.rows if row["kind"] == "verdict"]
    assert all((row["verdict"] == "NOT APPLICABLE") == bool(why) for row in verdicts)
    assert all(row["reason"] == why for row in verdicts if why)


def test_a_claim_of_gpus_is_not_applicable_without_one_and_says_why(inside, tmp_path):
    made_up.write_claim(tmp_path, judged_on={"cuda"})
    status, output = inside(tmp_path, "--ledger", tmp_path / "run.jsonl")
    assert status == 20, output
    assert "judged on cuda, this run uses cpu (no CUDA device" in output
    assert "2 skipped" in output
    assert made_up.calls(tmp_path) == []


def test_cuda_that_is_not_there_is_refused_with_one_line(inside, tmp_path, monkeypatch):
    monkeypatch.setattr(session.machines, "why_no_cuda", lambda: "no CUDA device: no driver")
    made_up.write_claim(tmp_path)
    options = ("--device", "cuda", "--ledger", tmp_path / "run.jsonl")
    line = refused(inside(tmp_path, *options, stand_in=False))
    assert "--device cuda: no CUDA device: no driver" in line


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--device", "tpu"], "invalid choice: 'tpu'"),
        (["--seed", "seven"], "invalid int value: 'seven'"),
        (["--seed"], "expected one argument"),
        (["--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["--resume", "a.jsonl", "--replay", "b.jsonl"], "give --resume or --replay, not both"),
        (["-m", "gpu and"], "expected not OR left parenthesis OR identifier"),
    ],
)
def test_an_option_that_makes_no_sense_is_told_before_anything_runs(
    inside, tmp_path, options, told
):
    made_up.write_claim(tmp_path)
    status, output = inside(tmp_path, *options)
    assert status == 4, output
    assert told in output
    assert "Traceback" not in output
    assert made_up.calls(tmp_path) == []


def test_a_ledger_where_none_can_be_is_told_in_one_line(inside, tmp_path):
    made_up.write_claim(tmp_path)
    (tmp_path / "file").write_text("")
    line = refused(inside(tmp_path, "--ledger", tmp_path / "file" / "run.jsonl"))
    assert "name another place with --ledger" in line
    assert made_up.calls(tmp_path) == []


def test_a_run_says_how_to_repeat_it(inside, tmp_path):
    made_up.write_claim(tmp_path, samples=[2.0])
    path = tmp_path / "run.jsonl"
    options = ("-m", "not gpu", "--target", "qwen3-8b", "--seed", "3")
    status, output = inside(tmp_path, *options, "--ledger", path)
    # The claim reports in both lanes, so that this selection leaves nothing.
    assert status == 5, output
    inside(tmp_path, "-m", "gpu or cpu", *options[2:], "--ledger", path)
    row = next(r for r in ledger.read(path).rows if r["kind"] == "claim")
    assert shlex.split(row["repeat"]) == [
        "pytest",
        "claims/made/test_up.py",
        "--target",
        "qwen3-8b",
        "-m",
        "gpu or cpu",
        "--seed",
        "3",
    ]
