"""Numbers for docs/fleet.md: ``python scripts/fleet_numbers.py {merge,driver,ray,overhead}``.

merge     COUNT ledgers, each a sample with every number moved a little, merged and rendered
driver    COUNT entries through the driver alone, on nodes that only wait: what it can keep up with
ray       COUNT empty tasks queued at once on a local cluster of NODES nodes, submitted as entries
overhead  one entry by itself and through a fleet, in turns, on a cluster of NODES nodes
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from reports import fleet_ray, fleet_table  # noqa: E402 (a script, beside the packages)
from reports.fleet_node import ENDED, LINES, NODE, Event, Order  # noqa: E402
from reports.fleet_plan import Entry  # noqa: E402
from reports.fleet_run import Account, Fleet  # noqa: E402

SAMPLE = ROOT / "reports" / "samples" / "cpu-smollm2-135m.jsonl"
QUICK = ["-q", "-p", "no:cacheprovider", "claims/roofline"]


def entry(name: str, **about: Any) -> Entry:
    """An entry of this checkout."""
    return Entry(name=name, **{"resources": {}, "checkout": str(ROOT), **about})


def moved(rows: list[dict[str, Any]], number: int) -> Iterator[str]:
    """Lines of the sample as node ``number`` might have found them: no number is the same."""
    draw = random.Random(number)  # noqa: S311 (no secret)
    for row in rows:
        new = dict(row)
        if row["kind"] == "header":
            new |= {"run": f"node-{number}", "fleet": {"node": f"host-{number}/{number:08x}"}}
        if row["kind"] == "samples" and not all(s in (0, 1) for s in row["samples"]):
            new["samples"] = [nudged(s, 1 + 1e-6 * draw.random()) for s in row["samples"]]
        if row["kind"] == "verdict":
            by = 1 + 1e-6 * draw.random()
            new |= {k: nudged(row[k], by) for k in ("estimate", "low", "high")}
        yield json.dumps(new, sort_keys=True)


def nudged(value: Any, by: float) -> Any:
    """A number times ``by``, anything else as it is."""
    return value * by if isinstance(value, float) else value


def merge(count: int, _: int) -> None:
    """Merge and render, and how much memory that took."""
    rows = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        accounts = []
        for number in range(count):
            path = folder / f"node-{number}.jsonl"
            path.write_text("".join(f"{line}\n" for line in moved(rows, number)))
            accounts.append(
                Account(entry(path.stem), state="finished", status=0, ledger=path, seconds=60.0)
            )
        size = sum(account.ledger.stat().st_size for account in accounts if account.ledger)
        before, began = time.process_time(), time.perf_counter()
        _, runs, found = fleet_table.write(folder, accounts)
        took, cpu = time.perf_counter() - began, time.process_time() - before
        page = (folder / fleet_table.PAGE).stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(runs)} ledgers of {len(rows)} rows, {size / 1e6:.0f} MB together")
    print(f"merged and rendered in {took:.1f} s ({cpu:.1f} s of CPU), peak {peak:.2f} GiB")
    print(f"page {page / 1e6:.1f} MB, {len(found)} disagreements")


def driver(count: int, nodes: int) -> None:
    """The driver's own work for COUNT entries at once, each a whole sample ledger."""
    lines = SAMPLE.read_text().splitlines()
    events = [lines[n : n + 20] for n in range(0, len(lines), 20)]
    free = asyncio.Semaphore(nodes)

    async def launch(e: Entry, _: Order, __: frozenset[str]) -> AsyncGenerator[Event, None]:
        async with free:
            yield NODE, {"id": e.name, "name": f"host/{e.name}"}
            for each in events:
                await asyncio.sleep(0)
                yield LINES, each
            yield ENDED, {"status": 0, "said": "", "lacks": False, "rows": len(lines)}

    with tempfile.TemporaryDirectory() as name:
        fleet = Fleet(folder=Path(name), launch=launch, say=lambda _: None)
        before, began = time.process_time(), time.perf_counter()
        accounts = asyncio.run(fleet.run([entry(f"e{n}") for n in range(count)]))
        took, cpu = time.perf_counter() - began, time.process_time() - before
    done = sum(account.state == "finished" for account in accounts)
    sent = count * len(events)
    print(f"{done} of {count} entries on {nodes} nodes in {took:.1f} s ({cpu:.1f} s of CPU)")
    print(f"{sent} batches of lines, {1e3 * cpu / sent:.2f} ms of CPU each")


def cluster(nodes: int) -> Any:
    """A real cluster of this machine, each node with one CPU and a machine to itself."""
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    for _ in range(nodes):
        made.add_node(num_cpus=1, resources={"machine": 1}, wait=False)
    made.wait_for_nodes()
    return made


def ray(count: int, nodes: int) -> None:
    """COUNT tasks that send two events and end, all queued at once, a few at a time."""
    began = time.perf_counter()
    made = cluster(nodes)
    print(f"a cluster of {nodes} nodes started in {time.perf_counter() - began:.1f} s")
    with fleet_ray.cluster(made.address) as connected, tempfile.TemporaryDirectory() as name:
        fleet = Fleet(folder=Path(name), launch=fleet_ray.Launcher(connected), say=lambda _: None)
        # A checkout that is not there: a node says so at once, and another node does.
        nowhere = [entry(f"e{n}", checkout="/none", alone=False) for n in range(count)]
        before, began = time.process_time(), time.perf_counter()
        accounts = asyncio.run(fleet.run(nowhere))
        took, cpu = time.perf_counter() - began, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    placed = sum(len(account.nodes) for account in accounts)
    print(f"{placed} tasks of {count} entries placed and ended in {took:.1f} s")
    print(f"driver: {cpu:.1f} s of CPU, peak {peak:.2f} GiB, load {os.getloadavg()[0]:.1f}")
    made.shutdown()


def overhead(count: int, nodes: int) -> None:
    """COUNT times in turns: an entry by itself, and through a fleet."""
    made = cluster(nodes)
    alone, through, waited = [], [], []
    for number in range(count):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "alone.jsonl"
            words = ["-m", "cpu and quick", *QUICK, "--ledger", str(path)]
            began = time.perf_counter()
            subprocess.run(  # noqa: S603 (pytest itself)
                [sys.executable, "-m", "pytest", *words],
                cwd=ROOT,
                capture_output=True,
                check=False,
            )
            alone.append(time.perf_counter() - began)
            began = time.perf_counter()
            with fleet_ray.cluster(made.address) as connected:
                launcher = fleet_ray.Launcher(connected)
                fleet = Fleet(folder=Path(name), launch=launcher, say=lambda _: None)
                one = entry("x", lane="cpu and quick", arguments=tuple(QUICK))
                (account,) = asyncio.run(fleet.run([one]))
                through.append(time.perf_counter() - began)
                waited.append(through[-1] - account.seconds)
        more = through[-1] - alone[-1]
        told = f"{more:+.1f} s, of which {waited[-1]:.1f} s before it began and after its end"
        print(f"{number}: alone {alone[-1]:.1f} s, fleet {through[-1]:.1f} s: {told}", flush=True)
    print(f"median: {median(through) - median(alone):+.1f} s; placing {median(waited):.1f} s")
    made.shutdown()


def main() -> None:
    """One of the measurements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("merge", "driver", "ray", "overhead"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=3)
    given = parser.parse_args()
    {"merge": merge, "driver": driver, "ray": ray, "overhead": overhead}[given.what](
        given.count, given.nodes
    )


if __name__ == "__main__":
    main()
