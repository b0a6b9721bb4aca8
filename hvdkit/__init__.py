"""hvdkit: a PyTorch or TensorFlow training script becomes a correct, fast Horovod job.

Nothing is imported here: `hvdkit.torch` needs torch and Horovod, the commands need neither.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

__version__ = "0.1.0"


def cluster(
    nodes: Sequence[Mapping[str, str]] | str | os.PathLike[str],
    gpus_per_node: int = 1,
    ctrl_port: int = 0,
) -> None:
    """Start this script's ranks on the nodes of a list, without ssh and without a launcher.

    Call it before `init()`, in a script that is started as `python train.py` on every node. Each process
    finds its node by its own addresses and starts the same script once for each local rank; there the call
    returns at once. The first process ends with the job. Node 0 keeps standard output. Under horovodrun or
    mpirun nothing is done.

        hvdkit.cluster(nodes=[{"addr": "192.168.1.12"}, {"addr": "192.168.1.11"}], gpus_per_node=2)

    Args:
        nodes: one table a node, with its `addr`, an address or name that all nodes reach, and a
            `gpus_per_node` of its own where it differs; or a TOML file with `nodes`, `gpus_per_node` and
            `ctrl_port`, which takes the place of all three. One node is enough.
        gpus_per_node: ranks on each node that says nothing else.
        ctrl_port: the port of node 0 where the nodes meet; 0 is 9988, or any for a single node.

    Raises:
        SystemExit: the first process ends with the job: 0; 1 where a rank failed; 2 where the job could not
            be started, with what is wrong on standard error.
    """
    from hvdkit.bootstrap.cluster import cluster as start

    start(nodes, gpus_per_node, ctrl_port)
