"""NCCL lost a peer."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="nccl_peer",
    title="another rank had ended first: NCCL lost its connection{where}",
    why=(
        "`Connection closed by remote peer` and `remote process exited` are what NCCL says on the ranks "
        "that are left. The rank that ended has its own words, before it, or its launcher's."
    ),
    fix=(
        "take the output of all ranks and hosts: horovodrun --output-filename logs ..., then hvdkit "
        "explain --log job.log"
    ),
    find=says(
        r"WARN (?:Net : )?(?:Call to recv from [^\n]*|[^\n]*)[Cc]onnection (?:closed|reset) by "
        r"(?:remote )?peer",
        r"ncclRemoteError|remote process exited or there was a network error",
        in_job=True,
    ),
    excerpt="""\
seyun:17283:17549 [3] include/socket.h:371 NCCL WARN Connection closed by remote peer
""",
    level=Level.FOLLOWS,
    on_gpu=True,
    source="https://github.com/horovod/horovod/issues/666",
)
