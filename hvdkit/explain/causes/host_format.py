"""A host list that horovodrun cannot read."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="host_format",
    title="horovodrun cannot read the list of hosts",
    why=(
        "It takes -H host:slots,host:slots, and a host file with `host slots=N` on each line: no "
        "blank line, no comment, no max_slots."
    ),
    fix="horovodrun -np 2 -H localhost:2 python train.py",
    find=says(
        r"Invalid host input, please make sure it has (?P<detail>.*)",
        r"ValueError: not enough values to unpack \(expected 2, got 1\)",
        r"(?s)parse_host_files?.{0,300}IndexError: list index out of range",
    ),
    excerpt="""\
    args.hosts = hosts.parse_host_files(args.hostfile)
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
)
