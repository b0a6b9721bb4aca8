"""The doctor inside a job that mpirun or srun started: hosts are examined without ssh, by mpi4py.

One rank of each host is its doctor. Ranks find out by MPI what `hvdkit.examination.session` finds out by ssh.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from importlib import import_module

from hvdkit.doctor import allreduce
from hvdkit.examination import meeting
from hvdkit.examination.check import Request
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.gather import gather, gathering
from hvdkit.examination.judge import judge
from hvdkit.examination.session import Examination, Report

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


def is_mpi_job(environ: Mapping[str, str]) -> bool:
    """Whether MPI started this process as one of several."""
    return any(environ.get(name, "1") != "1" for name in _SIZES)


def examine(wanted: Examination) -> Report | None:
    """Every rank calls it; the report on rank 0, None on the others."""
    mpi = import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD
    host = world.Split_type(mpi.COMM_TYPE_SHARED)
    # Names may be equal, which is a finding; places are not.
    name = socket.gethostname()
    leaders = world.allgather((name, world.rank) if host.rank == 0 else None)
    places = [leader for leader in leaders if leader is not None]
    twice = {each for each, _ in places if sum(each == other for other, _ in places) > 1}
    names = {rank: f"{each} (rank {rank})" if each in twice else each for each, rank in places}
    greeting = (names[world.rank], meeting.greet(0), host.size) if host.rank == 0 else None
    greetings = [each for each in world.allgather(greeting) if each is not None]
    hellos = {key: hello for key, hello, _ in greetings}
    slots = {key: size for key, _, size in greetings}
    way = meeting.way(hellos) if len(hellos) > 1 else None
    base = Request(ranks=world.size, script=wanted.script)
    asked = meeting.requests(base, hellos, slots, way, by_ssh=False)
    facts = {}
    if host.rank == 0:
        facts = {names[world.rank]: gather(gathering(wanted.checks, CHECKS), asked[names[world.rank]])}
    gathered = world.gather(facts, root=0)
    if world.rank != 0:
        return None
    merged = {key: value for part in gathered for key, value in part.items()}
    return Report(tuple(judge(wanted.checks, merged, asked)), merged, way, tuple(hellos))


def measure() -> list[allreduce.Measured]:
    """Bandwidth and latency over all ranks of the job; every rank calls it."""
    hvd = import_module("horovod.torch")
    hvd.init()
    results = allreduce.measure()
    hvd.shutdown()
    return results
