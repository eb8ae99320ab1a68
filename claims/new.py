"""The skeleton of a claim: ``python -m claims.new family/sentence-with-dashes``.

As it is written, its verdict is VOID: there is no measurement yet, no fault and no limit.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from claims._kit.paths import file_of

HERE = Path(__file__).parent
NAME = re.compile(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*")
MADE, REFUSED = 0, 2

SKELETON = '''"""Say here what was published, as a fact."""

from __future__ import annotations

from typing import Any

from claims._kit.claim import Claim, Control
from claims._kit.figures import Case, Figure, Source
from claims._kit.measure import Measured
from claims._kit.rules import every_sample_at_most

CLAIM = Claim(
    id="{claim}",
    sentence=__doc__,
    source=Source(
        document="the document's short name",
        where="the section",
        setting="the conditions under which its figures were taken",
    ),
    figure=Figure(
        # No value passes this limit. Choose yours, with its reason, before you see a result.
        limit=float("nan"),
        unit="the unit of a sample",
        claimed="the published number, in the source's words",
        why="not said yet: what would let a reader derive the limit again",
    ),
    rule=every_sample_at_most,  # or another one of claims/_kit/rules.py
    # Without a subject, what is measured is the run's engine: fixtures/engines/protocol.py.
    subject="nothing yet",
    controls=(
        Control(
            name="nothing planted yet",
            sentence="Say what is wrong with the planted subject.",
            # A fault wraps the honest subject; copy one from fixtures/faults/.
            plant=lambda honest: honest,
        ),
    ),
)


def measure(subject: Any, case: Case) -> Measured:
    """What one sample is."""
    raise NotImplementedError("not written yet: measure, the limit and the control")


test_holds, test_control_is_caught = CLAIM.tests(measure)
'''


def path_of(claim: str) -> Path:
    """The file of a claim, below the folder of all claims."""
    return Path(file_of(claim))


def main(arguments: Sequence[str] | None = None, *, claims: Path = HERE) -> int:
    """Write the skeleton below ``claims``, or say in one line why not; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m claims.new", description="Write the skeleton of a claim."
    )
    parser.add_argument("claim", metavar="FAMILY/SENTENCE", help="such as prefix/token-bill")
    claim = parser.parse_args(arguments).claim
    if not NAME.fullmatch(claim):
        return _refused(f"{claim!r} is no id: write family/sentence-with-dashes, in a-z and 0-9")
    file = claims / path_of(claim)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as made:
            made.write(SKELETON.format(claim=claim))
    except FileExistsError:
        return _refused(f"{file} exists; choose another sentence, or edit that claim")
    except OSError as error:
        return _refused(f"{file}: {error.strerror}")
    print(f"{file}: replace what it says, then run: pytest {file}")
    return MADE


def _refused(why: str) -> int:
    print(f"onecall: {why}", file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
