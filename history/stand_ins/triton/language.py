"""The one name that kernels use while they are defined."""

from __future__ import annotations

constexpr = int
