"""What a run keeps beside pytest's own state, and short answers about items and terminals."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest

from claims._kit import ledger, workers
from claims._kit.claim import Claim
from claims._kit.claim_row import SUBJECT
from claims._kit.run import Run

RUN = pytest.StashKey[Run]()
PATH = pytest.StashKey[Path]()
STARTED = pytest.StashKey[datetime]()
REPLAYED = pytest.StashKey[ledger.Ledger]()


def refuse(config: pytest.Config, error: Exception) -> NoReturn:
    """Stop with one line, and leave alone the page of the ledger that was named."""
    if workers.is_worker(config):
        config.workeroutput[workers.REFUSED] = str(error)  # type: ignore[attr-defined]
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__module__.startswith("pytest_html."):
            config.pluginmanager.unregister(plugin)
    pytest.exit(f"onecall: {error}", returncode=int(pytest.ExitCode.USAGE_ERROR))


def claim_of(item: pytest.Item) -> Claim | None:
    """The claim that a test belongs to; None for a test that is no claim's."""
    mark = item.get_closest_marker("claim")
    return mark.args[0] if mark else None


def role_and_case(item: pytest.Item, claim: Claim) -> tuple[str, str]:
    """Who is judged by a test, the honest subject or a control, and on which case."""
    params = item.callspec.params  # type: ignore[attr-defined]
    if control := params.get("control"):
        return control.name, claim.case(control.case).name
    return SUBJECT, params["case"].name


def terminal_of(config: pytest.Config) -> Any:
    """The terminal reporter of pytest."""
    return config.pluginmanager.getplugin("terminalreporter")


def say(config: pytest.Config, line: str) -> None:
    """A progress line that is seen although pytest captures what tests print.

    A worker has no terminal of its own, and says nothing.
    """
    if workers.is_worker(config):
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        terminal_of(config).write_line(f"  {line}")
