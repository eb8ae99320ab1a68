"""A fleet verified in one command: ``python -m reports.fleet plan.toml [--address ADDRESS]``.

Exit status: that of the worst entry, as pytest has it (1 refuted, 20 void, 21 inconclusive), 3
when an entry broke, 2 when the fleet was stopped, 4 when the plan or the cluster cannot be used
or an entry was refused, 0 when every claim holds or is known not to.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from reports import fleet_plan, fleet_ray, fleet_table
from reports.fleet_kept import dumped, rows_of
from reports.fleet_plan import Entry, PlanError, lacking
from reports.fleet_run import CANCELLED, FAILED, Account, Fleet

ROOT = Path(__file__).parents[1]
OUT = ROOT / "reports" / "out"
BROKE, STOPPED, REFUTED, REFUSED, NOTHING, VOID, INCONCLUSIVE = 3, 2, 1, 4, 5, 20, 21
WORST_FIRST = (BROKE, STOPPED, REFUTED, REFUSED, NOTHING, VOID, INCONCLUSIVE, 0)
PLAN = "plan.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the plan lists, print and write the table; the exit status."""
    given = _parser().parse_args(arguments)
    say = partial(print, flush=True)
    fresh = OUT / f"fleet-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    try:
        folder = given.out or fresh
        entries = fleet_plan.read(given.plan, here=ROOT)
        _folder(folder, entries, resume=given.resume)
        with fleet_ray.cluster(given.address) as ray:
            accounts = _run(ray, entries, folder, say)
    except (PlanError, fleet_ray.NoFleet) as error:
        print(f"onecall: {error}", file=sys.stderr)
        return REFUSED
    text, _, _ = fleet_table.write(folder, accounts)
    say(f"\n{text}page: {folder / fleet_table.PAGE}")
    return worst(accounts)


def _run(ray: object, entries: Sequence[Entry], folder: Path, say: partial[None]) -> list[Account]:
    have = fleet_ray.nodes(ray)
    say(f"fleet: {fleet_ray.totals(have)}; {len(entries)} entries into {folder}")
    for entry in entries:
        if why := lacking(entry, list(have.values())):
            raise PlanError(f"entry {entry.name}: {why}")
    fleet = Fleet(folder=folder, launch=fleet_ray.Launcher(ray), say=say)
    accounts: list[Account] = []
    with suppress(KeyboardInterrupt):
        asyncio.run(_kept(fleet, entries, accounts))
    return accounts


async def _kept(fleet: Fleet, entries: Sequence[Entry], accounts: list[Account]) -> None:
    """The accounts reach their list also when Ctrl-C ends the run."""
    accounts += await fleet.run(entries)


def _folder(folder: Path, entries: Sequence[Entry], *, resume: bool) -> None:
    """Make the folder, or take up the one of an earlier fleet; PlanError where neither is right.

    An entry whose ledger is there has to be what it was.
    """
    held = any(folder.iterdir()) if folder.is_dir() else False
    if held and not resume:
        raise PlanError(f"{folder} holds files; name another --out, or --resume it")
    if resume and not (folder / PLAN).is_file():
        raise PlanError(f"--resume: no fleet wrote into {folder}; name it with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = {row["name"]: row for row in rows_of(folder / PLAN)}
        now = {entry.name: {"name": entry.name, "words": entry.words} for entry in entries}
        for name, row in now.items():
            begun = name in before and (folder / f"{name}.jsonl").exists()
            if begun and before[name] != row:
                raise PlanError(f"--resume: entry {name} is not what it was; name another --out")
        lines = [dumped(row) for row in {**before, **now}.values()]
        (folder / PLAN).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise PlanError(f"{folder}: {error.strerror}; name another --out") from None


def worst(accounts: Sequence[Account]) -> int:
    """The worst exit status; entries that broke or were stopped have none of their own."""
    ended = {FAILED: BROKE, CANCELLED: STOPPED}
    found = [ended.get(account.state, account.status) for account in accounts]
    known = [BROKE if s is None or s not in WORST_FIRST else s for s in found]
    return min(known, key=WORST_FIRST.index, default=NOTHING)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reports.fleet",
        description="Run every entry of a plan on the nodes of a Ray cluster, one table for all.",
        epilog="Exit status: the worst entry's own, 2 stopped, 3 an entry broke, 4 refused.",
    )
    parser.add_argument("plan", type=Path, metavar="PLAN.toml")
    parser.add_argument(
        "--address", default="", help="of the cluster: auto or HOST:PORT; this machine without it"
    )
    parser.add_argument(
        "--resume", action="store_true", help="run only what is missing in the folder of --out"
    )
    parser.add_argument("--out", type=Path, help="folder of the ledgers and the page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
