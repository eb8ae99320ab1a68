"""Ledgers for tests of the page, and what a browser's parser makes of a page."""

from __future__ import annotations

import copy
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from claims._kit import ledger
from claims._kit.ledger import Row

DATA = Path(__file__).with_name("data")
# Elements that HTML never closes.
VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "source"})


def made_up(name: str = "made_up") -> list[Row]:
    """The rows of a ledger of invented claims, checked against the schema as they are read."""
    return ledger.read(DATA / f"{name}.jsonl").all_rows


def many(count: int) -> list[Row]:
    """A ledger of ``count`` claims: the invented ones without a chart, again and again."""
    header, *rows, footer = made_up()
    templates = [r["claim"] for r in rows if r["kind"] == "claim" and r["claim"][:5] != "speed"]
    out = [header]
    for number in range(count):
        template = templates[number % len(templates)]
        family, name = template.split("/")
        new = f"{family}{'abcdefgh'[number % 8]}/{name}-{number}"
        out += [{**copy.deepcopy(r), "claim": new} for r in rows if r["claim"] == template]
    return [*out, footer]


class Parsed(HTMLParser):
    """What elements, attributes and text a page holds; ``faults`` names what does not nest."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"{name} is never closed" for name in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if "script" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All text outside of scripts, with white space as in the page."""
        return "".join(self.texts)

    def values(self, attribute: str) -> list[str]:
        """The values of an attribute, in page order."""
        return [value for _, name, value in self.attributes if name == attribute]
