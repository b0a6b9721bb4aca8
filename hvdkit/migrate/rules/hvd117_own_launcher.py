"""HVD117: processes that a launcher of the project's own starts are worlds of one for plain Horovod."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.own_launchers import ranks_by_hand
from hvdkit.migrate.plan import Finding

MESSAGE = "processes get RANK in their environment here, and plain Horovod treats each as a separate job"
ADVICE = (
    "start the script with horovodrun in place of this launcher, or migrate with --target hvdkit, whose "
    "init() reads these variables: otherwise every rank trains alone, without any error"
)


def check(facts: Facts) -> Iterator[Finding]:
    for site in ranks_by_hand(facts) if facts.options.target == "horovod" else ():
        yield manual("HVD117", site.names, site.node, MESSAGE, ADVICE)


RULE = Rule(
    id="HVD117",
    title="a launcher of the project's own starts the ranks",
    what=(
        "Reports the calls of subprocess that give a process RANK, and LOCAL_RANK or WORLD_SIZE, in its "
        "environment, in a project with a program that trains on several ranks."
    ),
    why=(
        "Many projects contain a copy of torch's launcher, which starts whatever command it is given. "
        "Horovod does not read what they set: hvd.size() is 1 in each process."
    ),
    safety="Nothing is edited: the launcher may start other programs, too.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import os
            import subprocess
            import sys
            import torch.distributed as dist

            def train():
                dist.init_process_group("nccl")

            def start(size, command):
                env = os.environ.copy()
                env["WORLD_SIZE"] = str(size)
                for local_rank in range(size):
                    env["RANK"] = str(local_rank)
                    subprocess.Popen(command, env=env)

            if sys.argv[1] == "train":
                train()
            else:
                start(2, sys.argv)
            """,
            reason="each process is a job of size 1",
            reported=True,
        ),
        Keep(
            """\
            import os
            import subprocess
            import torch.distributed as dist

            dist.init_process_group("nccl")
            env = dict(os.environ, RANK="first")
            subprocess.run(["sort"], env=env)
            subprocess.run(["date"], env={**os.environ, "TZ": "UTC"})
            settings = {"RANK": 0, "WORLD_SIZE": 1}
            subprocess.run(["date"])
            """,
            reason="a number alone is not a rank, and the others are given none",
        ),
    ),
)
