"""The script's own calls of seed functions: noted in a job, and given a rank's arguments in its twin."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

from hvdkit.observe.imports import after_import

# Number of the call, library, argument: gives the argument that is used.
Argument = Callable[[int, str, Any], Any]


def watch_seeds(argument: Argument, seeded: Callable[[], None] = lambda: None) -> None:
    """Pass each argument of the script's calls through a function. seeded: is called after each."""
    _watch(torch, "manual_seed", "torch", argument, seeded)
    torch.random.manual_seed = torch.manual_seed
    after_import(
        {
            "random": lambda: _watch(sys.modules["random"], "seed", "random", argument, seeded),
            "numpy.random": lambda: _watch(sys.modules["numpy.random"], "seed", "numpy", argument, seeded),
        }
    )


def _watch(module: Any, name: str, library: str, argument: Argument, seeded: Callable[[], None]) -> None:
    seed = getattr(module, name)
    calls = 0

    @functools.wraps(seed)
    def watched(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if not args and not kwargs:
            return seed()  # by the machine: nothing to give
        given = argument(calls - 1, library, args[0] if args else next(iter(kwargs.values())))
        made = seed(given, *args[1:]) if args else seed(**dict.fromkeys(list(kwargs)[:1], given))
        seeded()
        return made

    watched.__wrapped__ = getattr(seed, "__wrapped__", seed)
    setattr(module, name, watched)
