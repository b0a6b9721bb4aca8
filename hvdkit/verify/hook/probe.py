"""Samples that are drawn once more after the last step, or at the end: the same on every rank, they must be.

Only then, so that nothing of it reaches what is compared: generators, files that a data set opens, workers.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from hvdkit.observe.records import Pool, Probe
from hvdkit.verify.hook.samples import Bases
from hvdkit.verify.hook.tensors import digest

SECONDS = 10.0  # for all of them; what takes longer is not compared


def probe(bases: Bases, pools: Sequence[Pool]) -> list[Probe]:
    """The first and the last sample of every loader, each drawn twice; those that were drawn in time.

    In a thread of its own, which a data set that raises ends, and not the script.
    """
    found: list[Probe] = []
    thread = threading.Thread(target=found.extend, args=(_drawn(bases, pools),), daemon=True)
    thread.start()
    thread.join(SECONDS)
    return list(found)


def probe_at_end(bases: Bases, pools: Sequence[Pool]) -> list[Probe]:
    """The same where the interpreter ends, which begins no thread."""
    until = time.monotonic() + SECONDS
    return list(itertools.takewhile(lambda _: time.monotonic() < until, _drawn(bases, pools)))


def _drawn(bases: Bases, pools: Sequence[Pool]) -> Iterator[Probe]:
    for data, index in dict.fromkeys((pool.data, index) for pool in pools for index in _ends(pool)):
        contents = [_content(bases.met[data][index]) for _ in range(2)]
        if contents[0]:
            yield Probe(data, index, contents[0] if contents[0] == contents[1] else "")


def _ends(pool: Pool) -> tuple[int, ...]:
    mask = pool.mask
    return ((mask & -mask).bit_length() - 1, mask.bit_length() - 1) if mask else ()


def _content(sample: Any) -> str:
    """A digest of the tensors, arrays and numbers in a sample; "" for none.

    Texts do not count: a file has another path on every host.
    """
    parts = list(_parts(sample))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, torch.Tensor):
        yield digest(value)
    elif isinstance(value, (bool, int, float)):
        yield repr(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _parts(item)
    elif hasattr(value, "__array_interface__") or hasattr(value, "__array__"):  # numpy, PIL
        import numpy

        yield hashlib.sha256(numpy.ascontiguousarray(value).tobytes()).hexdigest()
