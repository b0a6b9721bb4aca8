"""Which of this host's GPUs is a rank's own. Only the arithmetic: pinning is the framework's."""

from __future__ import annotations

from hvdkit.errors import HvdkitError


class NotEnoughDevicesError(HvdkitError):
    """This host has more ranks than CUDA devices."""


def device_index(local_rank: int, local_size: int, visible: int) -> int:
    """The CUDA device of a rank, of those it can see.

    A scheduler that gives each rank one device makes it device 0 for all of them.

    Raises:
        NotEnoughDevicesError: several devices are visible, but fewer than ranks on this host.
    """
    if visible == 1:
        return 0
    if visible < local_size:
        raise NotEnoughDevicesError(
            f"this host runs {local_size} ranks but {visible} CUDA devices are visible to local rank "
            f"{local_rank}",
            why="two ranks on one device slow each other down, and NCCL refuses them",
            fix=f"start at most {visible} ranks here (`-H HOST:{visible}`), or extend CUDA_VISIBLE_DEVICES",
        )
    return local_rank
