"""Fleets without a cluster: ledgers of made-up claims, and nodes that play them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from meta_tests import made_up
from reports import fleet_plan
from reports.fleet_node import ANEW, ENDED, LINES, NODE, Event, Order
from reports.fleet_plan import Entry
from reports.fleet_run import Account, Fleet, NobodyHas, NodeDied

CLAIMS = tuple(f"made/claim-{letter}" for letter in "abcde")


def plan(folder: Path, text: str) -> list[Entry]:
    """The entries of a plan with this text."""
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return fleet_plan.read(path, here=made_up.ROOT)


def entry(name: str, **about: Any) -> Entry:
    return Entry(name=name, **{"resources": {}, "checkout": str(made_up.ROOT), **about})


def ledger_of(
    folder: Path, *, value: float = 0.5, verdicts: Sequence[str] = CLAIMS, **header: Any
) -> list[str]:
    """Lines of the finished ledger of a run over these claims; ``header`` changes its first."""
    writer = made_up.Writer(folder / f"{len(list(folder.glob('*')))}.jsonl")
    writer.write(made_up.header(**header))
    claims = [made_up.claim(made_up.answers(value), id=claim) for claim in verdicts]
    run = made_up.run_of(folder, *claims, writer=writer)
    made_up.judge(run, *claims)
    run.close(made_up.TODAY, 0, [])
    return writer.path.read_text(encoding="utf-8").splitlines()


def by_claim(lines: Sequence[str]) -> list[list[str]]:
    """The lines in parts, each of which ends with a claim's row; the last is the footer."""
    parts: list[list[str]] = [[]]
    for line in lines:
        parts[-1].append(line)
        if json.loads(line)["kind"] == "claim":
            parts.append([])
    return parts


@dataclass
class Nodes:
    """Nodes by name; ``dies`` says after how many claims a node dies, ``lacks`` what it lacks.

    Nodes named in ``other_kind`` refuse to go on with what another node began.
    """

    lines: Sequence[str]
    names: list[str]
    dies: dict[str, float] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)
    other_kind: frozenset[str] = frozenset()
    tick_s: float = 0.0
    busy: set[str] = field(default_factory=set)
    freed: asyncio.Condition = field(default_factory=asyncio.Condition)
    at_once: int = 0
    overlap: set[tuple[str, ...]] = field(default_factory=set)
    running: dict[str, Entry] = field(default_factory=dict)
    orders: list[tuple[str, Order]] = field(default_factory=list)

    async def launch(
        self, entry: Entry, order: Order, avoided: frozenset[str]
    ) -> AsyncGenerator[Event, None]:
        async with self.freed:
            while not (free := self._free(avoided)):
                await self.freed.wait()
        node = free[0]
        self.busy.add(node)
        self.running[entry.name] = entry
        self.at_once = max(self.at_once, len(self.running))
        self.overlap.add(tuple(sorted(self.running)))
        try:
            async for event in self._on(node, order):
                yield event
        finally:
            self.busy.discard(node)
            self.running.pop(entry.name, None)
            async with self.freed:
                self.freed.notify_all()

    def _free(self, avoided: frozenset[str]) -> list[str]:
        left = [name for name in self.names if name not in avoided]
        if not left:
            raise NobodyHas("no node has machine 1 (the most is 0)")
        return [name for name in left if name not in self.busy]

    async def _on(self, node: str, order: Order) -> AsyncGenerator[Event, None]:
        self.orders.append((node, order))
        yield NODE, {"id": node, "name": f"host/{node}"}
        if why := self.lacks.get(node):
            yield ENDED, {"status": 4, "said": why, "lacks": True, "rows": 0}
            return
        parts = by_claim(self.lines)
        if order.finished and node in self.other_kind:
            yield ANEW, "machine differ from the run that began"
        elif order.finished:
            held = {json.loads(line).get("claim") for line in order.finished} - {None}
            parts = [p for p in parts if json.loads(p[-1]).get("claim") not in held]
            parts[0] = [line for line in parts[0] if json.loads(line)["kind"] != "header"]
        async for event in self._play(node, parts):
            yield event

    async def _play(self, node: str, parts: Sequence[list[str]]) -> AsyncGenerator[Event, None]:
        for number, part in enumerate(parts):
            await asyncio.sleep(self.tick_s)
            if number >= self.dies.get(node, 99):
                yield LINES, part[:-1]  # half of a claim arrives, and then nothing
                self.names.remove(node)
                raise NodeDied("the node is dead")
            yield LINES, part
        yield ENDED, {"status": 0, "said": "all passed", "lacks": False, "rows": 9}


def run(folder: Path, nodes: Nodes, *entries: Entry) -> tuple[list[Account], list[str]]:
    """The accounts of a fleet of these nodes, and what it said."""
    said: list[str] = []
    folder.mkdir(exist_ok=True)
    fleet = Fleet(folder=folder, launch=nodes.launch, say=said.append)
    return asyncio.run(fleet.run(entries)), said
