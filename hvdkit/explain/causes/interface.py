"""The network interface is not there."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="interface",
    title="no network interface is found for {name}{where}",
    why=(
        "Gloo and MPI use the interface that --network-interfaces or HOROVOD_GLOO_IFACE names; on"
        " this host it has another name, no IPv4 address, or is down."
    ),
    fix=("ip -brief address on each host; horovodrun --network-interfaces with one that all hosts have"),
    find=says(
        r"Unable to find address for: (?P<name>\S+)",
        r"No interface is found for address (?P<name>\S+?)\.?$",
    ),
    excerpt="""\
  what():  [enforce fail at /home/user/.cache/hvdkit/.build-pcjsosyi/pip-wheel-285djop_/horovod_ ...
""",
    general={"name": "the given name"},
)
