"""A cache in pages of four positions, right and with a bug, to be tried on a model.

    ONECALL_CACHE_CLASS=examples.paged_cache:PagedCache pytest -m fuzz --model DIR_OR_ID
    ONECALL_CACHE_CLASS=examples.paged_cache:TornCache pytest -m fuzz --model DIR_OR_ID

The first is CONFIRMED, the second REFUTED. A class of your own is made once per sequence, with
``config=`` and ``max_cache_len=`` if its constructor takes them.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

PAGE = 4


class PagedLayer(DynamicLayer):
    """Keys and values of one layer in pages [batch, heads, at most 4, head size]."""

    def __init__(self) -> None:
        """No page yet."""
        super().__init__()
        self.pages: list[tuple[torch.Tensor, torch.Tensor]] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Fill the last page, then open new ones; gives all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.write(key_states, value_states)
        self.keys = torch.cat([keys for keys, _ in self.pages], dim=-2)
        self.values = torch.cat([values for _, values in self.pages], dim=-2)
        return self.keys, self.values

    def write(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Put new positions into pages."""
        done = 0
        while done < keys.shape[-2]:
            room = PAGE - self.pages[-1][0].shape[-2] if self.pages else 0
            taken = slice(done, done + (room or PAGE))
            page = (keys[..., taken, :], values[..., taken, :])
            if room:
                last = self.pages.pop()
                page = tuple(torch.cat(pair, dim=-2) for pair in zip(last, page, strict=True))
            self.pages.append(page)
            done += room or PAGE

    def crop(self, tokens_to_remove: int) -> None:
        """Take positions off the end: the pages are cut anew."""
        super().crop(tokens_to_remove)
        self.pages = []
        self.write(self.keys, self.values)


class TornLayer(PagedLayer):
    """The bug: a chunk that does not fit into the last page starts over on the new one."""

    def write(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Put new positions into pages; the first ones twice where a page ends within them."""
        room = PAGE - self.pages[-1][0].shape[-2] if self.pages else 0
        if 0 < room < keys.shape[-2]:
            keys, values = (
                torch.cat([new[..., :room, :], new[..., : new.shape[-2] - room, :]], dim=-2)
                for new in (keys, values)
            )
        super().write(keys, values)


class PagedCache(Cache):
    """The right one."""

    def __init__(self) -> None:
        """Layers are added as the model asks for them."""
        super().__init__(layer_class_to_replicate=PagedLayer)


class TornCache(Cache):
    """The one with the bug."""

    def __init__(self) -> None:
        """Layers are added as the model asks for them."""
        super().__init__(layer_class_to_replicate=TornLayer)
