"""What a run is done on, and what it does there beside measuring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from claims._kit.together import Others
from fixtures.needs import Need

REHEARSAL = "rehearsal: judges nothing"
BESIDE_WORKERS = "a timed claim is not judged beside other workers; run it without -n"
AFTER_PROFILER = "a profiler ran earlier in this process, which slows every later launch"

# What a watch of the machine objects to (empty: nothing), and what it saw.
Watched = tuple[str, dict[str, Any]]


def unwatched() -> Callable[[], Watched]:
    """A watch that sees nothing and objects to nothing."""
    return lambda: ("", {})


@dataclass(kw_only=True)
class Conditions:
    """What a run is done on: who answers, what it offers, and why it lacks the rest.

    A ``rehearsal`` measures on a CPU, at small sizes, what is judged on CUDA: it tries the code
    and judges nothing. ``watch`` begins to look at the machine and gives what ends that;
    ``tidy`` frees what a crash left behind. A disturbed measurement is taken up to ``again`` times
    anew, after ``forget`` has dropped times that were kept of it. ``server`` has the ``engine``
    and ``offers`` of claims that need a server. ``others`` are the ranks that hold the model
    together with this process; ``launcher`` and ``repeat_with`` are the words around a claim's
    file that repeat it.
    """

    device: str
    target: str
    engine: Callable[[], Any]
    offers: Callable[[], frozenset[Need]]
    why_no_cuda: str = ""
    launcher: str = "pytest"
    repeat_with: str = ""
    parallel: bool = False
    rehearsal: bool = False
    server: Any = None
    again: int = 0
    others: Others | None = None
    watch: Callable[[], Callable[[], Watched]] = unwatched
    forget: Callable[[], None] = lambda: None
    tidy: Callable[[], None] = lambda: None

    def repeat(self, path: str) -> str:
        """The command that judges the claim of this file again."""
        return f"{self.launcher} {path} {self.repeat_with}".strip()
