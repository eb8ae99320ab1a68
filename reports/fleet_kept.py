"""The ledger of one entry as it arrives from nodes: whole lines, on the disk at once.

A run that broke off is gone on with from its finished claims alone: what it had of a half-done
claim is put aside with the rest of that attempt, and no claim has rows of two nodes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reports.cases import Row

# The field that a fleet adds to a header; see claims/_kit/ledger.schema.json.
FIELD = "fleet"
ASIDE = "attempts"


def dumped(row: Row) -> str:
    """A row as its line, without the line break, as a run itself writes it."""
    return json.dumps(row, sort_keys=True, allow_nan=False)


@dataclass
class Kept:
    """The ledger ``folder/name.jsonl``; ``attempts`` are earlier ones, put aside."""

    folder: Path
    name: str
    attempts: list[Row] = field(default_factory=list)
    claims: list[tuple[str, str]] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """Where the ledger lies."""
        return self.folder / f"{self.name}.jsonl"

    @property
    def is_finished(self) -> bool:
        """True when the ledger has its footer."""
        rows = rows_of(self.path)
        return bool(rows) and rows[-1]["kind"] == "footer"

    @property
    def exit(self) -> int | None:
        """The exit status of a finished run."""
        return int(rows_of(self.path)[-1]["exit"]) if self.is_finished else None

    def add(self, lines: Sequence[str], node: str) -> list[tuple[str, str]]:
        """Append lines of a run on ``node``; the (claim, verdict) that they finish.

        A header begins the file anew: the run is another one than what the file held.
        """
        if not lines:
            return []
        rows = [json.loads(line) for line in lines]
        fresh = rows[0]["kind"] == "header"
        if fresh:
            self.claims = []
            # Nothing of an earlier attempt is in it.
            self.attempts = [{k: v for k, v in a.items() if k != "claims"} for a in self.attempts]
            rows[0] |= {FIELD: self._about(node)}
            lines = [dumped(rows[0]), *lines[1:]]
        self._write(lines, "w" if fresh else "a", last=rows[-1]["kind"] == "footer")
        done = _done(rows)
        self.claims += done
        return done

    def _write(self, lines: Iterable[str], mode: str, *, last: bool) -> None:
        """Write through: the driver may die at any time; at the end of a run, the machine too.

        To wait for the disk with each line would be the slowest part of a fleet of hundreds.
        """
        with self.path.open(mode, encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            if last:
                os.fsync(file.fileno())

    def _about(self, node: str) -> Row:
        """Where this ledger's rows come from; claims that nobody lists are of ``node``."""
        return {"node": node, "attempts": [*self.attempts]} if self.attempts else {"node": node}

    def put_aside(self, *, why: str, node: str = "") -> list[str]:
        """End an attempt on ``node``; the ledger to go on with, without what the fleet added.

        What is left of the file is its header and its finished claims; the whole of it is kept
        under ``attempts``. An empty list when no claim was finished.
        """
        rows = rows_of(self.path)
        last = str(rows[0].get(FIELD, {}).get("node", "")) if rows else ""
        if not rows or node not in ("", last):  # it wrote no row
            self.attempts.append({"node": node, "ended": why})
            return self._to_go_on(rows)
        self._copy_aside()
        earlier = {claim for each in self.attempts for claim in each.get("claims", ())}
        whole = finished_claims(rows)
        mine = sorted(claims_of(whole) - earlier)
        self.attempts.append({"node": last, "ended": why, "claims": mine})
        self.claims = _done(whole)
        self._replace(whole)
        return self._to_go_on(whole)

    @staticmethod
    def _to_go_on(rows: Sequence[Row]) -> list[str]:
        if not claims_of(rows):
            return []
        header = {k: v for k, v in rows[0].items() if k != FIELD}
        return [dumped(row) for row in (header, *rows[1:])]

    def go_on(self, node: str) -> None:
        """Another node goes on with the finished claims: the header says whose they are."""
        header, *rest = rows_of(self.path)
        self._replace([{**header, FIELD: self._about(node)}, *rest])

    def settle(self) -> str:
        """Make sure that the ledger is the attempt with most finished claims; what was done.

        A later attempt that began anew and broke off earlier than the one before it does not
        replace it.
        """
        if self.is_finished:
            return ""
        now = len(self.claims)
        held = {path: claims_of(rows_of(path)) for path in self._aside()}
        best = max(held, key=lambda path: len(held[path]), default=None)
        if best is None or len(held[best]) <= now:
            return ""
        rows = finished_claims(rows_of(best))
        self._copy_aside()
        self._replace(rows)
        self.claims = _done(rows)
        return f"the attempt with most finished claims is shown, {best.name}"

    def _aside(self) -> list[Path]:
        return sorted((self.folder / ASIDE).glob(f"{self.name}.[0-9]*.jsonl"))

    def _copy_aside(self) -> None:
        folder = self.folder / ASIDE
        folder.mkdir(exist_ok=True)
        if self.path.exists():
            place = folder / f"{self.name}.{len(self._aside()) + 1}.jsonl"
            place.write_bytes(self.path.read_bytes())

    def _replace(self, rows: Sequence[Row]) -> None:
        """The file with other rows, never half of them."""
        beside = self.path.with_suffix(".new")
        beside.write_text("".join(f"{dumped(row)}\n" for row in rows), encoding="utf-8")
        os.replace(beside, self.path)  # noqa: PTH105 (the same, and says that it is atomic)


def rows_of(path: Path) -> list[Row]:
    """The whole rows of a ledger that the fleet wrote; a half-written last line is left out."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _done(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["claim"], row["verdict"]) for row in rows if row["kind"] == "claim"]


def claims_of(rows: Sequence[Row]) -> set[str]:
    """Ids of the finished claims."""
    return {row["claim"] for row in rows if row["kind"] == "claim"}


def finished_claims(rows: Sequence[Row]) -> list[Row]:
    """The header and the rows of finished claims; of a half-done claim nothing."""
    whole = claims_of(rows)
    return [row for row in rows if row["kind"] == "header" or row.get("claim") in whole]


def taken_up(folder: Path, name: str) -> Kept:
    """What an earlier fleet left of an entry in ``folder``, to be gone on with."""
    kept = Kept(folder=folder, name=name)
    if rows := rows_of(kept.path):
        kept.attempts = list(rows[0].get(FIELD, {}).get("attempts", []))
        kept.claims = _done(rows)
    return kept
