"""`hvdkit run` looked at the hosts and started nothing."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="not_started",
    title="hvdkit run did not start the job: {seen}",
    why="It checks the hosts before it starts anything: {why}",
    fix="{fix}",
    find=says(
        # What one of the checks found comes before what the command says of all.
        r"^error +[\w-]+ +(?P<seen>[^\n]+)\n +why: (?P<why>[^\n]+)\n +fix: (?P<fix>[^\n]+)"
        r"(?=\n(?:[^\n]*\n)*hvdkit run: )",
        r"^hvdkit run: (?P<seen>[^\n]+)\n(?:  [^\n]*\n)*?  why: (?P<why>[^\n]+)\n  fix: (?P<fix>[^\n]+)",
        r"^hvdkit run: (?P<seen>[^\n]+)\n  fix: (?P<fix>[^\n]+)(?P<why>)",
    ),
    excerpt="""\
error   horovod  localhost: /proj/horovod.py hides the package: `import horovod.torch.mpi_ops` fails: ...
                   why: Python takes it instead
""",
    general={
        "seen": "what its checks found",
        "why": "what it found would end or corrupt the job",
        "fix": "what its output says at the line; hvdkit run --force starts all the same",
    },
)
