"""The five processes: their numbers, and what a launcher puts into their environment."""

from __future__ import annotations

from collections.abc import Hashable

from hvdkit.job.columns import PROCESSES, Value, joined, lift
from hvdkit.job.machine import Machine
from hvdkit.job.terms import Term

# Alone; then ranks 0 to 3, of which two are on each host.
NUMBERS: dict[str, tuple[Hashable, ...]] = {
    "rank": (0, 0, 1, 2, 3),
    "size": (1, 4, 4, 4, 4),
    "local_rank": (0, 0, 1, 0, 1),
    "local_size": (1, 2, 2, 2, 2),
    "cross_rank": (0, 0, 0, 1, 1),
    "cross_size": (1, 2, 2, 2, 2),
    "in job": (False, True, True, True, True),
    "true": (True,) * 5,
}

# torchrun, horovodrun, Open MPI, MPICH and Slurm, in this order.
VARIABLES = {
    **dict.fromkeys(("RANK", "HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"), "rank"),
    **dict.fromkeys(
        ("WORLD_SIZE", "HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"), "size"
    ),
    **dict.fromkeys(
        (
            "LOCAL_RANK",
            "HOROVOD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "MPI_LOCALRANKID",
            "SLURM_LOCALID",
        ),
        "local_rank",
    ),
    **dict.fromkeys(("LOCAL_WORLD_SIZE", "HOROVOD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"), "local_size"),
    **dict.fromkeys(("GROUP_RANK", "HOROVOD_CROSS_RANK", "SLURM_NODEID"), "cross_rank"),
}
ENVIRONMENT = "os.environ"


def number(machine: Machine, what: str) -> Value:
    """A number of each process."""
    return joined([machine.terms.const(value) for value in NUMBERS[what]])


def numbered(machine: Machine) -> Value:
    """The number of each column."""
    return joined([machine.terms.const(process) for process in range(PROCESSES)])


def variable(machine: Machine, name: Value, default: Value | None) -> Value:
    """What a variable of the environment is; a launcher's own are unset where there is no job."""
    missing = machine.terms.none if default is None else default

    def of(key: Term, alone: Term, process: Term) -> Term:
        what = VARIABLES.get(str(key.parts[0])) if key.kind == "const" else None
        place = process.parts[0]
        assert isinstance(place, int)
        if what is None:
            return machine.terms.make("variable", key, alone)
        return alone if place == 0 else machine.terms.const(str(NUMBERS[what][place]))

    return lift(of, name, missing, numbered(machine))


def has_variable(machine: Machine, name: Value) -> Value:
    """`"RANK" in os.environ`."""

    def of(key: Term, in_job: Term) -> Term:
        known = key.kind == "const" and key.parts[0] in VARIABLES
        return in_job if known else machine.terms.make("compare", "in the environment", key)

    return lift(of, name, number(machine, "in job"))
