"""The process that judges one release of a grammar engine: it alone imports the old library.

``python -m history.grammar_child SPEC OUT`` with the release's folder on the path. Each search
adds a JSON line to OUT, and each trial is written beside it before it runs, so that a library
that ends the process leaves the trial it ended on.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Any


def _one(spec: dict[str, Any], law: str, family: str, trial_at: Path) -> dict[str, Any]:
    from fixtures.grammar_search import search
    from fixtures.schema_engines import ENGINES

    began = time.monotonic()
    engine = ENGINES[spec["package"]]()
    found = search(
        engine,
        law,
        (family,),
        examples=spec["examples"],
        watch=lambda trial: _keep(trial_at, f"{law}: {trial.schema} {trial.values}"),
    )
    took = {"law": law, "family": family, "seconds": time.monotonic() - began}
    return took | {name: getattr(found, name) for name in found.__dataclass_fields__}


def _keep(where: Path, text: str) -> None:
    where.write_text(text, encoding="utf-8", errors="surrogatepass")


def main(spec_text: str, out: str) -> int:
    """Judge and write; a crash of this suite's own code is one line with its traceback."""
    spec, where = json.loads(spec_text), Path(out)
    logging.disable(logging.CRITICAL)
    try:
        if (here := version(spec["package"])) != spec["release"]:
            raise RuntimeError(f"{here} was imported, not {spec['release']}")
        for law, family in spec["tries"]:
            line = _one(spec, law, family, where.with_suffix(".trial"))
            with where.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    except Exception as error:
        with where.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"crash": traceback.format_exception(error)[-4:]}) + "\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
