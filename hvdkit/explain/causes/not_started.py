"""`hvdkit run` looked at the hosts and started nothing."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="not_started",
    title="hvdkit run did not start the job: {seen}",
    why="It looks before it starts: {why}.",
    fix="{fix}",
    find=says(
        r"^hvdkit run: (?P<seen>[^\n]+)\n(?:  [^\n]*\n)*?  why: (?P<why>[^\n]+)\n  fix: (?P<fix>[^\n]+)",
        r"^hvdkit run: (?P<seen>[^\n]+)\n  fix: (?P<fix>[^\n]+)(?P<why>)",
    ),
    excerpt="""\
hvdkit run: 1 of the checks before the start failed: horovod
  why: no rank was started
""",
    general={
        "seen": "what the checks before the start found",
        "why": "no rank was started",
        "fix": "what each line of its output says; hvdkit run --force starts all the same",
    },
)
