"""torchrun, Kubeflow's PyTorchJob, and RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set by hand.

PyTorchJob sets these four in each pod and no local rank: a pod is a host, with one process or, when torchrun
runs inside, several. https://pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

from collections.abc import Mapping

from hvdkit.bootstrap import ports
from hvdkit.bootstrap.environment import CONTROL_PORT
from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.bootstrap.launch import Launch, Meeting
from hvdkit.bootstrap.variables import Family, incomplete, integer, port

FAMILY = Family("torchrun or PyTorchJob", "RANK", ("WORLD_SIZE",), "LOCAL_WORLD_SIZE")


def meeting(environ: Mapping[str, str], launch: Launch) -> Meeting:
    """Where the ranks meet: on MASTER_ADDR, beside MASTER_PORT, where torchrun's own store listens.

    Raises: LaunchEnvironmentError: MASTER_ADDR or MASTER_PORT is missing or wrong, or the local variables
    contradict the world's.
    """
    _check_local(environ, launch)
    size = str(launch.size)
    if not environ.get("MASTER_ADDR"):
        raise incomplete("WORLD_SIZE", size, "MASTER_ADDR", FAMILY.launcher)
    if environ.get(CONTROL_PORT):
        control = port(CONTROL_PORT, environ)
    elif environ.get("MASTER_PORT"):
        control = ports.beside(port("MASTER_PORT", environ))
    else:
        raise incomplete("WORLD_SIZE", size, "MASTER_PORT", FAMILY.launcher)
    # After a failure torchrun starts all ranks again on the same port: late ones of before must not join.
    parts = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT")
    job = "/".join(["torchrun", *(environ.get(name, "") for name in parts)])
    return Meeting(environ["MASTER_ADDR"], f"MASTER_ADDR={environ['MASTER_ADDR']}", control, job)


def _check_local(environ: Mapping[str, str], launch: Launch) -> None:
    local_size = launch.local_size
    if local_size is not None and not 0 < local_size <= launch.size:
        raise LaunchEnvironmentError(
            f"LOCAL_WORLD_SIZE={local_size} contradicts WORLD_SIZE={launch.size}",
            why="a host cannot have more ranks than the job",
            fix="set both as torchrun does, or unset LOCAL_WORLD_SIZE",
        )
    if environ.get("LOCAL_RANK"):
        local_rank = integer("LOCAL_RANK", environ)
        most = launch.size if local_size is None else local_size
        if not 0 <= local_rank < most:
            raise LaunchEnvironmentError(
                f"LOCAL_RANK={local_rank} is not a local rank of {most}",
                why="local ranks count from 0 to the number of ranks on the host minus one",
                fix="set it as torchrun does, or unset LOCAL_RANK",
            )
