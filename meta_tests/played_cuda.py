"""A plugin that plays a CUDA device with torch's fake tensors: pytest -p meta_tests.played_cuda.

Shapes, number types and devices are a real device's, values and times are not. So it judges
nothing, but the gpu lane's code runs as it would on a node, and an operation on tensors of two
devices fails as it would there, which no rehearsal on a CPU can show. What is read out of such a
tensor is ones. Wants a CUDA build of torch, and no GPU: docs/gpu.md says how it is run.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode

MODE = FakeTensorMode(allow_non_fake_inputs=True)
MEMORY = 80 * 10**9


def _ones(shape: tuple[int, ...], kind: torch.dtype) -> Any:
    if shape:
        return [_ones(shape[1:], kind) for _ in range(shape[0])]
    return 1.0 if kind.is_floating_point else True if kind is torch.bool else 1


# What leaves the device, as ones.
READ: dict[Any, Callable[[torch.Tensor], Any]] = {
    torch.Tensor.item: lambda x: _ones((), x.dtype),
    torch.Tensor.tolist: lambda x: _ones(tuple(x.shape), x.dtype),
    torch.Tensor.__bool__: lambda _: True,
    torch.Tensor.__float__: lambda _: 1.0,
    torch.Tensor.__int__: lambda _: 1,
    torch.Tensor.__index__: lambda _: 1,
    torch.equal: lambda _: True,
    torch.Tensor.equal: lambda _: True,
}


def _on_cuda(value: Any) -> bool:
    return isinstance(value, (str, torch.device)) and str(value).startswith("cuda")


def _empty(shape: tuple[int, ...], kind: torch.dtype) -> torch.Tensor:
    with MODE:
        return torch.empty(shape, dtype=kind, device="cuda")


def _attention(query: torch.Tensor, _key: Any, value: torch.Tensor) -> torch.Tensor:
    return query.new_empty((*query.shape[:-1], value.shape[-1]))


def _where(mask: torch.Tensor, *sides: Any) -> torch.Tensor:
    """With a plain number on a side, which torch would put on a real device."""
    tensors = [side for side in sides if isinstance(side, torch.Tensor)]
    kind = tensors[0].dtype if tensors else torch.get_default_dtype()
    return _empty(tuple(torch.broadcast_shapes(mask.shape, *(t.shape for t in tensors))), kind)


class Played(TorchFunctionMode):
    """Whatever is made on, or moved to, a CUDA device becomes a fake tensor."""

    def __torch_function__(
        self, func: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        first = args[0] if args else None
        if isinstance(first, FakeTensor):
            if func in READ:
                return READ[func](first)
            if func is torch.nn.functional.scaled_dot_product_attention:
                return _attention(*args[:3])
            if func is torch.where and not all(isinstance(a, torch.Tensor) for a in args):
                return _where(*args)
        if not _on_cuda(kwargs.get("device")) and not any(map(_on_cuda, args)):
            return func(*args, **kwargs)
        if func is torch.tensor:
            made = func(*args, **{**kwargs, "device": "cpu"})
            return _empty(tuple(made.shape), made.dtype)
        if func is torch.Tensor.to:
            kinds = [a for a in (*args, kwargs.get("dtype")) if isinstance(a, torch.dtype)]
            kind = (kinds or [first.dtype])[0]
            there = first.device.type == "cuda" and kind is first.dtype
            return first if there else _empty(tuple(first.shape), kind)
        with MODE:
            return func(*args, **kwargs)


def _moved(module: torch.nn.Module, *how: Any, **named: Any) -> torch.nn.Module:
    """``module.to``, parameter by parameter: torch would swap their contents, which fakes lack."""
    for part in module.modules():
        for store in (part._parameters, part._buffers):
            for name, old in [(n, x) for n, x in store.items() if x is not None]:
                whole = not old.is_floating_point()
                kept = [h for h in how if not (whole and isinstance(h, torch.dtype))]
                new = old.detach().to(*kept, **named) if kept or named else old
                store[name] = torch.nn.Parameter(new, False) if store is part._parameters else new
    return module


class _Generator(torch.Generator):
    def __new__(cls, device: Any = None) -> Any:
        """One that draws nothing anybody reads."""
        return super().__new__(cls)


class _Stream:
    def wait_stream(self, other: Any) -> None:
        """Nothing runs on it."""


class _Graph:
    def replay(self) -> None:
        """Nothing was captured."""


def pytest_configure() -> None:
    """Put the played device in the place of CUDA's own calls, for the rest of the process."""
    import transformers

    from fixtures import machines
    from fixtures.engines import trace

    about = types.SimpleNamespace(L2_cache_size=40 * 2**20, name="played", uuid="")
    patch = pytest.MonkeyPatch()
    for name, stand_in in {
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "mem_get_info": lambda *_: (MEMORY, MEMORY),
        "memory_allocated": lambda *_: 1000,
        "get_device_properties": lambda *_: about,
        "get_device_capability": lambda *_: (8, 0),
        "get_device_name": lambda *_: "NVIDIA A100-SXM4-80GB",
        "device_count": lambda: 1,
        "current_stream": lambda *_: _Stream(),
        "Stream": _Stream,
        "CUDAGraph": _Graph,
        "stream": contextlib.nullcontext,
        "graph": contextlib.nullcontext,
    }.items():
        patch.setattr(torch.cuda, name, stand_in)
    patch.setattr(fake_tensor, "init_gpu_context", lambda _: None, raising=False)
    patch.setattr(torch, "compile", lambda function, **_: function)
    patch.setattr(torch, "Generator", _Generator)
    patch.setattr(torch.nn.Module, "to", _moved)
    patch.setattr(transformers.PreTrainedModel, "to", _moved)
    patch.setattr(machines, "why_no_cuda", lambda: "")
    patch.setattr(machines, "nvml_trouble", lambda: "the device is played")
    patch.setattr(trace, "of_events", trace.rehearsed)
    Played().__enter__()
