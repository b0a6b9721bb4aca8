"""A host does not reach horovodrun's services."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="network_driver",
    title="another host does not reach the {service} service at any of its addresses",
    why=(
        "Before the job, horovodrun starts a small service on each host, and the hosts try each other's "
        "addresses ({addresses}). None answered: a firewall is between, or the addresses are of "
        "interfaces that lead nowhere else (docker0, lo)."
    ),
    fix=(
        "horovodrun --network-interfaces eth0 with an interface of the network that all hosts share "
        "(`ip -brief address`), which skips this search; between hosts all TCP ports must be open"
    ),
    find=says(
        r"unable to connect to (?:the )?(?:horovod(?:run)? )?(?P<service>\w+)"
        r"(?: service)?(?: #\d+)? on any of the following addresses: \{?(?P<addresses>[^\n}]+)",
        r"Unable to connect to the (?:horovod(?:run)? )?(?P<service>\w+)(?: service)?(?: #\d+)?"
        r" on any of the addresses: \{?"
        r"(?P<addresses>[^\n}]+)",
    ),
    excerpt="""\
horovod.run.common.util.network.NoValidAddressesFound: Horovodrun was unable to connect to hor ...
""",
    general={"service": "driver", "addresses": "which the log lists"},
    source="https://github.com/horovod/horovod/issues/1969",
)
