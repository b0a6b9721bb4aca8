"""The checks, one a file, in the order in which they are reported."""

from __future__ import annotations

from hvdkit.examination.check import Check
from hvdkit.examination.checks import (
    clocks,
    container,
    gpus,
    horovod,
    hvdkit_version,
    infiniband,
    interfaces,
    leftovers,
    limits,
    mpi,
    names,
    network,
    operations,
    port,
    proxies,
    python,
    reach,
    script,
    shm,
    ssh,
    tensorflow,
    threads,
    torch,
    variables,
)

_MODULES = (
    ssh, python, hvdkit_version, torch, tensorflow, horovod, operations, mpi, gpus, script, shm, limits,
    threads, variables, proxies, interfaces, infiniband, container, port, leftovers, names, network, reach,
    clocks,
)  # fmt: skip
CHECKS: dict[str, Check] = {module.CHECK.id: module.CHECK for module in _MODULES}
