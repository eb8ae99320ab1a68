"""A run over several ranks (torchrun): rank 0 keeps and shows it, the others take part unseen."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import pytest
from _pytest.config import create_terminal_writer

from claims._kit import stored, together
from claims._kit.ledger import Row, Writer
from claims._kit.together import Others
from claims._wiring.common import terminal_of
from fixtures import meeting, ranks
from fixtures.needs import asks_for
from fixtures.ranks import Place

RANK = pytest.StashKey["Rank"]()
OTHER_LANES = ("cpu", "server", "fuzz", "architectures")
# Exit statuses that speak of claims, which are rank 0's to tell.
OF_CLAIMS = (0, 1, 5, 20, 21)
# A rank that is refused as rank 0 is leaves it the time to say why.
HEAD_START_S = 5.0


def enter(config: pytest.Config) -> None:
    """Take this process's place among the ranks; nothing where there is one process."""
    at = ranks.place()
    if at is None:
        return
    if why := refusal(config.option, at):
        if at.rank:
            os._exit(0)  # rank 0 says why
        raise pytest.UsageError(f"onecall: {why}")
    if at.rank:
        config.option.htmlpath = config.option.xmlpath = None
    config.stash[RANK] = rank = Rank(config, at)
    config.pluginmanager.register(rank)


def refuse_targets() -> None:
    """A list of targets is a run for each: ranks cannot share that."""
    if at := ranks.place():
        if at.rank:
            os._exit(0)
        raise pytest.UsageError("onecall: --targets starts runs of its own; leave torchrun out")


def refusal(option: Any, at: Place) -> str:
    """Why ranks cannot share the run that was asked for; empty where they can."""
    lane = option.markexpr
    asked = [n for n in ("gpu", *OTHER_LANES) if asks_for(lane, n)]
    if asked != ["gpu"]:
        return (
            f"torchrun started {at.size} ranks, which share a model in the gpu lane alone; "
            "give -m gpu, or start pytest without torchrun"
        )
    if at.here != at.size:
        return (
            f"{at.size} ranks on several nodes: a model that one node does not hold is for a "
            "server (-m server --base-url)"
        )
    if getattr(option, "dist", "no") != "no":
        return "-n: torchrun starts the processes; leave -n out"
    for name in ("replay", "claims", "collectonly", "base_url", "serve"):
        if getattr(option, name):
            return f"--{name.replace('_', '-')}: is nothing that ranks share; leave torchrun out"
    return ""


def of(config: pytest.Config) -> Rank | None:
    """The part of this process in a run over ranks; None where it runs alone."""
    return config.stash.get(RANK, None)


def is_silent(config: pytest.Config) -> bool:
    """True where another rank keeps the ledger and shows the run."""
    rank = of(config)
    return rank is not None and rank.at.rank > 0


def launcher(config: pytest.Config) -> str:
    """The words that start pytest as this run was started."""
    rank = of(config)
    return "pytest" if rank is None else f"torchrun --nproc-per-node {rank.at.size} -m pytest"


class Unkept(Writer):
    """The writer of a rank that keeps no ledger: rows are checked as ever, and go nowhere."""

    def _append(self, line: str) -> None:
        """Nothing."""


def share(rows: dict[stored.Key, list[Row]]) -> dict[stored.Key, list[Row]]:
    """What a resumed run holds, on every rank; the others learn it from rank 0."""
    last = ranks.agreed([found[-1] for found in rows.values()])
    return rows or {(row["claim"], row["role"], row["case"]): [row] for row in last}


def others(config: pytest.Config, session: Any) -> Others | None:
    """How this rank reaches the others; None where it runs alone."""
    rank, met = of(config), ranks.here()
    if rank is None or met is None:
        return None

    def begin(what: str) -> None:
        import torch

        rank.spoken = False
        if (told := met.begins(what)) == ranks.NOTHING:
            os._exit(0)  # rank 0 has ended the run
        if told != what:
            rank.part(f"{what}: rank 0 is at {told}")
        # What rank 0 alone drew before (for claims without a model) must not set it apart.
        torch.manual_seed(session.seed)

    def say(words: dict[str, str]) -> list[dict[str, str] | None]:
        told = met.ends(words)
        rank.spoken = told[0] is not None
        alike = len({each["how"] if each else None for each in told}) == 1
        if alike and words["how"].startswith(together.CRASHED) and not met.meet(session.device):
            return [{**each, "how": f"crashed as rank {n}"} for n, each in enumerate(told)]
        return told

    return Others(rank=met.rank, begin=begin, say=say, part=rank.part)


@dataclass
class Rank:
    """The plugin of a process that is one of several ranks.

    ``spoken``: rank 0 has come to the end of a case, and tells what there is to tell of it.
    """

    config: pytest.Config
    at: Place
    spoken: bool = False
    ending: bool = False
    apart: bool = False
    status: int = 0
    loud: TextIO = field(init=False)

    def __post_init__(self) -> None:
        """Keep a way to the error stream that no capture closes; listen for torchrun's end."""
        self.loud = os.fdopen(os.dup(2), "w")
        if self.at.rank == 0:
            signal.signal(signal.SIGTERM, self._ended)

    def _ended(self, *_signal: Any) -> None:
        """Where one rank has failed torchrun ends them all: what is finished is still shown."""
        if not self.ending:
            self.apart = True
            raise KeyboardInterrupt("another rank has ended")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Other ranks have no terminal."""
        if self.at.rank:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (to the end)
            terminal_of(self.config)._tw = create_terminal_writer(self.config, nowhere)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Part from the others; the exit status of claims is rank 0's."""
        self.ending = True
        done = yield
        in_order = not self.at.rank or session.exitstatus in OF_CLAIMS
        if in_order and not self.apart:  # else the others may never come to take leave
            meeting.leave()
        if self.at.rank and in_order:
            session.exitstatus = pytest.ExitCode.OK
        elif self.at.rank:
            # torchrun ends this rank at once when rank 0 has failed and said why.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            if signal.sigtimedwait({signal.SIGTERM}, HEAD_START_S) is None:
                self._say(f"ended with exit status {int(session.exitstatus)}")
        self.status = int(session.exitstatus)
        return done

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Leave without waiting for collectives that never end."""
        if self.apart:
            from fixtures.cutting import discard

            discard()
            sys.stdout.flush()
            os._exit(self.status)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The exit status of claims, which torchrun hides behind its own."""
        status = int(terminalreporter._session.exitstatus)
        terminalreporter.write_line(
            f"exit status of rank 0: {status} (torchrun itself ends with 1 for any but 0)"
        )

    def pytest_internalerror(self, excrepr: Any) -> None:
        """A crash of another rank is seen although it shows nothing else."""
        if self.at.rank:
            self._say(str(excrepr))

    def _say(self, words: str) -> None:
        print(f"\nonecall: rank {self.at.rank}: {words}", file=self.loud, flush=True)

    def part(self, what: str) -> None:
        """End the run of ranks that cannot go on together, with one line from one of them."""
        self.apart = True
        line = f"{what}; what is finished is kept, --resume goes on from there"
        if self.at.rank == 0:
            pytest.exit(f"onecall: {line}", returncode=int(pytest.ExitCode.INTERNAL_ERROR))
        if not self.spoken:
            self._say(line)
        # Collectives that wait for this rank fail when it is gone, and rank 0 ends in good order;
        # at a status other than 0 torchrun would end it sooner.
        os._exit(0)
