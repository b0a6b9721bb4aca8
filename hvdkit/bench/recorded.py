"""What the ranks of one measured job send back: one line of rank 0, which `find` reads."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

_MARK = "hvdkit bench "
# mpirun puts it before each piece of a line of more than 4 KiB.
_MPI_TAG = re.compile(r"\[\d+,0\]<stdout>:")


@dataclass(frozen=True)
class Recorded:
    """One job. Times are seconds, sizes bytes.

    hosts: by rank. controller: "gloo" or "mpi", or the backend of DDP's process group; "" for one rank.
    samples: of one rank in a step, 0 where it is not known (a script's). threads: of a rank. computed,
    waited: by rank and step, outside of the optimizer's wait for averages, and in it; without Horovod all
    of a step is `computed`. alone: of the exchange of all gradients with nothing else under way, the
    slowest rank's; 0.0 where nothing is exchanged. backward: share of a step that is the backward pass.
    gradients: of each, its size and the share of the backward pass after which it is ready; in that order.
    backward and gradients are of jobs of one rank, else 0.0 and empty.
    """

    hosts: list[str]
    device: str
    controller: str
    threads: int
    samples: int
    computed: list[list[float]]
    waited: list[list[float]]
    size: int
    alone: float
    backward: float
    gradients: list[tuple[int, float]]

    @property
    def ranks(self) -> int:
        """How many there were."""
        return len(self.hosts)


def line(recorded: Recorded) -> str:
    """For rank 0 to print."""
    return _MARK + json.dumps(asdict(recorded))


def find(output: str) -> Recorded | None:
    """The record in a job's output; None where it ended before it had one."""
    for text in output.splitlines():
        _, mark, data = text.partition(_MARK)
        if mark:
            found = json.loads(_MPI_TAG.sub("", data))
            return Recorded(**{**found, "gradients": [(size, at) for size, at in found["gradients"]]})
    return None
