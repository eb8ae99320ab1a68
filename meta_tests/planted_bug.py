"""A plugin that breaks the library's own cache: ``pytest -p meta_tests.planted_bug``."""

from __future__ import annotations

from typing import Any

from transformers.cache_utils import DynamicLayer

_honest = DynamicLayer.update


def _torn(self: Any, key_states: Any, value_states: Any, *more: Any, **how: Any) -> Any:
    """Before it takes in more, the last key that a layer holds is turned around."""
    if self.is_initialized and self.keys.numel():
        self.keys[..., -1, :] = -self.keys[..., -1, :]
    return _honest(self, key_states, value_states, *more, **how)


DynamicLayer.update = _torn  # type: ignore[method-assign]
