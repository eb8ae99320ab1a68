"""The plan of a fleet: which targets, on which lanes, with what each needs of a node.

A plan holds no secret: a key is named by the environment variable that has it on the node.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
# A resource of Ray that each node has one of: a run whose times count takes all of it.
MACHINE = "machine"
# What a run beside others takes of it: enough of them fit, none beside one that takes all.
A_SHARE_OF_IT = 0.01
GIB = 1 << 30
TOP = {"checkout", "python", "arguments", "entry"}
WAYS = ("base_url", "serve", "target", "model")
# Options that the fleet gives itself.
OURS = ("--ledger", "--resume", "--replay", "--targets", "--claims", "-m")


class PlanError(Exception):
    """One line that says which entry does not fit, and how; it repeats no value of the plan."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run of the suite: a target, its lane, and what it needs of the node it runs on.

    ``device`` is a name of the plan's own: entries with the same one never overlap, wherever they
    run; an entry with a ``base_url`` has the server's address for one. ``alone`` entries have
    their GPU to themselves, and without a GPU the whole machine. ``gpu_kind`` is Ray's name of
    the accelerator, ``resources`` are amounts of resources that nodes were started with.
    """

    name: str
    base_url: str = ""
    served_model: str = ""
    serve: str = ""
    target: str = ""
    model: str = ""
    key_env: str = ""
    lane: str = ""
    arguments: tuple[str, ...] = ()
    device: str = ""
    alone: bool = True
    cpus: float = 1.0
    gpus: int = 0
    gpu_kind: str = ""
    memory_gib: float = 0.0
    resources: Mapping[str, float]
    checkout: str = ""
    python: str = ""

    @property
    def words(self) -> list[str]:
        """Arguments of pytest."""
        chosen = self.lane or ("server" if self.base_url or self.serve else "cpu")
        pairs = (
            *(("-m", chosen), ("--base-url", self.base_url)),
            *(("--served-model", self.served_model), ("--serve", self.serve)),
            *(("--target", self.target), ("--model", self.model)),
        )
        named = [word for flag, value in pairs if value for word in (flag, value)]
        return [*named, *self.arguments]

    @property
    def needs(self) -> dict[str, float]:
        """Amounts of Ray's resources that one node has to have free, memory in bytes."""
        whole = self.alone and not self.gpus
        asked = {
            "CPU": self.cpus,
            "GPU": float(self.gpus),
            "memory": self.memory_gib * GIB,
            f"accelerator_type:{self.gpu_kind}": 0.001 if self.gpu_kind else 0.0,
            MACHINE: 1.0 if whole else A_SHARE_OF_IT,
            **self.resources,
        }
        return {name: amount for name, amount in asked.items() if amount}

    @property
    def devices(self) -> tuple[str, ...]:
        """What is taken for the whole fleet while this entry runs, in one order for all."""
        server = urlsplit(self.base_url).netloc.rpartition("@")[2].lower()
        named = {f"device {self.device}" * bool(self.device), f"server {server}" * bool(server)}
        return tuple(sorted(named - {""}))


def read(path: Path, *, here: Path) -> list[Entry]:
    """The entries of a plan; ``here`` is the checkout where an entry names none.

    PlanError for a plan that cannot be read, and for whatever in it nobody knows.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path}: no TOML ({_place(error)})") from None
    _known(told, TOP, str(path))
    tables = told.get("entry")
    if not isinstance(tables, list) or not tables:
        raise PlanError(f"{path}: wants at least one [[entry]]")
    shared: dict[str, Any] = {
        name: told[name] for name in ("checkout", "python", "arguments") if name in told
    }
    # A place for checkouts that nobody names is a setting of this machine, not a part of the plan.
    shared.setdefault("checkout", str(here))
    entries = [_entry(shared, table, f"{path}: entry {n}") for n, table in enumerate(tables, 1)]
    _each_its_own_name(entries, path)
    return entries


def _each_its_own_name(entries: Sequence[Entry], path: Path) -> None:
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        if entry.name.lower() in seen:
            raise PlanError(f"{path}: entry {number} has a name that stands above it; files are")
        seen.add(entry.name.lower())


def _known(table: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(table) - known):
        raise PlanError(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(known))}")


def _entry(shared: Mapping[str, Any], table: Any, where: str) -> Entry:
    if not isinstance(table, dict):
        raise PlanError(f"{where}: is no table")
    _known(table, {field.name for field in fields(Entry)}, where)
    about = {"resources": {}, **shared, **table}
    for name, value in about.items():
        about[name] = _checked(name, value, where)
    if not NAME.fullmatch(about.get("name", "")):
        raise PlanError(f"{where}: wants a name of letters, digits, dots, dashes")
    entry = Entry(**about)
    _fits(entry, where)
    return entry


def _fits(entry: Entry, where: str) -> None:
    """PlanError for values that are right by themselves and wrong together."""
    given = [way for way in WAYS if getattr(entry, way)]
    if len(given) > 1:
        raise PlanError(f"{where}: give one of {', '.join(WAYS)}; it has {len(given)}")
    if (entry.key_env or entry.served_model) and given != ["base_url"]:
        raise PlanError(f"{where}: key_env and served_model go with base_url")
    if entry.gpu_kind and not entry.gpus:
        raise PlanError(f"{where}: gpu_kind goes with gpus, the number it takes of them")
    if clash := [w for w in entry.arguments if w.split("=")[0] in OURS]:
        raise PlanError(f"{where}: leave out {clash[0].split('=')[0]} of its arguments")


def _checked(name: str, value: Any, where: str) -> Any:
    """``value`` as the field wants it; PlanError with the field's name when it is another kind."""
    if name == "arguments":
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return tuple(value)
        raise PlanError(f"{where}: arguments is a list of texts")
    if name == "resources":
        return {str(k): _amount(f"resources.{k}", v, where) for k, v in _table(value, where)}
    if name in ("cpus", "memory_gib"):
        return _amount(name, value, where)
    if name == "gpus":
        if _amount(name, value, where) != int(value):
            raise PlanError(f"{where}: gpus is a whole number; a GPU is not shared")
        return int(value)
    if name == "alone":
        if isinstance(value, bool):
            return value
        raise PlanError(f"{where}: alone is true or false")
    if isinstance(value, str):
        return value
    raise PlanError(f"{where}: {name} is a text in quotes")


def _table(value: Any, where: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    raise PlanError(f"{where}: resources is a table of amounts")


def _amount(name: str, value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PlanError(f"{where}: {name} is a number")
    if not isfinite(value) or value < 0:
        raise PlanError(f"{where}: {name} is a number from 0 on")
    return float(value)


def lacking(entry: Entry, nodes: Sequence[Mapping[str, float]]) -> str:
    """Why no node can ever run ``entry``, by the resources each has in all; empty if one can."""
    if any(all(node.get(r, 0) >= amount for r, amount in entry.needs.items()) for node in nodes):
        return ""
    for resource, amount in entry.needs.items():
        most = max((node.get(resource, 0) for node in nodes), default=0)
        if most < amount:
            start = "; start nodes with --resources='{\"machine\": 1}'"
            hint = start if resource == MACHINE else ""
            return f"no node has {_told(resource, amount)} (the most is {most:g}){hint}"
    together = ", ".join(_told(r, a) for r, a in entry.needs.items())
    return f"no single node has {together} together"


def _told(resource: str, amount: float) -> str:
    return f"{resource} {amount:g}"


def _place(error: Exception) -> str:
    found = re.search(r"line \d+", str(error))
    return f"at {found[0]}" if found else type(error).__name__
