"""Which of the collected tests a run judges, where it is not what pytest's own options say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from claims._kit import ledger, stored
from claims._kit.claim import Claim
from claims._wiring.common import claim_of, refuse, role_and_case, terminal_of

CLAIMS = Path(__file__).parents[1]


def keep(
    config: pytest.Config, items: list[pytest.Item], wanted: Callable[[Claim | None], bool]
) -> None:
    """Deselect the tests whose claim (None for a test without one) is not ``wanted``."""
    left = [item for item in items if not wanted(claim_of(item))]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if wanted(claim_of(item))]


def keep_stored(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what the ledger of ``--replay`` does not hold, and say what nothing here judges."""
    try:
        old = ledger.read(Path(config.option.replay), tolerate_cut=True)
    except ledger.LedgerError as error:
        refuse(config, error)
    held = stored.stored_rows(old.rows)
    if gone := stored.gone(held, filter(None, map(claim_of, items)), CLAIMS):
        terminal_of(config).write_line(
            f"onecall: {config.option.replay}: {len(gone)} of its cases belong to claims that are "
            f"not here any more and are left out: {', '.join(gone[:3])}"
            + (" ..." if len(gone) > 3 else "")
        )
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        claim = claim_of(item)
        is_held = claim is None or (claim.id, *role_and_case(item, claim)) in held
        (kept if is_held else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
