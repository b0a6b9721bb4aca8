"""The rendezvous server cannot be reached."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="rendezvous",
    title="a rank does not reach the rendezvous server{where}",
    why=(
        "Under Gloo the ranks find each other through a small rendezvous server next to rank 0 "
        "(HOROVOD_GLOO_RENDEZVOUS_ADDR and _PORT): it is not up, it has ended, a firewall is "
        "between, or HOROVOD_* variables of an earlier job are still set."
    ),
    fix=(
        "start with horovodrun, with HOROVOD_GLOO_* unset and a --network-interfaces that all "
        "hosts reach; between hosts all TCP ports must be open"
    ),
    find=says(
        r"HTTP (?:GET|PUT) request failed",
        r"what\(\):\s+HTTP request failed",
    ),
    excerpt="""\
[2026-11-21 23:44:11.573884: E /home/user/.cache/hvdkit/.build-pcjsosyi/pip-wheel-285djop_/horov ...
terminate called after throwing an instance of 'std::runtime_error'
""",
    level=Level.WAITS,
)
