"""The played CUDA device finds what it is for: a tensor that lies on another device."""

from __future__ import annotations

import pytest
import torch

from meta_tests.played_cuda import Played


def test_a_tensor_on_another_device_is_found():
    with Played():
        there = torch.ones(2, device="cuda")
        assert (there + torch.ones(2, device="cuda")).device.type == "cuda"
        with pytest.raises(RuntimeError, match="device"):
            there + torch.ones(2)
