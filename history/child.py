"""The process that judges one release: it alone imports the old library.

``python -m history.child SPEC OUT`` with the release's folder on the path. SPEC is JSON: release,
type or template, changes, holds. Each property's outcome is one JSON line of OUT.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Line = dict[str, Any]
CHATS = 20


def judged(spec: Line) -> Iterator[Line]:
    """One line a property: samples, witness, notes, and why the measure is blind, if it is."""
    for name in spec["holds"]:
        began = time.monotonic()
        found, blind = _template(spec) if spec["template"] else _model(spec, name)
        yield {
            "property": name,
            "samples": found.excess,
            "witness": found.witness,
            "note": found.note(),
            "blind": blind,
            "seconds": time.monotonic() - began,
        }


def _model(spec: Line, name: str) -> tuple[Any, str]:
    from fixtures import many_types
    from fixtures.fuzz import one_thread
    from history import adapters

    types = many_types.Types(fault=adapters.adapted, changes=spec["changes"])
    with one_thread():
        _, blind = many_types.sight(types, spec["type"])
        return many_types.tally(types, spec["type"], name), blind


def _template(spec: Line) -> tuple[Any, str]:
    from fixtures import continued
    from fixtures.chat_formats import collected

    return continued.search(collected(spec["template"]), examples=CHATS), ""


def _check_release(spec: Line) -> None:
    import transformers

    if transformers.__version__ != spec["release"]:
        raise RuntimeError(f"{transformers.__version__} was imported, not {spec['release']}")


def main(spec_text: str, out: str) -> int:
    """Judge and write; a crash of this suite's own code is one line with its traceback."""
    spec = json.loads(spec_text)
    with Path(out).open("w", encoding="utf-8") as file:
        try:
            _check_release(spec)
            for line in judged(spec):
                print(json.dumps(line), file=file, flush=True)
        except Exception as error:
            trace = "".join(traceback.format_exception(error)[-6:])
            line = {"crash": f"{type(error).__name__}: {error}"[:300], "traceback": trace}
            print(json.dumps(line), file=file)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
