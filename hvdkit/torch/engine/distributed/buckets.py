"""Gradients reduced in flat buckets while backward() runs, in one order on all ranks.

Parameters are put into buckets from the last to the first, as backward() reaches them. A bucket is reduced
when each of its parameters that require a gradient is ready and all buckets before it are under way, the rest
when `flush` is called. So the order does not depend on the rank, though the moment does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from hvdkit.torch.engine.distributed.handles import Handle
from hvdkit.torch.engine.distributed.reduction import reduce_together
from hvdkit.torch.engine.distributed.world import Channel

_FIRST_BYTES = 1 << 20  # small: it is the first to be ready
_BYTES = 25 << 20


class Bucket:
    """Some parameters of one dtype on one device."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self.parameters = parameters
        self.missing: set[Tensor] = set()
        self.ready: dict[Tensor, Tensor] = {}
        self.handle: Handle | None = None
        self.results: dict[Tensor, Tensor] | None = None

    def result(self, parameter: Tensor) -> Tensor:
        """What a parameter's gradient was reduced to. Waits for the bucket."""
        assert self.handle is not None, "flush() comes first"
        if self.results is None:
            self.results = dict(zip(self.ready, self.handle.result()))
        return self.results[parameter]


class Buckets:
    """The buckets of an optimizer. A round is from the first gradient that is ready to the flush after it."""

    def __init__(self, op: int, prescale: float, postscale: float) -> None:
        self._scheme = op, prescale, postscale
        self._channel: Channel | None = None
        self._plan: list[list[Tensor]] = []
        self._planned = 0
        self._round: list[Bucket] = []
        self._bucket_of: dict[Tensor, Bucket] = {}
        self._next = 0

    def use(self, channel: Channel) -> None:
        """The channel to reduce on."""
        self._channel = channel

    def ready(self, parameter: Tensor, gradient: Tensor, groups: Iterable[dict[str, Any]]) -> Bucket:
        """A gradient, compressed, that may be sent. groups: the optimizer's, with all of its parameters."""
        if not self._round:
            self._begin([each for group in groups for each in group["params"]])
        bucket = self._bucket_of[parameter]
        bucket.ready[parameter] = gradient
        bucket.missing.discard(parameter)
        if not bucket.missing:
            while self._next < len(self._round) and not self._round[self._next].missing:
                self._launch(self._round[self._next])
        return bucket

    def flush(self) -> None:
        """Send what is ready and not sent. The round is over."""
        while self._next < len(self._round):
            self._launch(self._round[self._next])
        self._round = []
        self._bucket_of = {}

    def _begin(self, parameters: list[Tensor]) -> None:
        if len(parameters) != self._planned:
            self._planned, self._plan = len(parameters), plan(parameters)
        self._round = [Bucket(each) for each in self._plan]
        self._next = 0
        for bucket in self._round:
            bucket.missing = {each for each in bucket.parameters if each.requires_grad}
            self._bucket_of.update(dict.fromkeys(bucket.parameters, bucket))

    def _launch(self, bucket: Bucket) -> None:
        self._next += 1
        # In the order of the plan: gradients become ready in an order that may differ between ranks.
        bucket.ready = {each: bucket.ready[each] for each in bucket.parameters if each in bucket.ready}
        if bucket.ready:
            assert self._channel is not None, "use() comes first"
            bucket.handle = reduce_together([*bucket.ready.values()], *self._scheme, self._channel)


def plan(parameters: list[Tensor]) -> list[list[Tensor]]:
    """The parameters of each bucket."""
    buckets: list[list[Tensor]] = []
    filling: dict[tuple[torch.dtype, torch.device], tuple[list[Tensor], int]] = {}
    for parameter in reversed(parameters):
        kind = parameter.dtype, parameter.device
        bucket, left = filling.get(kind, ([], 0))
        if left <= 0:
            bucket, left = [], _BYTES if buckets else _FIRST_BYTES
            buckets.append(bucket)
        bucket.append(parameter)
        filling[kind] = bucket, left - parameter.numel() * parameter.element_size()
    return buckets
