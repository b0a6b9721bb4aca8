"""What ranks of torch.distributed and of TensorFlow's strategies are given, where Horovod gives nothing.

They know each other by addresses: every rank says a free port of its host when it comes, and hears those of
all ranks once all have come. https://pytorch.org/docs/stable/elastic/run.html#environment-variables,
https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

# For a rank's end of the lifeline: which of the worlds below its command belongs to; "" for Horovod's.
VARIABLE = "HVDKIT_WORLD"
# Below the ports that Linux lends to whoever asks for any: the rank binds it some seconds after it was found.
_PORTS = range(20000, 30000)
# What horovodrun sets for a rank: a program that finds it believes that Horovod started it.
_HOROVODS = ("HOROVOD_", "OMPI_", "PMIX_", "PMI_")


class Member(NamedTuple):
    """Where a rank is. port: free on its host when the rank came. local_rank: its number on its host."""

    address: str
    port: int
    local_rank: int


def free_port() -> socket.socket:
    """A socket bound to a port that nobody is lent by chance; close it when the rank is about to use it."""
    while True:
        held = socket.socket()
        try:
            held.bind(("", random.choice(_PORTS)))
        except OSError:
            held.close()
            continue
        return held


def torch_variables(rank: int, members: Sequence[Member], environ: Mapping[str, str]) -> dict[str, str]:
    """What torchrun sets. The store is rank 0's own: there is no agent that holds one."""
    groups = [number for number, member in enumerate(members) if member.local_rank == 0]
    group = sum(first <= rank for first in groups) - 1
    end = groups[group + 1] if group + 1 < len(groups) else len(members)
    size, local_size = len(members), end - groups[group]
    made = {
        "RANK": rank,
        "WORLD_SIZE": size,
        "LOCAL_RANK": members[rank].local_rank,
        "LOCAL_WORLD_SIZE": local_size,
        "GROUP_RANK": group,
        "GROUP_WORLD_SIZE": len(groups),
        "ROLE_RANK": rank,
        "ROLE_WORLD_SIZE": size,
        "ROLE_NAME": "default",
        "MASTER_ADDR": members[0].address,
        "MASTER_PORT": members[0].port,
        "TORCHELASTIC_RUN_ID": environ.get("HVDKIT_JOB", "none")[:8],
        "TORCHELASTIC_RESTART_COUNT": environ.get(RESTARTED, "0"),
        "TORCHELASTIC_MAX_RESTARTS": environ.get(RESTARTS, "0"),
        "TORCHELASTIC_USE_AGENT_STORE": "False",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"),
    }
    if local_size > 1 and "OMP_NUM_THREADS" not in environ:
        made["OMP_NUM_THREADS"] = 1
    return {name: str(value) for name, value in made.items()}


def tensorflow_variables(rank: int, members: Sequence[Member], environ: Mapping[str, str]) -> dict[str, str]:
    """TF_CONFIG of a MultiWorkerMirroredStrategy, and for several workers on a host a GPU each."""
    workers = [f"{member.address}:{member.port}" for member in members]
    config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}
    made = {"TF_CONFIG": json.dumps(config)}
    following = members[rank + 1 : rank + 2]
    if members[rank].local_rank or (following and following[0].local_rank):
        # A worker takes every GPU that it sees.
        visible = [each for each in environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if each]
        local = members[rank].local_rank
        made["CUDA_VISIBLE_DEVICES"] = visible[local] if local < len(visible) else str(local)
    return made


RESTARTS, RESTARTED = "HVDKIT_RESTARTS", "HVDKIT_RESTARTED"  # how often a job may be started again, and was
WORLDS: Mapping[str, Callable[[int, Sequence[Member], Mapping[str, str]], dict[str, str]]] = {
    "torch": torch_variables,
    "tensorflow": tensorflow_variables,
}


def rank_environment(
    world: str, rank: int, members: Sequence[Member], environ: Mapping[str, str]
) -> dict[str, str]:
    """`environ` for a rank of a world, without what would make it take Horovod or MPI for its launcher."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_HOROVODS)}
    return {**kept, **WORLDS[world](rank, members, environ)}


def joined(members: Sequence[Member]) -> str:
    """For the lifeline: JSON that `separated` takes back."""
    return json.dumps(members)


def separated(text: str) -> list[Member]:
    """The members that `joined` wrote. Raises: ValueError, TypeError."""
    return [Member(str(address), int(port), int(local)) for address, port, local in json.loads(text)]
