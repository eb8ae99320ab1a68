"""What runs on a node of a fleet: the ordinary pytest command, its ledger sent on as it grows.

Sent to nodes as it stands, so it imports nothing of ours, and only Ray beyond Python's library.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Events by name: where it runs; lines of the ledger; that a run could not be gone on with and
# begins anew; the end.
NODE, LINES, ANEW, ENDED = "node", "lines", "anew", "ended"
Event = tuple[str, Any]

REFUSED = 4
KEY_VARIABLE = "ONECALL_API_KEY"
# A run ends with the process that started it, also when that is killed; and it does not have the
# low priority that Ray gives its workers, where it may choose.
START = (
    "import contextlib, ctypes, os, signal, sys\n"
    "with contextlib.suppress(OSError):\n"
    "    os.setpriority(os.PRIO_PROCESS, 0, 0)\n"
    "if sys.platform == 'linux':\n"
    "    ctypes.CDLL(None).prctl(1, signal.SIGTERM)\n"
    "    os.getppid() == int(sys.argv[1]) or sys.exit('whoever started this is gone')\n"
    "os.execv(sys.executable, [sys.executable, '-m', 'pytest', *sys.argv[2:]])\n"
)


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a node is told: ``words`` go to pytest, ``finished`` is the ledger to go on with.

    ``keys`` are all environment variables that hold anybody's key, ``key_env`` is the one of
    this entry. ``pause_s`` is the time between two looks at the ledger.
    """

    name: str
    words: tuple[str, ...]
    checkout: str
    python: str = ""
    finished: tuple[str, ...] = ()
    key_env: str = ""
    keys: tuple[str, ...] = ()
    pause_s: float = 0.5


def on_ray(order: Order) -> Iterator[Event]:
    """``work`` as a task of Ray."""
    ray: Any = importlib.import_module("ray")
    yield from work(order, ray.get_runtime_context().get_node_id())


def work(order: Order, node: str) -> Iterator[Event]:
    """Run an order on this node, which Ray knows as ``node``."""
    yield NODE, {"id": node, "name": f"{socket.gethostname()}/{node[:8]}"}
    python = _python(order)
    if why := _lacking(order, python):
        yield ENDED, {"status": REFUSED, "said": why, "lacks": True, "rows": 0}
        return
    folder = Path(tempfile.mkdtemp(prefix="onecall-"))
    try:
        yield from _runs(order, python, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _runs(order: Order, python: str, folder: Path) -> Iterator[Event]:
    """The rest of what was finished elsewhere; a whole run where the suite refuses to join it."""
    if order.finished:
        path = folder / "rest" / f"{order.name}.jsonl"
        path.parent.mkdir()
        path.write_text("".join(f"{line}\n" for line in order.finished), encoding="utf-8")
        end = yield from _run(order, python, path, "--resume")
        if end["status"] != REFUSED or end["rows"]:
            yield ENDED, end
            return
        yield ANEW, end["said"]
    end = yield from _run(order, python, folder / f"{order.name}.jsonl", "--ledger")
    yield ENDED, end


def _run(
    order: Order, python: str, path: Path, option: str
) -> Generator[Event, None, dict[str, Any]]:
    """One run of pytest; gives its status, what it said last, and how many rows it wrote."""
    said = path.with_suffix(".txt")
    offset = path.stat().st_size if path.exists() else 0
    rows = 0
    with said.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 (pytest, with the arguments of the plan)
            [python, "-c", START, str(os.getpid()), *order.words, option, str(path)],
            cwd=order.checkout,
            env=_environment(order),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            running = True
            while running:
                running = process.poll() is None
                lines, offset = _grown(path, offset)
                rows += len(lines)
                if lines:
                    yield LINES, lines
                elif running:
                    time.sleep(order.pause_s)
        finally:
            _end(process)
    text = said.read_text(encoding="utf-8", errors="replace")
    return _told(process.returncode, text, rows)


def _told(status: int, text: str, rows: int) -> dict[str, Any]:
    """The end of a run: without a row and for want of a module it is the node that lacks it."""
    lines = [line.strip(" !") for line in text.splitlines() if line.strip(" !=")]
    ours = [line.partition("onecall: ")[2] for line in lines if "onecall: " in line]
    module = [line for line in lines if "No module named" in line and not rows]
    said = (module or ours or lines or ["it said nothing"])[-1][:300]
    return {"status": status, "said": said, "lacks": bool(module), "rows": rows}


def _grown(path: Path, offset: int) -> tuple[list[str], int]:
    """Whole lines of the file from ``offset`` on, and where the next one begins."""
    if not path.exists():
        return [], offset
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    return whole.decode("utf-8").splitlines(), offset + len(whole)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of the run is left when this returns."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
        except ProcessLookupError:
            break
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _python(order: Order) -> str:
    """The interpreter, seen from the checkout; the one that runs Ray where none is named."""
    return str(Path(order.checkout) / order.python) if order.python else sys.executable


def _lacking(order: Order, python: str) -> str:
    """What this node lacks to run anything; empty if it has it."""
    if not (Path(order.checkout) / "conftest.py").is_file():
        return f"no checkout of the suite at {order.checkout}"
    if shutil.which(python) is None:
        return f"no interpreter at {python}"
    if order.key_env and not os.environ.get(order.key_env):
        return f"the environment has no {order.key_env} (its key_env)"
    return ""


def _environment(order: Order) -> dict[str, str]:
    """The node's own environment, with this entry's key alone.

    Ray sets a number of threads for its workers; here it is the node's, as for any other run.
    """
    hidden = {*order.keys, KEY_VARIABLE}
    inner = {name: value for name, value in os.environ.items() if name not in hidden}
    if "OMP_NUM_THREADS" not in _at_the_start():
        inner.pop("OMP_NUM_THREADS", None)
    if order.key_env:
        inner[KEY_VARIABLE] = os.environ[order.key_env]
    return inner


def _at_the_start() -> set[str]:
    """Names of the variables that this process was started with; all of them where unknown."""
    try:
        data = Path("/proc/self/environ").read_bytes()
    except OSError:
        return set(os.environ)
    return {part.partition(b"=")[0].decode("utf-8", "replace") for part in data.split(b"\0")}
