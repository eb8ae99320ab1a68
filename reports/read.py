"""Reading ledgers for reports: checked against the published schema, whole or cut off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jsonschema

from reports.cases import Row

SCHEMA = Path(__file__).parents[1] / "claims" / "_kit" / "ledger.schema.json"


class NotALedger(Exception):
    """One line that says which file does not fit, where, and how."""


@cache
def _by_kind() -> dict[str, jsonschema.Draft202012Validator]:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return {
        branch["properties"]["kind"]["const"]: jsonschema.Draft202012Validator(
            {"$defs": schema["$defs"], **branch}
        )
        for branch in schema["oneOf"]
    }


def rows(path: Path) -> list[Row]:
    """The rows of the ledger at ``path``; a last line that a killed run left half is dropped.

    NotALedger for a file that cannot be read, for any other misfit, and for a second header.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotALedger(f"{path}: cannot be read ({error})") from error
    found = list(_rows(path, text))
    if [row["kind"] for row in found].count("header") != 1 or found[0]["kind"] != "header":
        raise NotALedger(f"{path}: a ledger begins with its one header; this is none")
    return found


def _rows(path: Path, text: str) -> Iterator[Row]:
    whole = text if text.endswith("\n") else text[: text.rfind("\n") + 1]
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            row = json.loads(line)
            validator = _by_kind()[row["kind"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise NotALedger(f"{path}:{number}: no row of a ledger") from error
        misfit = jsonschema.exceptions.best_match(validator.iter_errors(row))
        if misfit:
            raise NotALedger(f"{path}:{number}: {misfit.message[:200]} (at {misfit.json_path})")
        yield row
