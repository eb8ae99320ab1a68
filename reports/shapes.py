"""A JSON Schema as a plain function: whether a value fits, and nothing about why not.

Thousands of ledgers are too many for a validator that explains. Only the keywords that the
ledger's schema uses are known; any other is an error, so that none is ever passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]
Schema = Mapping[str, Any]

_SAID_ONLY = {"title", "description", "$schema", "$defs", "$comment"}


def compiled(schema: Schema, defs: Mapping[str, Schema]) -> Check:
    """A function that is true for values that fit ``schema``; ValueError for unknown keywords."""
    known = {**_PARTS, **dict.fromkeys(_SAID_ONLY)}
    if unknown := sorted(set(schema) - set(known) - {"additionalProperties"}):
        raise ValueError(f"a schema's keyword that is not known here: {unknown[0]}")
    parts = [part(schema, defs) for name, part in _PARTS.items() if name in schema]
    if "additionalProperties" in schema and "properties" not in schema:
        parts.append(_object(schema, defs))
    return parts[0] if len(parts) == 1 else _all_of(parts)


def _all_of(parts: list[Check]) -> Check:
    def check(value: Any) -> bool:
        for part in parts:  # noqa: SIM110 (all() takes twice as long, a million times)
            if not part(value):
                return False
        return True

    return check


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_integer(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


_TYPES: dict[str, Check] = {
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": _is_integer,
}


def _type(schema: Schema, _: Mapping[str, Schema]) -> Check:
    told = schema["type"]
    checks = [_TYPES[name] for name in ([told] if isinstance(told, str) else told)]
    if len(checks) == 1:
        return checks[0]
    return lambda value: any(check(value) for check in checks)


def _same(value: Any, wanted: Any) -> bool:
    """Equality of JSON, where true is not 1; of texts, numbers, booleans and null alone."""
    return value == wanted and (type(value) is bool) == (type(wanted) is bool)


def _const(schema: Schema, _: Mapping[str, Schema]) -> Check:
    wanted = schema["const"]
    return lambda value: _same(value, wanted)


def _enum(schema: Schema, _: Mapping[str, Schema]) -> Check:
    wanted = list(schema["enum"])
    if all(type(each) is str for each in wanted):
        words = frozenset(wanted)
        return lambda value: type(value) is str and value in words
    return lambda value: any(_same(value, each) for each in wanted)


def _reference(schema: Schema, defs: Mapping[str, Schema]) -> Check:
    return compiled(defs[schema["$ref"].removeprefix("#/$defs/")], defs)


def _one_of(schema: Schema, defs: Mapping[str, Schema]) -> Check:
    if words := _number_or_words(schema["oneOf"]):
        return lambda value: type(value) in (float, int) or (type(value) is str and value in words)
    checks = [compiled(each, defs) for each in schema["oneOf"]]
    return lambda value: sum(check(value) for check in checks) == 1


def _number_or_words(branches: list[Schema]) -> frozenset[str]:
    """The words of "a number, or one of these words", of which there are the most by far."""
    if len(branches) != 2 or branches[0] != {"type": "number"} or set(branches[1]) != {"enum"}:
        return frozenset()
    words = branches[1]["enum"]
    return frozenset(words) if all(type(word) is str for word in words) else frozenset()


def _required(schema: Schema, _: Mapping[str, Schema]) -> Check:
    wanted = frozenset(schema["required"])
    return lambda value: type(value) is not dict or wanted <= value.keys()


def _object(schema: Schema, defs: Mapping[str, Schema]) -> Check:
    checks = {name: compiled(each, defs) for name, each in schema.get("properties", {}).items()}
    more = schema.get("additionalProperties", True)
    rest: Check = (lambda _: bool(more)) if isinstance(more, bool) else compiled(more, defs)

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return True
        for name, each in value.items():  # noqa: SIM110 (as above)
            if not checks.get(name, rest)(each):
                return False
        return True

    return check


def _items(schema: Schema, defs: Mapping[str, Schema]) -> Check:
    check = compiled(schema["items"], defs)
    return lambda value: type(value) is not list or all(map(check, value))


def _least_length(schema: Schema, _: Mapping[str, Schema]) -> Check:
    least = schema["minLength"]
    return lambda value: type(value) is not str or len(value) >= least


def _minimum(schema: Schema, _: Mapping[str, Schema]) -> Check:
    least = schema["minimum"]
    # Not "value >= least": NaN is no smaller than anything.
    return lambda value: not _is_number(value) or not value < least


def _pattern(schema: Schema, _: Mapping[str, Schema]) -> Check:
    pattern = re.compile(schema["pattern"])
    return lambda value: type(value) is not str or bool(pattern.search(value))


_PARTS: dict[str, Callable[[Schema, Mapping[str, Schema]], Check]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "$ref": _reference,
    "oneOf": _one_of,
    "required": _required,
    "properties": _object,
    "items": _items,
    "minLength": _least_length,
    "minimum": _minimum,
    "pattern": _pattern,
}
