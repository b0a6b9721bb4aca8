"""`init()`: Horovod's init, the guards against a job that is not one, and the GPU of this rank.

Where the rank comes from is hvdkit.bootstrap's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import horovod.tensorflow as hvd
import tensorflow as tf

from hvdkit.bootstrap.connect import connected
from hvdkit.bootstrap.devices import device_index
from hvdkit.bootstrap.launchers import refuse_copies
from hvdkit.errors import HvdkitError


class DevicesInUseError(HvdkitError):
    """TensorFlow has already taken the GPUs, all of them."""


@dataclass(frozen=True)
class Context:
    """This process's place in the job: its ranks, the world's sizes, and its device, "/GPU:0" or "/CPU:0".

    TensorFlow numbers the devices that are visible: the GPU of each rank is its /GPU:0.
    """

    rank: int
    size: int
    local_rank: int
    local_size: int
    device: str


def init(comm: Any = None, process_sets: Sequence[hvd.ProcessSet] | str | None = None) -> Context:
    """Initialise Horovod, check that the job is one job, and pin this process to its GPU.

    Takes what `horovod.tensorflow.init` takes. Call it before anything touches a GPU: no other GPU is visible
    to this process afterwards, and its memory is taken as it is needed. Calling it again gives the same
    answer.

    Args:
        comm: ranks of MPI_COMM_WORLD, or an mpi4py communicator, to use instead of all. The world is then
            smaller than the launcher's on purpose, so the two are not compared.
        process_sets: process sets to create, or "dynamic" to be able to add them later.

    Raises:
        LaunchEnvironmentError: the environment that gives the rank is half set, wrong, or contradicts itself.
        MeetingError: under torchrun, PyTorchJob or srun, a rank did not come in time, or the port is taken.
        UnsynchronisedCopiesError: the launcher started more processes than Horovod connected.
        NotEnoughDevicesError: this host runs more ranks than it has GPUs.
        DevicesInUseError: TensorFlow was used before, and has taken every GPU.
    """
    with connected(hvd, comm, process_sets) as launches:
        hvd.init(comm, process_sets)
    if comm is None:
        refuse_copies(launches, hvd.rank(), hvd.size())
    return Context(hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), _pin())


def _pin() -> str:
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        return "/CPU:0"
    own = gpus[device_index(hvd.local_rank(), hvd.local_size(), len(gpus))]
    if tf.config.get_visible_devices("GPU") != [own]:
        try:
            tf.config.set_visible_devices(own, "GPU")
        except RuntimeError as error:
            raise DevicesInUseError(
                f"TensorFlow is in use already: {error}",
                why=f"it uses all {len(gpus)} GPUs in every rank",
                fix="call hvd.init() before anything else that uses TensorFlow",
            ) from error
    if not tf.config.experimental.get_memory_growth(own):
        try:
            tf.config.experimental.set_memory_growth(own, True)
        except RuntimeError as error:
            raise DevicesInUseError(
                f"TensorFlow is in use already: {error}",
                why="it has taken all the memory of its GPU",
                fix="call hvd.init() before anything else that uses TensorFlow",
            ) from error
    return "/GPU:0"
