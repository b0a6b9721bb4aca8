"""The CUDA devices that ranks ask for: each of a host its own, by its place there; on the CPU, too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hvdkit.hosts.lists import HostList
from hvdkit.observe.records import DEVICE, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Invariant

PINNED = Cause(
    "HVD112",
    "give each rank the device of its local rank before anything is put on one: "
    "torch.cuda.set_device(hvd.local_rank()), and that number or none everywhere else",
)
Asked = dict[tuple[int, int], tuple[int, set[str]]]  # by host and local rank: the rank, and the devices


def check_devices(*placed: tuple[Run, HostList]) -> Iterator[Invariant]:
    """Of runs with their hosts; told where two ranks of one run ask for devices."""
    runs = [_asked(run, hosts) for run, hosts in placed]
    if not any(len(asked) > 1 for asked in runs):
        return
    wrong = [seen for asked in runs for seen in (*_shared(asked), *_by_rank(asked))]
    fine = ", ".join(f"cuda:{name}" for _, names in runs[-1].values() for name in sorted(names))
    name = "each rank of a host has its own device"
    yield Invariant(name, not wrong, wrong[0] if wrong else fine, PINNED)


def _shared(asked: Asked) -> Iterator[str]:
    for one, other in combinations(asked, 2):
        (first, devices), (second, others) = asked[one], asked[other]
        if one[0] == other[0] and devices & others:
            yield f"ranks {first} and {second} of one host ask for cuda:{min(devices & others)}"


def _by_rank(asked: Asked) -> Iterator[str]:
    """The first rank of one host asks for another device than the first of the next."""
    for one, other in combinations(asked, 2):
        (first, devices), (second, others) = asked[one], asked[other]
        if one[1] == other[1] and devices != others:
            yield (
                f"rank {second} asks for cuda:{max(others)} and rank {first} for cuda:{max(devices)}: each "
                f"has local rank {one[1]} on its host"
            )


def _asked(run: Run, hosts: HostList) -> Asked:
    """Ranks are numbered host by host."""
    places = [(host, local) for host, held in enumerate(hosts.hosts) for local in range(held.slots)]
    found: Asked = {}
    for rank, steps in run.steps.items():
        names = {event.detail for step in steps for event in step.events if event.what == DEVICE}
        if names:
            found[places[rank]] = rank, names
    return found
