"""One run over several worker processes (pytest-xdist): they judge, the controller keeps.

A worker's rows ride on the reports of its tests and are in the one ledger as soon as the
controller hears of them, so that a killed run keeps what it had. All tests of a claim file go to
one worker, which has at hand what they share, and says what the claim as a whole came to; the
architectures, one claim of hundreds of cases that share nothing, go case by case, and the
controller says it. Timed claims go to no worker: the controller judges them itself when the
workers are done and the machine is quiet.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from claims._kit.ledger import LedgerError, Row, Writer
from claims._kit.run import Run
from claims._kit.stored import differing
from fixtures.needs import asks_for

ROWS, PLANNED, REFUSED = "onecall_rows", "onecall_planned", "onecall_refused"
BY_FILE, BY_CASE = "loadfile", "load"
SPREAD_LANE = "architectures"


def is_worker(config: pytest.Config) -> bool:
    """True in a process that pytest-xdist started."""
    return hasattr(config, "workerinput")


def count(config: pytest.Config) -> int:
    """How many processes share the machine's processor, this one among them."""
    return int(config.workerinput["workercount"]) if is_worker(config) else 1  # type: ignore[attr-defined]


def is_controller(config: pytest.Config) -> bool:
    """True where tests are handed out to workers and none is run."""
    option = config.option
    spread = getattr(option, "dist", "no") != "no" and bool(getattr(option, "tx", None))
    return spread and not option.collectonly and not is_worker(config)


def distribution(lane: str) -> str:
    """How pytest-xdist hands out the tests of a lane."""
    return BY_CASE if asks_for(lane, SPREAD_LANE) else BY_FILE


def refusal(option: Any) -> str:
    """Why a run cannot be spread over workers; empty when it can."""
    if option.dist == "each":
        return "--dist each judges every claim several times; leave it out"
    for name, why in (
        ("resume", "a run is finished by one process"),
        ("replay", "a replay measures nothing that could be shared"),
        ("claims", "a list needs no workers"),
        ("base_url", "a server is judged with one client alone"),
    ):
        if getattr(option, name):
            return f"--{name.replace('_', '-')}: {why}; run it without -n"
    return ""


@dataclass
class Relay(Writer):
    """A worker's writer: rows are checked as ever, then wait for the next report."""

    unsent: list[str] = field(default_factory=list)

    def _append(self, line: str) -> None:
        self.unsent.append(line)

    def sent(self) -> list[str]:
        """The rows that no report has carried yet; from here on they count as sent."""
        lines, self.unsent = self.unsent, []
        return lines


@dataclass
class Worker:
    """The plugin of a worker: puts new rows on each report."""

    relay: Relay
    planned: list[str]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        """Rows of the case that was just judged; before the first, the header and the plan."""
        report = yield
        if lines := self.relay.sent():
            setattr(report, ROWS, lines)
            setattr(report, PLANNED, self.planned)
        return report


@dataclass
class Controller:
    """The plugin that keeps the ledger of a run whose cases are judged elsewhere.

    ``start`` makes the run from the first header; later headers have to agree with it.
    """

    arguments: Sequence[str]
    start: Callable[[Row], Run]
    run: Run | None = None
    told: Row = field(default_factory=dict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take over what a worker's report brings."""
        try:
            for line in getattr(report, ROWS, ()):
                self._take(json.loads(line))
        except LedgerError as error:
            pytest.exit(f"onecall: {error}", returncode=int(pytest.ExitCode.USAGE_ERROR))
        if self.run is not None:
            for claim in getattr(report, PLANNED, ()):
                self.run.planned.setdefault(claim, [])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """End the run with the line with which a worker refused to begin."""
        if line := getattr(node, "workeroutput", {}).get(REFUSED, ""):
            pytest.exit(f"onecall: {line}", returncode=int(pytest.ExitCode.USAGE_ERROR))

    def _take(self, row: Row) -> None:
        if row["kind"] == "header":
            self._begin(row)
        elif self.run is not None:
            row = self.run.writer.write(row)
            if row["kind"] == "verdict":
                self.run.verdicts[row["claim"], row["role"], row["case"]] = row
            elif row["kind"] == "claim":
                self.run.finished[row["claim"]] = row

    def _begin(self, header: Row) -> None:
        if self.run is None:
            command = shlex.join(["pytest", *self.arguments])
            self.run, self.told = self.start({**header, "command": command}), header
        elif changed := differing(self.told, header):
            raise LedgerError(f"workers have another {', '.join(changed)}; run without -n")


def run_the_rest(session: pytest.Session) -> None:
    """Collect here what no worker was given, and run it; ``session`` is the controller's."""
    shared = session.testscollected
    items = list(session.perform_collect())
    session.testscollected = shared + len(items)
    for item, following in zip(items, [*items[1:], None], strict=False):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
