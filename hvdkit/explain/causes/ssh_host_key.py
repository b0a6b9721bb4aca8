"""A host's ssh key has changed or is unknown."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="ssh_host_key",
    title="ssh does not trust a host's key",
    why=("The host was reinstalled since the last connection, or is new: ssh stops instead of asking."),
    fix=(
        "ssh-keygen -R HOST, then ssh-keyscan HOST >> ~/.ssh/known_hosts, once you have made sure"
        " that it is the right machine"
    ),
    find=says(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        r"Host key verification failed",
        in_job=True,
    ),
    excerpt="""\
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
""",
)
