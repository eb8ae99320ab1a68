"""What a failure prints is enough to see it again: a bug in the library, the command, the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.trials import Trial
from meta_tests.made_up import ROOT

CASE = "claims/architectures/test_every_cache_is_invisible.py::test_holds[llama]"
BIN = Path(sys.executable).parent


def broken_run(command: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """``command`` in a shell, with a bug planted into transformers."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ONECALL_", "PYTEST"))}
    env |= {"PYTHONPATH": str(ROOT), "PATH": f"{BIN}{os.pathsep}{env['PATH']}"}
    env["PYTEST_ADDOPTS"] = f"-p meta_tests.planted_bug --ledger {tmp_path / 'run.jsonl'}"
    return subprocess.run(
        command, shell=True, cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_printed_command_repeats_a_broken_property(tmp_path):
    (tmp_path / "first").mkdir()
    first = broken_run(f"pytest '{CASE}'", tmp_path / "first")
    witness = re.search(
        r"witness: +(?P<about>llama, \w+: tokens \[.*?\] cut at \d+.*?): "
        r"(?P<told>position \d+: logit \S+ one way, \S+ the other).*?"
        r"repeat: (?P<command>ONECALL_TRIAL='(?P<trial>.*?)' pytest '.*?')",
        first.stdout,
    )
    assert f"REFUTED {CASE}" in first.stdout
    assert witness, first.stdout
    trial = Trial.from_json(witness["trial"])
    assert str(trial) == witness["about"]
    assert len(trial.tokens) <= 3

    again = broken_run(witness["command"], tmp_path)
    assert f"REFUTED {CASE}" in again.stdout
    assert f"{witness['about']}: {witness['told']}" in again.stdout
