"""The README's picture: the page of the committed sample run, as Chromium shows it.

``python -m meta_tests.picture`` writes docs/page.png anew.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from meta_tests.chromium import CHROMIUM, FLAGS, ROOT

SAMPLE = ROOT / "reports" / "samples" / "cpu-smollm2-135m.jsonl"
PICTURE = ROOT / "docs" / "page.png"
SIZE = "1180,1000"


def page(folder: Path) -> Path:
    """The sample's page, made without a model."""
    ledger = folder / "page.jsonl"
    asked = [sys.executable, "-m", "pytest", "--replay", str(SAMPLE), "--ledger", str(ledger)]
    subprocess.run(asked, cwd=ROOT, capture_output=True, check=False)  # its status is the run's
    return ledger.with_suffix(".html")


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        shown = page(Path(folder))
        how = [*FLAGS, "--hide-scrollbars", f"--window-size={SIZE}", f"--screenshot={PICTURE}"]
        subprocess.run([str(CHROMIUM), *how, shown.as_uri()], capture_output=True, check=True)


if __name__ == "__main__":
    main()
