"""The state of every generator of random numbers of a process, taken and set."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def states() -> dict[str, Any]:
    """Of Python, of numpy where it is imported, of torch on the CPU and on the GPUs that are in use."""
    taken: dict[str, Any] = {"random": random.getstate(), "torch": torch.get_rng_state().numpy().tobytes()}
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        taken["numpy"] = numpy_random.get_state()
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        taken["cuda"] = [state.numpy().tobytes() for state in torch.cuda.get_rng_state_all()]
    return taken


def restore(taken: dict[str, Any]) -> None:
    """Set what was taken, perhaps by another process."""
    random.setstate(taken["random"])
    torch.set_rng_state(_as_tensor(taken["torch"]))
    if "numpy" in taken and "numpy.random" in sys.modules:
        sys.modules["numpy.random"].set_state(taken["numpy"])
    if "cuda" in taken and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([_as_tensor(state) for state in taken["cuda"]])


def _as_tensor(state: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(state), dtype=torch.uint8)
