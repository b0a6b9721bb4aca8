"""The hosts and slots of a Slurm allocation: what `hvdkit run` takes where no hosts are named.

https://slurm.schedmd.com/sbatch.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hvdkit.errors import UsageError
from hvdkit.hosts.lists import Host, HostList, parse_hosts

_PART = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")
_REPEATED = re.compile(r"(\d+)(?:\(x(\d+)\))?")


def hosts_of_allocation(environ: Mapping[str, str]) -> HostList | None:
    """The nodes of the job that this shell is in, None outside of one.

    Slots: the tasks of each node where tasks were asked for, else its GPUs, else one. Raises: UsageError in a
    step of several tasks, each of which would start the whole job; HostError.
    """
    nodes = environ.get("SLURM_JOB_NODELIST", "")
    if not nodes or not environ.get("SLURM_JOB_ID"):
        return None
    tasks = environ.get("SLURM_STEP_NUM_TASKS", "1")
    if tasks != "1":
        raise UsageError(
            f"srun started hvdkit run {tasks} times",
            why="each of them would start all ranks",
            fix="leave srun out: hvdkit run takes the hosts of the allocation",
        )
    names = list(expanded(nodes))
    slots = _slots(environ, len(names))
    named = parse_hosts(",".join(names)).hosts  # what is no host name is refused
    return HostList(tuple(Host(host.name, count) for host, count in zip(named, slots)))


def expanded(nodes: str) -> Iterator[str]:
    """The hosts of Slurm's short form.

    >>> list(expanded("gpu[08-10,14],login"))
    ['gpu08', 'gpu09', 'gpu10', 'gpu14', 'login']
    >>> list(expanded("rack[1-2]n[03,05]"))
    ['rack1n03', 'rack1n05', 'rack2n03', 'rack2n05']
    """
    for part in _PART.findall(nodes):
        yield from _expanded(part)


def _expanded(part: str) -> Iterator[str]:
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield part
        return
    inside, _, after = rest.partition("]")
    for piece in inside.split(","):
        first, dash, last = piece.partition("-")
        numbers = range(int(first), int(last) + 1) if dash else (int(first),)
        for number in numbers:
            for end in _expanded(after):
                yield f"{before}{number:0{len(first)}}{end}"


def _slots(environ: Mapping[str, str], nodes: int) -> list[int]:
    """Of each node: "2(x3),1" is three nodes with two and one with one."""
    asked = any(environ.get(name) for name in ("SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"))
    gpus = environ.get("SLURM_GPUS_ON_NODE", "") or environ.get("SLURM_GPUS_PER_NODE", "").rpartition(":")[2]
    if not asked and gpus.isdecimal() and int(gpus):
        return [int(gpus)] * nodes
    counts = [
        int(count)
        for count, times in _REPEATED.findall(environ.get("SLURM_TASKS_PER_NODE", ""))
        for _ in range(int(times or 1))
    ]
    return counts if len(counts) == nodes else [1] * nodes
