"""An ssh server closes connections."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="ssh_closed",
    title="a host's ssh server closed the connection: {said}",
    why=(
        "It takes no more logins that are under way at once (MaxStartups, 10 unless set), or refuses "
        "this host (hosts.deny, a ban after failed logins), or is not the server that was meant at that "
        "port."
    ),
    fix=(
        "`ssh -o BatchMode=yes HOST true` must succeed; with many hosts MaxStartups 200 in sshd_config "
        "there, or mpirun --mca plm_rsh_num_concurrent 8"
    ),
    find=says(
        r"(?P<said>(?:kex|ssh)_exchange_identification: [^\n]+)",
        r"(?P<said>Connection (?:closed|reset) by \S+ port \d+)",
        r"(?P<said>Connection timed out during banner exchange)",
        r"Received disconnect from [^\n]*: (?P<said>Too many authentication failures)",
        in_job=True,
    ),
    excerpt="""\
kex_exchange_identification: Connection closed by remote host
""",
    general={"said": "MESSAGE"},
    source="https://man.openbsd.org/sshd_config#MaxStartups",
)
