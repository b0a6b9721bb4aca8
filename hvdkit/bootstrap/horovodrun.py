"""horovodrun, and whatever else sets HOROVOD_RANK: Horovod finds its own way; only gaps are looked for."""

from __future__ import annotations

from collections.abc import Mapping

from hvdkit.bootstrap.launch import Launch
from hvdkit.bootstrap.variables import Family, incomplete

FAMILY = Family("horovodrun", "HOROVOD_RANK", ("HOROVOD_SIZE",), "HOROVOD_LOCAL_SIZE")
# Without these a rank of a Gloo job waits for the others until it aborts, or takes local rank 0.
_GLOO = (
    "HOROVOD_LOCAL_RANK",
    "HOROVOD_LOCAL_SIZE",
    "HOROVOD_CROSS_RANK",
    "HOROVOD_CROSS_SIZE",
    "HOROVOD_GLOO_RENDEZVOUS_ADDR",
    "HOROVOD_GLOO_RENDEZVOUS_PORT",
)


def check(environ: Mapping[str, str], launch: Launch | None, *, under_mpi: bool, mpi_built: bool) -> None:
    """Refuse an environment that Horovod would wait in, or take for another one.

    launch: what horovodrun's variables say, None without them.
    Raises: LaunchEnvironmentError, naming what is missing.
    """
    several = launch is not None and launch.size > 1
    present = "HOROVOD_SIZE" if several else "HOROVOD_CONTROLLER"
    controller = environ.get("HOROVOD_CONTROLLER", "" if mpi_built else "gloo").lower()
    needed: list[str] = []
    if mpi_built:
        # A build with MPI takes MPI for whatever is not said: it would not look at the rank that is set,
        # or abort inside MPI because its controller never started it.
        if several and not under_mpi:
            needed.append("HOROVOD_CONTROLLER")
        if controller == "gloo":
            needed.append("HOROVOD_CPU_OPERATIONS")
    if several and controller == "gloo":
        needed += _GLOO
    for name in needed:
        if not environ.get(name):
            raise incomplete(present, environ[present], name, "horovodrun --gloo")
