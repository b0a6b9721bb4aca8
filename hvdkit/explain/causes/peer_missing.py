"""A rank never came to the rendezvous."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="peer_missing",
    title="a rank waited for another one that never came{where}",
    why=(
        "The ranks did not all reach hvd.init() in time: one was not started, ended before, or is"
        " still loading."
    ),
    fix=(
        "look at what the other ranks print first; if they are only slow: horovodrun --gloo-"
        "timeout-seconds 300"
    ),
    find=says(
        r"Wait timeout after (?P<seconds>\d+) ?(?:ms|seconds?)? for key\(s\): (?P<key>\S+)",
        r"(?P<key>)Connect timeout \[(?P<address>[^\]]+)\]",
        r"/gloo/[^\n]*(?P<key>)connect \[(?P<address>[^\]]+)\](?::\d+)?: Connection refused",
    ),
    excerpt="""\
  what():  [horovod/common/gloo/http_store.cc:54] [horovod/common/gloo/http_store.cc:54] Wait ti ...
""",
    level=Level.WAITS,
)
