"""Too many files are open."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="open_files",
    title="too many files are open{where}",
    why=(
        "DataLoader workers hand tensors over as open files, each connection to another rank is one, "
        "and the limit of a process is 1024 in many places."
    ),
    fix=(
        "ulimit -n 65535 on every host before the ranks start (limits.conf, LimitNOFILE, docker run "
        "--ulimit nofile=65535); or torch.multiprocessing.set_sharing_strategy('file_system')"
    ),
    find=says(
        r"Too many open files",
        r"received 0 items of ancdata",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: received 0 items of ancdata
""",
    level=Level.OWN,
    source="https://github.com/pytorch/pytorch/issues/973",
)
