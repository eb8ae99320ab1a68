"""What old releases want to be told that newer ones know; each function says what and until when.

Nothing here touches what a property expects: an adapter only gets an old model to run.
"""

from __future__ import annotations

from typing import Any


def adapted(engine: Any) -> Any:
    """The engine as the installed release wants it run."""
    return _hybrid(engine)


def _hybrid(engine: Any) -> Any:
    """Before 4.53 models with windowed layers make themselves a cache no longer than the prompt.

    ``generate`` hands them a HybridCache with room for the reply; a prefill on its own is given
    the same one.
    """
    from transformers import cache_utils

    model = engine.model
    wanted = getattr(model.generation_config, "cache_implementation", None)
    if wanted != "hybrid" or not hasattr(cache_utils, "HybridCache"):
        return engine

    def made(config: Any, length: int) -> Any:
        room = max(length, 2 * config.sliding_window)
        sizes = {"max_batch_size": 1, "max_cache_len": room}
        return cache_utils.HybridCache(config, dtype=engine.dtype, **sizes)

    return engine.variant(cache_class=made)
