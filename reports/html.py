"""Text made safe and visible: what a model wrote is shown, never run, hidden or re-ordered."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from html import escape
from typing import Any

from reports.words import number

# Joiners belong to emoji and to several scripts; the replacement character is visible itself.
_HARMLESS = frozenset("\u200c\u200d\ufffd")
_DEEPEST = 8
_SHORT = 100
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff"
    "\U000f0000-\U0010ffff]"
)


def _name(char: str) -> str:
    return f"U+{ord(char):04X}"


def _replaced(value: object, show: Callable[[str], str]) -> str:
    """``value`` escaped, with every odd character replaced by what ``show`` makes of it."""

    def one(match: re.Match[str]) -> str:
        char = match.group()
        return char if char in _HARMLESS else show(char)

    return _ODD.sub(one, escape(str(value), quote=True))


def attr(value: object) -> str:
    """For a quoted attribute: escaped; odd characters by their code."""
    return _replaced(value, _name)


def text(value: object) -> str:
    """For running text: escaped; characters that are invisible or turn text around are marked."""
    return _replaced(value, _mark)


def plain(value: object) -> str:
    """For a terminal: one line; characters that could steer the terminal are shown by code."""
    return _ODD.sub(lambda m: _name(m.group()), " ".join(str(value).split()))


def _mark(char: str) -> str:
    try:
        title = unicodedata.name(char).lower()
    except ValueError:
        title = "control character"
    return f'<span class="odd" title="{escape(title)}">{_name(char)}</span>'


def bdi(value: object) -> str:
    """Text whose direction does not reach its surroundings; nothing for an empty one."""
    return f"<bdi>{text(value)}</bdi>" if value != "" else ""


def code(value: object) -> str:
    """A word of a machine's language."""
    return f"<code>{text(value)}</code>"


def tag(name: str, content: str, css: str = "") -> str:
    """An element with a class; ``content`` is HTML already."""
    return f'<{name} class="{css}">{content}</{name}>' if css else f"<{name}>{content}</{name}>"


def pairs(items: list[tuple[str, str]], css: str = "facts") -> str:
    """A description list of (term, HTML); pairs without content are left out."""
    shown = [(term, content) for term, content in items if content]
    rows = "".join(
        f"<div><dt>{text(term)}</dt><dd>{content}</dd></div>" for term, content in shown
    )
    return tag("dl", rows, css) if rows else ""


def any_json(value: Any, depth: int = 0) -> str:
    """Any JSON value, as text that wraps: strings as they are, numbers with few digits."""
    nested = depth < _DEEPEST
    if nested and isinstance(value, dict) and value:
        rows = (_pair(str(k), v, depth + 1) for k, v in sorted(value.items()))
        return tag("dl", "".join(rows), "notes")
    if nested and isinstance(value, list) and any(isinstance(v, dict | list | str) for v in value):
        return tag("ol", "".join(tag("li", any_json(v, depth + 1)) for v in value), "notes")
    # HTML drops the first line feed of a pre; this one is that, so the text keeps its own.
    return f'<pre dir="auto">\n{text(_as_text(value))}</pre>'


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list) and value and all(isinstance(v, int | float) for v in value):
        return ", ".join(map(_as_text, value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _pair(name: str, value: Any, depth: int) -> str:
    shown = any_json(value, depth)
    css = "short" if "<dl" not in shown and "<ol" not in shown and len(shown) < _SHORT else "long"
    return f'<div class="{css}"><dt>{bdi(name)}</dt><dd>{shown}</dd></div>'


def copyable(command: str) -> str:
    """A command that can be selected at once, with a button that copies it."""
    # Each word stays whole where it fits: a line that ends in a single hyphen misleads.
    words = " ".join(f"<span>{text(word)}</span>" for word in command.split(" "))
    return (
        f'<span class="command"><code>{words}</code>'
        f'<button type="button" class="copy" data-copy="{attr(command)}">Copy</button></span>'
    )
