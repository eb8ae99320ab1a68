"""A thousand ledgers are merged and rendered in a minute and two gigabytes."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from meta_tests.made_up import ROOT

pytestmark = [pytest.mark.timed, pytest.mark.slow]


def test_a_thousand_ledgers_are_a_page_in_a_minute_and_two_gigabytes():
    script = [sys.executable, "scripts/fleet_numbers.py", "merge", "--count", "1000"]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout)
    told = re.search(r"rendered in ([\d.]+) s .* peak ([\d.]+) GiB", done.stdout)
    assert told, done.stderr
    seconds, gib = map(float, told.groups())
    assert "1000 ledgers of" in done.stdout
    assert seconds < 60
    assert gib * 2**30 < 2e9
