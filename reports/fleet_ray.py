"""Ray's part of a fleet: a cluster to run on, what its nodes have, and one task per entry."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from reports import fleet_node
from reports.fleet_node import Event, Order
from reports.fleet_plan import MACHINE, Entry, lacking
from reports.fleet_run import NobodyHas, NodeDied

# How often an entry that waits for a node looks whether there can still be one, and how long a
# cancelled run may take to end.
LOOK_S = 5.0
END_S = 15.0
IS_NODE = "ray.io/node-id"


class NoFleet(Exception):
    """One line that says why there is no cluster to run on."""


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at ``address``, or to one of this machine alone."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A run that is timed has the priority of any other program; nodes of one's own are started so.
    os.environ.setdefault("RAY_worker_niceness", "0")
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise NoFleet("a fleet runs on Ray, which is not installed; run: tox -e fleet") from None
    if address.startswith("ray://"):
        raise NoFleet("run this on a node of the cluster, with --address auto or HOST:PORT")
    about: dict[str, Any] = {"address": address} if address else {"resources": {MACHINE: 1}}
    if not address:
        about |= {"include_dashboard": False, "address": "local"}
    try:
        ray.init(logging_level="ERROR", log_to_driver=False, **about)
    except Exception as error:
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise NoFleet(f"no cluster at {address or 'this machine'}: {told[0][:200]}") from error
    ray.cloudpickle.register_pickle_by_value(fleet_node)
    try:
        yield ray
    finally:
        ray.shutdown()


def nodes(ray: Any) -> dict[str, dict[str, float]]:
    """What each living node has in all, by its id."""
    return {n["NodeID"]: dict(n["Resources"]) for n in ray.nodes() if n["Alive"]}


def _options(entry: Entry, avoided: frozenset[str]) -> dict[str, Any]:
    """Options of the task: its amounts, no retry of Ray's own, and the nodes it is kept from."""
    kind = f"accelerator_type:{entry.gpu_kind}"
    known = {"CPU", "GPU", "memory", kind}
    about: dict[str, Any] = {
        "num_cpus": entry.cpus,
        "num_gpus": entry.gpus,
        "resources": {name: n for name, n in entry.needs.items() if name not in known},
        "max_retries": 0,
        "num_returns": "streaming",
        "name": f"onecall {entry.name}",
    }
    if entry.gpu_kind:
        about["accelerator_type"] = entry.gpu_kind
    if entry.memory_gib:
        about["memory"] = int(entry.needs["memory"])
    if avoided:
        about["label_selector"] = {IS_NODE: f"!in({', '.join(sorted(avoided))})"}
    return about


class Launcher:
    """Launches entries as tasks of a connected Ray."""

    def __init__(self, ray: Any) -> None:
        """``ray`` is what ``cluster`` gave."""
        self.ray = ray
        self.task = ray.remote(fleet_node.on_ray)

    async def __call__(
        self, entry: Entry, order: Order, avoided: frozenset[str]
    ) -> AsyncGenerator[Event, None]:
        """The events of one run as they arrive; NodeDied and NobodyHas as ``Launch`` has them."""
        self._possible(entry, avoided)
        stream = self.task.options(**_options(entry, avoided)).remote(order)
        ended = False
        try:
            began = False
            while True:
                reference = await self._next(stream, entry, avoided, began=began)
                if reference is None:
                    ended = True
                    return
                began = True
                yield await reference
        except self.ray.exceptions.RayTaskError as error:
            ended = True
            raise RuntimeError(str(error).strip().splitlines()[-1]) from None
        except self.ray.exceptions.RayError as error:
            ended = True
            raise NodeDied(_first_line(error)) from None
        finally:
            if not ended:
                await self._cancel(stream)

    async def _next(
        self, stream: Any, entry: Entry, avoided: frozenset[str], *, began: bool
    ) -> Any:
        """The next reference, None at the end; while nothing has begun, whether anything can."""
        waiting = asyncio.ensure_future(anext(stream, None))
        try:
            while True:
                done, _ = await asyncio.wait({waiting}, timeout=None if began else LOOK_S)
                if done:
                    return waiting.result()
                self._possible(entry, avoided)
        finally:
            waiting.cancel()

    def _possible(self, entry: Entry, avoided: frozenset[str]) -> None:
        left = [have for node, have in nodes(self.ray).items() if node not in avoided]
        if why := lacking(entry, left):
            raise NobodyHas(f"of the nodes that are left, {why}" if avoided else why)

    async def _cancel(self, stream: Any) -> None:
        """Ask the task to end, which ends its pytest, and wait for it."""
        self.ray.cancel(stream, force=False)

        async def drained() -> None:
            async for reference in stream:
                await reference

        try:
            await asyncio.wait_for(drained(), END_S)
        except (TimeoutError, self.ray.exceptions.RayError):
            return


def _first_line(error: Exception) -> str:
    told = str(error).strip().splitlines() or [type(error).__name__]
    return told[0].partition(". ")[0][:200]


def totals(have: Mapping[str, Mapping[str, float]]) -> str:
    """The fleet in a line: its nodes, processors and accelerators."""
    cpus = sum(node.get("CPU", 0) for node in have.values())
    gpus = sum(node.get("GPU", 0) for node in have.values())
    kinds = sorted({r.partition(":")[2] for n in have.values() for r in n if "ator_type:" in r})
    told = f"{len(have)} nodes, {cpus:g} CPUs, {gpus:g} GPUs"
    return told + (f" ({', '.join(kinds)})" if kinds else "")
