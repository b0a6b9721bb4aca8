"""A job that lost a rank or a host is started again, on the hosts that answer.

The script starts from its beginning and finds its checkpoint itself (hvdkit.torch.resume). No rank outlives
its attempt, nothing is handed from one attempt to the next, and nobody joins a job that runs.
"""

from __future__ import annotations

import time
from dataclasses import replace

from hvdkit.errors import HvdkitError
from hvdkit.examination.session import Report
from hvdkit.hosts.lists import HostList, enough
from hvdkit.launch.attempt import Wanted, attempt, examined
from hvdkit.launch.job import Outcome
from hvdkit.launch.screen import Screen

_FIRST_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 60.0


def run(wanted: Wanted, ranks: int, least: int, screen: Screen) -> Outcome:
    """Start a job, and at most `wanted.restarts` times again where a rank fails or is lost.

    ranks: wanted. least: so many are enough for another start; where fewer have room, that start is missed.
    Raises: PreflightError, where the first start is prevented, and what job.run raises.
    """
    say = screen.say
    used = enough(wanted.named, ranks)
    outcome = attempt(wanted, used, ranks, examined(wanted, used, ranks, say), 0, screen)
    pause = _FIRST_PAUSE_S
    for number in range(1, wanted.restarts + 1):
        if outcome.code == 0 or outcome.parted is not None:
            break
        say(f"restart {number} of {wanted.restarts} in {pause:.0f} s")
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)
        report = examined(wanted, wanted.named, ranks, say)
        left, lost = _answering(wanted.named, report)
        if lost:
            say(f"no answer from {', '.join(lost)}")
        if left.slots < least:
            say(f"no start: {left.slots} of {ranks} ranks have a host that answers, and --min-np is {least}")
            continue
        # What stands between a lost host and a job is no reason against one without it.
        report = replace(report, findings=tuple(each for each in report.findings if each.host not in lost))
        now = min(ranks, left.slots)
        used = enough(left, now)
        say(f"starting {now} {'rank' if now == 1 else 'ranks'} on {used.argument}")
        try:
            outcome = attempt(wanted, used, now, report, number, screen)
        except HvdkitError as error:
            say(f"no start: {error}")
    return outcome


def _answering(named: HostList, report: Report) -> tuple[HostList, list[str]]:
    """The hosts that took part in the examination, and the names of the others."""
    hosts = tuple(host for host in named.hosts if host.name in report.hosts)
    return replace(named, hosts=hosts), [host.name for host in named.hosts if host not in hosts]
