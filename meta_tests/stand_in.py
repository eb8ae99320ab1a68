"""A pytest plugin that replaces the model of a run: real conftest, kit and ledger, no weights.

Loaded with ``-p meta_tests.stand_in``; claims with a subject of their own then run at once.
``ONECALL_MADE_UP_DEVIATIONS`` names a file of known deviations to use instead of the real one.
"""

from __future__ import annotations

import os
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claims._kit import deviations
from fixtures import targets
from fixtures.needs import CannotRun, Need


@dataclass
class Session:
    """The header of a run, and no engine."""

    again = 0

    target: targets.Target
    device: str
    seed: int
    say: Any = print
    rehearsal: bool = False

    def watch(self) -> Any:
        """Nothing to look at."""
        return lambda: ("", {})

    def tidy(self) -> None:
        """Nothing to free."""

    def engine(self) -> Any:
        """Never there."""
        raise CannotRun("the stand-in has no model; this claim needs one")

    def offers(self) -> frozenset[Need]:
        """Nothing."""
        return frozenset()

    def header(self, *, run: str, started: str, command: list[str], lane: str) -> dict[str, Any]:
        """A header as short as the schema allows."""
        return {
            "kind": "header",
            "schema": 1,
            "run": run,
            "started": started,
            "command": " ".join(command),
            "seed": self.seed,
            "lane": lane,
            "device": self.device,
            "target": self.target.row(),
            "engine": {"name": "stand-in"},
            "machine": {"why_no_cuda": "no CUDA device: the stand-in has none"},
            "software": {},
            "rehearsal": self.rehearsal,
        }


def _chosen(target: str, model: str) -> targets.Target:
    return targets.described(model) if model else targets.named(target or targets.DEFAULT)


def _device_for(_lane: str, wanted: str) -> str:
    return "cpu" if wanted == "auto" else wanted


STUB = types.ModuleType("fixtures.session")
vars(STUB).update(Session=Session, chosen=_chosen, device_for=_device_for)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the stand-in where conftest looks for a session."""
    patch = pytest.MonkeyPatch()
    patch.setitem(sys.modules, "fixtures.session", STUB)
    if named := os.environ.get("ONECALL_MADE_UP_DEVIATIONS"):
        read = deviations.read
        patch.setattr(deviations, "read", lambda: read(Path(named)))
    config.add_cleanup(patch.undo)
