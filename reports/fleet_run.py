"""Every entry of a plan on some node: what is waited for, what is tried again, what is kept.

Placing is Ray's business. Here are the names of a plan's devices, one retry elsewhere, and the
ledgers; how a run is launched is a parameter, so that all of it can be tried without a cluster.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reports.fleet_kept import Kept, dumped, taken_up
from reports.fleet_node import ANEW, ENDED, LINES, NODE, REFUSED, Event, Order
from reports.fleet_plan import Entry

ATTEMPTS = 2
RECORD = "fleet.jsonl"
FINISHED, HELD, TOLD_OFF, FAILED, CANCELLED = (
    "finished",
    "kept",
    "refused",
    "failed",
    "cancelled",
)


class NodeDied(Exception):
    """The node is gone, or the process on it: one line that says which."""


class NobodyHas(Exception):
    """No node that is left has what the entry needs: one line that says what."""


# Launches an order on a node that is none of the given ones; its events as they arrive. Raises
# NodeDied and NobodyHas.
Launch = Callable[[Entry, Order, frozenset[str]], AsyncGenerator[Event, None]]


@dataclass
class Account:
    """What became of one entry. ``status`` is pytest's own, or None where no run ended."""

    entry: Entry
    state: str = CANCELLED
    status: int | None = None
    why: str = ""
    nodes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    claims: int = 0
    ledger: Path | None = None


@dataclass
class Fleet:
    """The run of a plan into ``folder``; ``pause_s`` is how often a node looks at its ledger."""

    folder: Path
    launch: Launch
    say: Callable[[str], None]
    pause_s: float = 0.5
    devices: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    keys: tuple[str, ...] = ()

    async def run(self, entries: Sequence[Entry]) -> list[Account]:
        """Run all that is not finished yet; the accounts in the plan's order.

        A cancelled run has accounts too: what it kept is on the disk.
        """
        self.keys = tuple(sorted({entry.key_env for entry in entries if entry.key_env}))
        accounts = [Account(entry) for entry in entries]
        tasks = [asyncio.ensure_future(self._entry(account)) for account in accounts]
        try:
            await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return accounts

    async def _entry(self, account: Account) -> None:
        entry = account.entry
        kept = taken_up(self.folder, entry.name)
        if kept.is_finished:
            account.status = kept.exit
            self._done(account, kept, HELD, "")
            return
        try:
            async with AsyncExitStack() as held:
                for device in entry.devices:
                    await held.enter_async_context(self.devices[device])
                await self._attempts(account, kept)
        except asyncio.CancelledError:
            self._done(account, kept, CANCELLED, "it was stopped; go on with --resume")
            raise
        except Exception as error:  # one entry that breaks does not end the others
            self._done(account, kept, FAILED, f"{type(error).__name__}: {error}"[:300])

    async def _attempts(self, account: Account, kept: Kept) -> None:
        """At most two nodes; each goes on with the claims that are finished."""
        avoided: set[str] = set()
        finished = kept.put_aside(why="the fleet was stopped") if kept.path.exists() else []
        why = ""
        for attempt in range(1, ATTEMPTS + 1):
            attempted = _Attempt(self, account, kept, attempt)
            try:
                end = await attempted.made(finished, frozenset(avoided))
            except NobodyHas as error:
                self._done(account, kept, FAILED, "; ".join(filter(None, (why, str(error)))))
                return
            except NodeDied as error:
                why = f"{attempted.where or 'a node'}: {error}"
            else:
                if not end["lacks"]:
                    self._ended(account, kept, end)
                    return
                why = f"{attempted.where} lacks something: {end['said']}"
            avoided |= {attempted.node} - {""}
            finished = kept.put_aside(why=why, node=attempted.where)
            again = "; tried once more elsewhere" if attempt < ATTEMPTS else ""
            self.tell(account, "broke off", why + again)
        self._done(account, kept, FAILED, why)

    def _ended(self, account: Account, kept: Kept, end: dict[str, Any]) -> None:
        account.status = end["status"]
        if kept.is_finished:
            self._done(account, kept, FINISHED, "")
        elif end["status"] in (REFUSED, 5) and not kept.claims:
            self._done(account, kept, TOLD_OFF, end["said"])
        else:
            why = f"pytest ended with {end['status']} before its end: {end['said']}"
            self._done(account, kept, FAILED, why)

    def _done(self, account: Account, kept: Kept, state: str, why: str) -> None:
        account.state, account.claims = state, len(kept.claims)
        account.why = "; ".join(filter(None, (why, kept.settle())))
        account.claims = len(kept.claims)
        account.ledger = kept.path if kept.path.exists() else None
        took = f" in {account.seconds:.0f} s" if account.seconds else ""
        more = f": {account.why}" if account.why else ""
        self.tell(account, state, f"{account.claims} claims{took}{more}")

    def tell(self, account: Account, what: str, about: str) -> None:
        """A line for whoever looks on, and for the record beside the ledgers."""
        self.say(f"{account.entry.name}: {what}, {about}")
        now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        row = {"when": now, "entry": account.entry.name, "what": what, "about": about}
        with (self.folder / RECORD).open("a", encoding="utf-8") as file:
            file.write(dumped(row) + "\n")


@dataclass
class _Attempt:
    """One launch of an entry: where it went, and whether it goes on with what was finished."""

    fleet: Fleet
    account: Account
    kept: Kept
    number: int
    node: str = ""
    where: str = ""
    goes_on: bool = False
    began: float = 0.0

    async def made(self, finished: Sequence[str], avoided: frozenset[str]) -> dict[str, Any]:
        """The end as the node told it. NodeDied when it never did."""
        entry = self.account.entry
        order = replace(order_of(entry, self.fleet), finished=tuple(finished))
        self.goes_on = bool(finished)
        events = self.fleet.launch(entry, order, avoided)
        end: dict[str, Any] = {}
        try:
            async for kind, value in events:
                if kind == ENDED:
                    end = dict(value)
                else:
                    self._took(kind, value)
        except NodeDied:
            if not end:
                raise
        finally:
            await events.aclose()
            if self.began:
                self.account.seconds += time.monotonic() - self.began
        if not end:
            raise NodeDied("its run ended without a word")
        return end

    def _took(self, kind: str, value: Any) -> None:
        entry, fleet = self.account, self.fleet
        if kind == NODE:
            self.began = time.monotonic()
            self.node, self.where = value["id"], value["name"]
            entry.nodes.append(self.where)
            fleet.tell(entry, "on", f"{self.where}, attempt {self.number}")
        elif kind == ANEW:
            self.goes_on = False
            entry.claims = 0
            fleet.tell(entry, "anew", f"finished claims cannot be gone on with here ({value})")
        elif kind == LINES:
            if self.goes_on:
                self.kept.go_on(self.where)
                self.goes_on, entry.claims = False, len(self.kept.claims)
            for claim, verdict in self.kept.add(value, self.where):
                entry.claims += 1
                fleet.say(f"{entry.entry.name}: {entry.claims} claims, {claim} {verdict}")


def order_of(entry: Entry, fleet: Fleet) -> Order:
    """What a node is told about an entry."""
    return Order(
        name=entry.name,
        words=tuple(entry.words),
        checkout=entry.checkout,
        python=entry.python,
        key_env=entry.key_env,
        keys=fleet.keys,
        pause_s=fleet.pause_s,
    )
