"""Commands that start ranks themselves: below `hvdkit run` each rank would start all ranks once more."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from hvdkit.errors import UsageError

# Programs, and modules after `python -m`.
_LAUNCHERS = {
    "torchrun": "torchrun",
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate": "accelerate launch",
    "accelerate.commands.launch": "accelerate launch",
    "deepspeed": "deepspeed",
    "horovodrun": "horovodrun",
    "mpirun": "mpirun",
    "mpiexec": "mpirun",
    "srun": "srun",
    "jsrun": "jsrun",
}
_OF_HOROVOD = ("horovodrun", "mpirun", "srun", "jsrun")


def refuse_launchers(command: Sequence[str]) -> None:
    """Raises: UsageError, with the command that runs the script itself."""
    module = command[2] if command[1:2] == ["-m"] and len(command) > 2 else ""
    launcher = _LAUNCHERS.get(module or Path(command[0]).name, "")
    if not launcher:
        return
    place = next((place for place, word in enumerate(command) if word.endswith((".py", ".ipynb"))), None)
    script = shlex.join(command[place:]) if place is not None else "train.py"
    run = "hvdkit run" if launcher in _OF_HOROVOD else "hvdkit run --torch"
    raise UsageError(
        f"{launcher} starts ranks, and so does hvdkit run",
        why="each rank would start all ranks once more",
        fix=f"{run} -np N -H HOST:SLOTS,... python {script}",
    )
