"""A port is taken."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="address_in_use",
    title="a port is taken{where}",
    why=(
        "A different program, or a remnant of an earlier job, listens there; or several ranks open the "
        "same port, as when horovodrun starts torch.distributed.launch, or each rank starts its own server."
    ),
    fix=(
        "ss -ltnp on that host shows who has it: end what an earlier job left; start "
        "torch.distributed.launch without horovodrun, and servers of the script on rank 0 alone"
    ),
    find=says(
        r"Address already in use",
        in_job=True,
    ),
    excerpt="""\
OSError: [Errno 98] Address already in use
""",
    level=Level.OWN,
    source="https://github.com/horovod/horovod/issues/3930",
)
