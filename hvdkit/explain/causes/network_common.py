"""The hosts have no interface in common."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="network_common",
    title="the hosts have no network interface in common",
    why=(
        "horovodrun looks for an interface that has the same name on every host and leads to the "
        "others, and there is none: {found}"
    ),
    fix=(
        "name the interface of each host: horovodrun --network-interfaces eno1,ens3 (or rename them "
        "alike); where --gloo still wants one name, HOROVOD_GLOO_IFACE per host; hvdkit run finds the "
        "way by address"
    ),
    find=says(
        r"Unable to find a set of common task-to-task communication interfaces: (?P<found>[^\n]+)",
        r"Common interface(?:s)? (?:was |were )?not found(?P<found>[^\n]*)",
    ),
    excerpt="""\
Exception: Unable to find a set of common task-to-task communication interfaces: [('eno1', 'lo'),  ...
""",
    general={"found": "INTERFACES"},
    source="https://github.com/horovod/horovod/issues/1068",
)
