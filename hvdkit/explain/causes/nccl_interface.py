"""NCCL finds no interface."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="nccl_interface",
    title="NCCL finds no network interface to use{where}",
    why=(
        "NCCL_SOCKET_IFNAME names one that this host does not have, or all that are there are excluded "
        "(lo and docker0 are by default)."
    ),
    fix=(
        "`ip -brief address` on each host, then NCCL_SOCKET_IFNAME=eth0 with the interface that all "
        "hosts share; =^docker0,lo excludes"
    ),
    find=says(
        r"(?:Bootstrap|NET/Socket|Net) ?: no (?:usable |socket |NCCL_SOCKET_IFNAME )?interfaces? found",
        r"connecting to address\s+with family \d+ is neither AF_INET",
        in_job=True,
    ),
    excerpt="""\
gpu1:1958:1958 [3] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found
""",
    on_gpu=True,
    source="https://github.com/NVIDIA/nccl/issues/1837",
)
