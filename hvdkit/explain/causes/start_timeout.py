"""The hosts did not answer in time."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="start_timeout",
    title="horovodrun gave up while it was {what}",
    why=(
        "It starts a small service on each host and waits --start-timeout seconds (30) for all of them: a "
        "host is slow, its firewall drops the connection back, or its interface has another name."
    ),
    fix="horovodrun --start-timeout 300; between hosts all TCP ports must be open",
    find=says(
        r"Exception: Timed out (?P<what>waiting for [\w ]+)\. (?!Please check that you have enough resources)"
    ),
    excerpt="""\
horovod.runner.common.util.timeout.TimeoutException: Timed out waiting for tasks to start. Pleas ...
Traceback (most recent call last):
""",
    general={"what": "waiting for the hosts"},
)
