"""One rank of a script that torchrun starts, on a host of a job that horovodrun has placed.

    horovodrun -np 2 -H a:1,b:1 python -m hvdkit.verify.torchrun_rank ADDRESS PORT COMMAND...

The original and its migration are then placed by the same launcher, on the same hosts, without torchrun's
agent on each of them, which would import torch once more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NoReturn

# https://pytorch.org/docs/stable/elastic/run.html#environment-variables, each by the one of horovodrun.
FROM_HOROVOD = {
    "RANK": "HOROVOD_RANK",
    "WORLD_SIZE": "HOROVOD_SIZE",
    "LOCAL_RANK": "HOROVOD_LOCAL_RANK",
    "LOCAL_WORLD_SIZE": "HOROVOD_LOCAL_SIZE",
    "GROUP_RANK": "HOROVOD_CROSS_RANK",
    "GROUP_WORLD_SIZE": "HOROVOD_CROSS_SIZE",
    "ROLE_RANK": "HOROVOD_RANK",
    "ROLE_WORLD_SIZE": "HOROVOD_SIZE",
}


def as_torchrun_sets(environ: Mapping[str, str], address: str, port: str) -> dict[str, str]:
    """The environment of the rank, with torchrun's variables in the place of horovodrun's."""
    kept = {name: value for name, value in environ.items() if not name.startswith("HOROVOD_")}
    return {
        **kept,
        **{name: environ[source] for name, source in FROM_HOROVOD.items()},
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
        "ROLE_NAME": "default",
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
    }


def main() -> NoReturn:
    """Become the script's own process."""
    address, port, *command = sys.argv[1:]
    os.execve(command[0], command, as_torchrun_sets(os.environ, address, port))


if __name__ == "__main__":
    main()
