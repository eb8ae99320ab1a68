"""What a measurement can end with instead of samples, and what is made of it."""

from __future__ import annotations

import sys
import traceback

import pytest

from claims._kit.verdict import Judgement, Verdict

# What a measure can end with instead of samples; pytest's own ways out are no exceptions to it.
WAYS_OUT = (Exception, pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception)


def words_of(error: BaseException) -> str:
    """An error's message on one line; its type where it has none: a reason is never empty."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def crashed(error: BaseException) -> Judgement:
    """VOID with the reason; the traceback goes to the error stream."""
    traceback.print_exception(error, file=sys.stderr)
    what = words_of(error)
    if isinstance(error, MemoryError) or "out of memory" in what.lower():
        return Judgement(verdict=Verdict.VOID, reason=f"out of memory: {what}")
    reason = f"the measurement crashed: {type(error).__name__}: {what}"
    return Judgement(verdict=Verdict.VOID, reason=reason)
