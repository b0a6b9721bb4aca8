"""Times the steps of a training loop that knows nothing of it, and ends the process when there are enough.

A step lasts from the end of one optimizer step to the end of the next. In it, Horovod's optimizer waits for
the averages that are still under way: that wait is timed separately. Where a GPU computes, it is waited for
before either ends, as what was only enqueued is not done. (The CUDA paths have not been run on a GPU yet.)
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer

from hvdkit.observe.steps import around_steps

WARM_UP = 5  # steps that are left out: libraries are loaded, buffers made
_PROFILED = 3  # steps after the measured ones, in which each gradient is timed


class Clock:
    """Of one rank. steps: so many are timed after the warm-up; then `done` is called with the optimizer.

    profiled: whether a few more steps follow, in which hooks time when each gradient is ready.
    """

    def __init__(self, steps: int, profiled: bool, done: Callable[[Optimizer], None]) -> None:
        self._wanted, self._profiled, self._done = steps, profiled, done
        self.needed = 1 + WARM_UP + steps + (_PROFILED if profiled else 0)
        self._began = self._backward_began = self._backward = self._waited = 0.0
        self.taken = -1
        self.computed: list[float] = []
        self.waited: list[float] = []
        self._ready: dict[int, list[float]] = {}
        self._shares: list[float] = []
        self._sizes: dict[int, int] = {}

    def watch(self) -> None:
        """From now on the steps of all optimizers count, and backward passes are timed."""
        around_steps(lambda _: None, lambda _: None, self._stepped)
        backward = torch.autograd.backward

        @functools.wraps(backward)
        def timed(*args: Any, **kwargs: Any) -> None:
            self._backward_began = self._now()
            backward(*args, **kwargs)
            self._backward += self._now() - self._backward_began

        torch.autograd.backward = timed

    def watch_waits(self) -> None:
        """Time the wait of Horovod's optimizer for its averages."""
        from horovod.torch.optimizer import _DistributedOptimizer

        wait = _DistributedOptimizer.synchronize

        @functools.wraps(wait)
        def synchronize(optimizer: Any) -> Any:
            began = self._now()
            result = wait(optimizer)
            self._waited += self._now() - began
            return result

        _DistributedOptimizer.synchronize = synchronize

    @property
    def backward(self) -> float:
        """The backward pass's share of a step; 0.0 where no step was profiled."""
        return statistics.median(self._shares) if self._shares else 0.0

    @property
    def gradients(self) -> list[tuple[int, float]]:
        """Bytes of each gradient, and the share of the backward pass after which it is ready, in order."""
        found = [(self._sizes[key], statistics.median(shares)) for key, shares in self._ready.items()]
        return sorted(found, key=lambda each: each[1])

    def _now(self) -> float:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter()

    def _stepped(self, optimizer: Optimizer) -> None:
        now = self._now()
        duration, self._began = now - self._began, now
        waited, self._waited = self._waited, 0.0
        backward, self._backward = self._backward, 0.0
        self.taken += 1
        if self.taken <= WARM_UP:
            return
        if len(self.computed) < self._wanted:
            self.computed.append(round(duration - waited, 7))
            self.waited.append(round(waited, 7))
        else:
            self._shares.append(backward / duration)
            self._close_profile(backward)
        if len(self.computed) == self._wanted:
            if self._profiled and len(self._shares) < _PROFILED:
                if not self._sizes:
                    self._profile(optimizer)
            else:
                self._done(optimizer)

    def _profile(self, optimizer: Optimizer) -> None:
        for parameter in trained(optimizer):
            key = id(parameter)
            self._sizes[key] = parameter.numel() * parameter.element_size()
            self._ready[key] = []
            parameter.register_hook(functools.partial(self._is_ready, key))  # type: ignore[no-untyped-call]

    def _is_ready(self, key: int, _: torch.Tensor) -> None:
        self._ready[key].append(self._now() - self._backward_began)

    def _close_profile(self, backward: float) -> None:
        """Make shares of the moments of the step that has ended."""
        for key, moments in [*self._ready.items()]:
            if not moments:  # no part of the loss
                del self._ready[key]
            elif backward:
                moments[-1] = min(1.0, moments[-1] / backward)


def trained(optimizer: Optimizer) -> list[torch.Tensor]:
    """The parameters whose gradients are averaged."""
    return [each for group in optimizer.param_groups for each in group["params"] if each.requires_grad]
