"""Fixtures of the suite's own tests."""

from __future__ import annotations

from collections.abc import Callable

# Loaded here, because a pytest inside this process forgets what it was the first to import, and
# numpy can be loaded only once.
import numpy as np  # noqa: F401
import pytest
import scipy.stats  # noqa: F401

from meta_tests.chromium import address, browser, written  # noqa: F401
from meta_tests.made_up import arguments


@pytest.fixture
def inside(pytester: pytest.Pytester) -> Callable[..., tuple[int, str]]:
    """Runs pytest in this process, in a folder of its own; gives exit status and output."""

    def call(*args: object, stand_in: bool = True) -> tuple[int, str]:
        result = pytester.runpytest_inprocess(*arguments(*args, stand_in=stand_in))
        return int(result.ret), "\n".join([*result.outlines, *result.errlines])

    return call
