"""The README's table of claims, made of the claims themselves.

``python -m meta_tests.readme_table`` rewrites the table; ``--check`` only says whether it is due.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from claims._kit.claim import Claim

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- claims:begin -->", "<!-- claims:end -->"
HEAD = ("claim", "sentence", "lanes", "published", "source")


def files() -> list[Path]:
    """Every claim file, sorted."""
    return sorted((ROOT / "claims").glob("*/test_*.py"))


def load(path: Path) -> Claim:
    """The claim that a file holds."""
    module = importlib.import_module(f"claims.{path.parent.name}.{path.stem}")
    return module.CLAIM


def table(claims: list[Claim]) -> str:
    """The table as Markdown, one row per claim, sorted by id."""
    rows = [HEAD, ("---",) * len(HEAD), *map(_row, sorted(claims, key=lambda claim: claim.id))]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(claim: Claim) -> tuple[str, ...]:
    published = f"{claim.figure.claimed} ({claim.figure.setting})"
    return (
        f"[{claim.id}]({claim.path})",
        _cell(claim.sentence),
        ", ".join(sorted(claim.scope.lanes)),
        _cell(published),
        _cell(f"{claim.source.document}: {claim.source.where}"),
    )


def _cell(text: str) -> str:
    """Text that neither ends its cell nor is taken for markup."""
    words = " ".join(text.split())
    for mark in ("\\", "|", "*", "_", "<", "`", "[", "]"):
        words = words.replace(mark, f"\\{mark}")
    return words


def replaced(text: str, made: str) -> str:
    """``text`` with what stands between the two marks replaced; ValueError without them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"README.md needs one {BEGIN} and, after it, one {END}")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{made}{END}{rest.split(END)[1]}"


def main(arguments: list[str]) -> int:
    """Rewrite the README, or with ``--check`` say whether that is due; the exit status."""
    old = README.read_text(encoding="utf-8")
    new = replaced(old, table([load(path) for path in files()]))
    if old == new:
        print("the README's table is up to date")
        return 0
    if arguments == ["--check"]:
        print("the README's table is out of date; run: python -m meta_tests.readme_table")
        return 1
    README.write_text(new, encoding="utf-8")
    print("the README's table is written anew")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
