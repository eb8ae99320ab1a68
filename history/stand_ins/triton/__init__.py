"""Stands in for the GPU compiler that old grammar engines import and, on a CPU, never call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is; a kernel that is never launched needs no compiler."""
    return function
