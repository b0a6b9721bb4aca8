"""Jobs of `hvdkit run`, and scripts that were not meant for Horovod, under both launchers."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from failures.jobs import BIN, Failure, job, output
from failures.programs import SCRIPTS

DDP = "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
LOCAL_RANK = "import os\nlocal_rank = int(os.environ['LOCAL_RANK'])\n"
NO_GROUP = (
    "import horovod.torch as hvd\nimport torch.distributed as dist\nhvd.init()\nprint(dist.get_rank())\n"
)
HOROVOD = "import horovod.torch as hvd\nhvd.init()\n"
TORCH = "import torch\nmodel = torch.nn.Linear(2, 1)\n"
# Its parent is what `hvdkit run` starts on each host, and takes it along.
LOST = SCRIPTS["own_error/one_rank"].replace("raise KeyError('label')", "os.kill(os.getppid(), 9)")


def own(script: str, name: str = "train.py", *options: str) -> str:
    """Output of `hvdkit run -np 2 --gloo OPTIONS python NAME`."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        Path(folder, name).write_text(script)
        return output(
            [str(BIN / "hvdkit"), "run", "-np", "2", "--gloo", *options, "python", name], Path(folder)
        )


FAILURES = [
    Failure("own_error", "hvdkit_run", partial(own, SCRIPTS["own_error/one_rank"])),
    Failure("killed", "hvdkit_run", partial(own, SCRIPTS["killed/signal_9"])),
    Failure("ended_early", "hvdkit_run", partial(own, SCRIPTS["ended_early/exit_code"])),
    Failure("host_lost", "hvdkit_run", partial(own, LOST)),
    Failure("not_migrated", "hvdkit_run", partial(own, DDP, "train.py", "--force")),
    Failure("not_migrated", "local_rank_hvdkit_run", partial(own, LOCAL_RANK)),
    Failure("not_migrated", "horovodrun_gloo", partial(job, DDP)),
    Failure("not_migrated", "no_group_mpi", partial(job, NO_GROUP, "mpi")),
    Failure("not_started", "hvdkit_run", partial(own, HOROVOD, "horovod.py")),
    Failure("module_hidden", "horovodrun_gloo", partial(job, HOROVOD, name="horovod.py")),
    Failure("module_hidden", "torch_mpi", partial(job, TORCH, "mpi", name="torch.py")),
]
