"""Ranks or daemons connect over an interface that does not lead to the other host."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="network_route",
    title="the ranks do not reach each other over the network: {said}",
    why=(
        "Each host sends the others all of its addresses, including those of interfaces that lead nowhere "
        "else, such as docker0 or virbr0, and the other side tries one of them; or a firewall drops the "
        "connection."
    ),
    fix=(
        "`ip -brief address` on each host shows the network that they share: horovodrun "
        "--network-interfaces eth0; under mpirun --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include "
        "eth0 -x NCCL_SOCKET_IFNAME=eth0 (or btl_tcp_if_exclude lo,docker0); under Gloo "
        "HOROVOD_GLOO_IFACE=eth0; between hosts all TCP ports must be open"
    ),
    find=says(
        r"mca_btl_tcp_\w+\] (?P<said>connect\(\) to [^\n]* failed: [^\n]*(?:No route to host|refused"
        r"|timed out|unreachable)[^\n]*)",
        r"WARN (?:Net : )?(?P<said>(?:Call to )?[Cc]onnect[^\n]* (?:failed|timeout) ?: "
        r"(?:No route to host|Connection refused|Connection timed out|Network is unreachable))",
        r"(?P<said>connect \[[^\]]+\](?::\d+)?: (?:No route to host|Connection timed out"
        r"|Network is unreachable))",
        r"(?P<said>(?:unable to complete a TCP connection|failed to TCP connect to a peer MPI process))",
        r"(?P<said>received unexpected process identifier)",
        r"(?P<said>Open MPI accepted a TCP connection from what appears to be)",
        r"tcp_peer_\w+: (?P<said>connect\(\) to \S+ failed: [^\n]+)",
        in_job=True,
    ),
    excerpt="""\
[train04][[9281,1],1][btl_tcp_endpoint.c:796:mca_btl_tcp_endpoint_complete_connect] connect() t ...
""",
    level=Level.WAITS,
    general={"said": "no route, refused or no answer"},
    source="https://github.com/horovod/horovod/issues/195",
)
