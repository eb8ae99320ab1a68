"""One pinned release of a package in a folder of its own, kept for later runs, offline."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

# torch is the environment's: releases from 4.39 on run with it. Newer numpy breaks older releases.
PINS = {"transformers": ("numpy<2.3",)}
LONGEST_S = 900
_ONE_AT_A_TIME = threading.Lock()


class NotInstalled(Exception):
    """A release that cannot be had: one line that says why."""


def folder() -> Path:
    """Where releases are kept: the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "onecall" / "history"


def installed(package: str, release: str, *, alone_with: Sequence[str] | None = None) -> Path:
    """The folder that holds ``package`` at ``release`` and what it needs, installed if new.

    What it needs is what it says itself; with ``alone_with`` these and nothing else. It appears
    whole or not at all: an install that is cut short leaves nothing that a later run would take
    for one.
    """
    place = folder() / f"{package}-{release}-py{sys.version_info.major}{sys.version_info.minor}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as new:
        if place.is_dir():
            return place
        beside = PINS.get(package, ()) if alone_with is None else ("--no-deps", *alone_with)
        _install(Path(new) / "whole", package, release, beside)
        try:
            (Path(new) / "whole").rename(place)
        except OSError:  # another run was first, and its folder is as good
            if not place.is_dir():
                raise
    return place


def _install(target: Path, package: str, release: str, beside: Sequence[str]) -> None:
    wanted = f"{package}=={release}"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-compile"]
    # Modules are compiled when they are imported.
    command += ["--target", str(target), wanted, *beside]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"pip took over {LONGEST_S} s for {wanted}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise NotInstalled(f"pip cannot install {wanted}: {said[-1][:300]}")
    shutil.rmtree(target / "bin", ignore_errors=True)
