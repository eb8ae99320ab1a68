"""Runs that are already on disk: finish one, or judge one again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from claims._kit.claim import Claim
from claims._kit.claim_row import SUBJECT
from claims._kit.ledger import LedgerError, Row, Writer, mend_last_line, read
from claims._kit.paths import file_of

Key = tuple[str, str, str]

# Two halves of one run are comparable only if all of these are the same.
_SAME = ("seed", "lane", "device", "target", "engine", "software")
_SAME_MACHINE = ("cpu", "cores", "threads")


def stored_rows(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    """Rows of finished cases and controls by (claim, role, case).

    Samples without a verdict belong to a case that was cut off; they are left out, also where a
    resumed run measured the case again after them.
    """
    found: dict[Key, list[Row]] = {}
    for row in rows:
        if row["kind"] == "samples":
            found[_key(row)] = [row]
        elif row["kind"] == "verdict":
            found.setdefault(_key(row), []).append(row)
    return {k: v for k, v in found.items() if v[-1]["kind"] == "verdict"}


def gone(held: Iterable[Key], claims: Iterable[Claim], folder: Path) -> list[str]:
    """Stored cases that nothing can judge any more: no such claim file, case or control.

    ``claims`` are those that were collected; of others only the file can be looked for.
    """
    known = {claim.id: claim for claim in claims}

    def is_here(id_: str, role: str, case: str) -> bool:
        if id_ in known:
            return _has(known[id_], role, case)
        return (folder / file_of(id_)).is_file()

    return [
        f"{id_} [{role if role != SUBJECT else case}]"
        for id_, role, case in held
        if not is_here(id_, role, case)
    ]


def _has(claim: Claim, role: str, case: str) -> bool:
    if role == SUBJECT:
        return any(c.name == case for c in claim.cases)
    return any(c.name == role and claim.case(c.case).name == case for c in claim.controls)


def _key(row: Row) -> Key:
    return row["claim"], row["role"], row["case"]


def resume(path: Path, header: Row, writer: Writer) -> dict[Key, list[Row]]:
    """What a killed run had finished; a half-written last line is dropped from the file.

    LedgerError when the run is already finished, or was made under other conditions.
    """
    if not path.is_file():
        raise LedgerError(f"--resume {path}: there is no such ledger; check the path")
    old = read(path, tolerate_cut=True)
    if old.footer is not None:
        raise LedgerError(f"--resume {path}: this run is finished; run again without --resume")
    if changed := differing(old.header, json.loads(json.dumps(header))):
        raise LedgerError(
            f"--resume {path}: {', '.join(changed)} differ from the run that began; its samples "
            "cannot be joined with new ones, start a new run"
        )
    mend_last_line(path)
    writer.rows.extend(old.all_rows)
    return stored_rows(old.rows)


def differing(old: Row, now: Row) -> list[str]:
    """Conditions in which two headers differ, beyond what any two runs differ in."""
    changed = [name for name in _SAME if old[name] != now[name]]
    if old.get("rehearsal", False) != now.get("rehearsal", False):
        changed.append("rehearsal")
    if _machine(old) != _machine(now):
        changed.append("machine")
    return changed


def _machine(header: Row) -> list[object]:
    """What times depend on and a restart leaves alone (clocks and temperature move)."""
    machine = header["machine"]
    parts = [machine.get(name) for name in _SAME_MACHINE]
    return [*parts, *(gpu.get("name") for gpu in machine.get("gpus", []))]
