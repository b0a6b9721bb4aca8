"""More ranks than slots."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Match, says
from hvdkit.explain.log import Log

_SAYS = says(
    r"Requested more processes \((?P<asked>\d+)\) than there are available slots \((?P<there>\d+)\)",
    r"There are not enough slots available in the system to satisfy the (?P<asked>\d+)",
    r"ValueError: Process number should not be larger than total available slots",
)


def find(log: Log) -> Match | None:
    match = _SAYS(log)
    return Match(match.line, {"asked": "too many", **match.facts}) if match else None


CAUSE = Cause(
    id="slots",
    title="{asked} ranks were requested and the hosts have fewer slots",
    why=(
        "-H host:slots or the host file says how many ranks each host takes; without it mpirun counts cores."
    ),
    fix="horovodrun -np N -H host1:SLOTS,host2:SLOTS with slots that add up to N",
    find=find,
    excerpt="""\
There are not enough slots available in the system to satisfy the 64
slots that were requested by the application:
""",
    general={"asked": "N"},
)
