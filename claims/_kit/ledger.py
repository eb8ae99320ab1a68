"""The log of a run: one JSON object per line, checked, flushed as it goes, never rewritten."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import jsonschema

SCHEMA = Path(__file__).with_name("ledger.schema.json")
VERSION = 1

Row = dict[str, Any]


class LedgerError(Exception):
    """Something is wrong with a ledger: one line that says what, where and what to do."""


class Unwritable(LedgerError):
    """The disk refuses rows, so nothing further can be kept: the run stops."""


@cache
def _validators() -> dict[str, jsonschema.Draft202012Validator]:
    """One validator per kind of row: an error then speaks of that kind alone."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return {
        branch["properties"]["kind"]["const"]: jsonschema.Draft202012Validator(
            {**branch, "type": "object", "$defs": schema["$defs"]}
        )
        for branch in schema["oneOf"]
    }


def check(row: Row, *, where: str) -> Row:
    """``row`` itself when it fits the schema; LedgerError that names the first misfit if not."""
    kind = row.get("kind") if isinstance(row, dict) else None
    validator = _validators().get(str(kind))
    if validator is None:
        raise LedgerError(f"{where}: {kind!r} is no kind of ledger row")
    error = jsonschema.exceptions.best_match(validator.iter_errors(row))
    if error:
        raise LedgerError(f"{where}: {error.message[:200]} (at {error.json_path})")
    return row


def _plain(value: Any) -> Any:
    """JSON has no NaN or infinity: they are kept as words, so that they stay visible."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def _numbers(row: Row) -> Row:
    """The reverse of ``_plain`` for the fields that rules judge."""
    if row.get("kind") == "samples":
        row["samples"] = [float(s) for s in row["samples"]]
        for floor in row["floors"]:
            floor["measured"], floor["floor"] = float(floor["measured"]), float(floor["floor"])
    return row


@dataclass
class Writer:
    """Appends rows to a ledger; each is on the disk before ``write`` returns."""

    path: Path
    rows: list[Row] = field(default_factory=list)
    _file: TextIO | None = None

    def write(self, row: Row) -> Row:
        """Check, append and flush one row.

        LedgerError when the row does not fit the schema, Unwritable when the disk refuses it.
        """
        checked = check(_plain(row), where=f"{self.path.name}: new {row.get('kind')} row")
        line = json.dumps(checked, sort_keys=True, allow_nan=False) + "\n"
        self._append(line)
        row = _numbers(json.loads(line))
        self.rows.append(row)
        return row

    def _append(self, line: str) -> None:
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("a", encoding="utf-8")
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise Unwritable(
                f"{self.path}: cannot write the ledger ({error.strerror}); free some space or "
                "name another place with --ledger; rows written so far are kept"
            ) from error

    def close(self) -> None:
        """Close the file, if a row ever opened it."""
        if self._file is not None:
            self._file.close()
            self._file = None


@dataclass(frozen=True)
class Ledger:
    """A ledger that was read: header, rows in order, footer or None for an unfinished run."""

    header: Row
    rows: tuple[Row, ...]
    footer: Row | None

    @property
    def all_rows(self) -> list[Row]:
        """Every row in file order."""
        return [self.header, *self.rows, *([self.footer] if self.footer else [])]


def read(path: Path, *, tolerate_cut: bool = False) -> Ledger:
    """Read and check a ledger.

    A last line that a killed run left half-written is an error unless ``tolerate_cut``; every
    other misfit is always one. Errors name the line and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LedgerError(f"{path}: cannot read the ledger ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise LedgerError(f"{path}: not a ledger (not UTF-8 at byte {error.start})") from error
    rows = [_numbers(row) for row in _lines(path, text, tolerate_cut=tolerate_cut)]
    if not rows:
        raise LedgerError(f"{path}: the ledger is empty; run again, or name another file")
    if rows[0]["kind"] != "header":
        raise LedgerError(f"{path}:1: the first line is no header; this is not a whole ledger")
    footer = rows[-1] if rows[-1]["kind"] == "footer" else None
    middle = rows[1:-1] if footer else rows[1:]
    for number, row in enumerate(middle, start=2):
        if row["kind"] in ("header", "footer"):
            raise LedgerError(f"{path}:{number}: a second {row['kind']}; this is not one run")
    return Ledger(rows[0], tuple(middle), footer)


def _lines(path: Path, text: str, *, tolerate_cut: bool) -> Iterator[Row]:
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        try:
            row = json.loads(line, parse_int=_whole_number, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            if number == len(lines) and not text.endswith("\n"):
                if tolerate_cut:
                    return
                hint = "the last line is cut off (a killed run); finish it with --resume"
                raise LedgerError(f"{where}: {hint}") from error
            raise LedgerError(f"{where}: not a JSON line ({error})") from error
        yield check(row, where=where)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON; a ledger keeps it as a word in quotes")


def _whole_number(digits: str) -> int:
    number = int(digits)
    if abs(number) > sys.float_info.max:
        raise ValueError("a whole number beyond what a float holds")
    return number


def mend_last_line(path: Path) -> bool:
    """End a ledger that ``read`` tolerated with a whole line; True when it did not.

    A last row that lacks only its line break gets it; a half-written one is dropped.
    """
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole == len(data):
        return False
    with path.open("r+b") as file:
        if _is_json(data[whole:]):
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
        else:
            file.truncate(whole)
    return True


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
