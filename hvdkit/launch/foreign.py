"""Scripts that connect their ranks without Horovod: `hvdkit run` gives them nothing that they read.

Such a script fails, since nothing tells it its rank, or it takes itself for the only process, and every rank
trains alone.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from pathlib import Path

from hvdkit.bootstrap.unset import ENVIRONMENT
from hvdkit.errors import HvdkitError
from hvdkit.source.index.names import Names
from hvdkit.source.notebook import NOTEBOOK
from hvdkit.source.project.files import Project
from hvdkit.source.project.opening import open_project
from hvdkit.source.read.room import roomy

# What starts a job, by the option that gives it what it reads.
_STARTS = {
    "torch.distributed.init_process_group": "torch",
    "torch.distributed.distributed_c10d.init_process_group": "torch",
    "tensorflow.distribute.MultiWorkerMirroredStrategy": "tensorflow",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy": "tensorflow",
}
# A program that names one of these may know its rank by Horovod or MPI.
_KNOWS = ("horovod", "Horovod", "HOROVOD", "hvdkit", "mpi4py", "OMPI_", "PMI_", "PMIX_", '"mpi"', "'mpi'")


class ForeignError(HvdkitError):
    """The script belongs to a different launcher."""


@roomy
def refuse_foreign(script: str, command: Sequence[str]) -> None:
    """Raises: ForeignError where the script, or what it imports, starts torch.distributed or a strategy of
    TensorFlow, and nothing in it names Horovod or MPI.
    """
    path = Path(script).absolute()
    if not script or not path.is_file():
        return
    project = open_project([path])
    if path not in project.files or project.mentions(*_KNOWS):
        return
    for names in _program(project, project.files[path]):
        for call, meanings in names.named_calls:
            option = next((_STARTS[name] for name in meanings if name in _STARTS), "")
            if option:
                raise _foreign(script, names, call, option, command)


def advice(traceback: str, command: Sequence[str]) -> str:
    """What to do where a rank failed because it asks for what torchrun sets; "" where it failed for else."""
    if not any(map(ENVIRONMENT.search, traceback.splitlines())):
        return ""
    return f"the script asks for what torchrun sets, and Horovod does not: {_fix('torch', command)}"


def _program(project: Project, entry: Names) -> list[Names]:
    """The script and all that it imports."""
    found = [entry]
    for names in found:
        found += [other for other in project.imports(names) if other not in found]
    return found


def _foreign(script: str, names: Names, call: ast.Call, option: str, command: Sequence[str]) -> ForeignError:
    what = {"torch": "torch.distributed", "tensorflow": "a MultiWorkerMirroredStrategy"}[option]
    return ForeignError(
        f"{script} uses {what}, not Horovod ({names.place(call)})",
        why="no rank was started: each would fail, or train alone, as nothing tells it of the others",
        fix=_fix(option, command),
    )


def _fix(option: str, command: Sequence[str]) -> str:
    run = f"hvdkit run --{option} ..."
    place = next((at for at, word in enumerate(command) if word.endswith((".py", NOTEBOOK))), None)
    if place is None:
        return f"{run} {shlex.join(command)}"
    migrate = f"hvdkit migrate {shlex.quote(command[place])} --write"
    return f"{migrate}; or unchanged: {run} python {shlex.join(command[place:])}"
