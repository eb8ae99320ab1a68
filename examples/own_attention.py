"""An attention function of one's own, right and with a bug, to be tried on a model.

    ONECALL_ATTENTION=examples.own_attention:softmax_by_hand pytest -m fuzz --model DIR_OR_ID
    ONECALL_ATTENTION=examples.own_attention:window_too_short pytest -m fuzz --model DIR_OR_ID

It is given what transformers gives an attention function, and the mask of its sdpa path.
"""

from __future__ import annotations

from typing import Any

import torch


def softmax_by_hand(
    _module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention [batch, queries, heads, head size] in plain operations."""
    groups = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
    scores = query @ key.transpose(-1, -2) * (scaling or query.shape[-1] ** -0.5)
    scores = scores + _bias(attention_mask, scores)
    weights = scores.softmax(dim=-1, dtype=torch.float32).to(query.dtype)
    return (weights @ value).transpose(1, 2).contiguous(), None


def _bias(mask: torch.Tensor | None, scores: torch.Tensor) -> torch.Tensor:
    """Zero on what is seen, the lowest number on what is not.

    No mask stands for a first chunk, whose keys may have empty places behind them, or for a
    single token that sees them all.
    """
    lowest = torch.finfo(scores.dtype).min
    if mask is None:
        new, all_ = scores.shape[-2:]
        mask = torch.ones(new, all_, dtype=torch.bool, device=scores.device)
        mask = mask.tril() if new > 1 else mask
    if mask.dtype == torch.bool:
        return torch.where(mask, 0.0, lowest).to(scores.dtype)
    return mask


def window_too_short(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *args: Any,
    **how: Any,
) -> tuple[torch.Tensor, None]:
    """The bug: single tokens see the last three positions only, chunks see them all."""
    if query.shape[-2] == 1:
        key, value = key[..., -3:, :], value[..., -3:, :]
        args, how = (None,), {k: v for k, v in how.items() if k != "attention_mask"}
    return softmax_by_hand(module, query, key, value, *args, **how)
