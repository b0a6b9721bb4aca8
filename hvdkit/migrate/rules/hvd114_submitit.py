"""HVD114: tasks that submitit starts are worlds of one for plain Horovod."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding

EXECUTORS = ("submitit.AutoExecutor", "submitit.SlurmExecutor")
MESSAGE = "submitit starts one process per rank, and plain Horovod treats each of them as a separate job"
ADVICE = (
    "migrate with --target hvdkit, whose init() reads Slurm's variables, or let submitit start one task "
    "that calls horovodrun: otherwise every rank trains alone, without any error"
)


def check(facts: Facts) -> Iterator[Finding]:
    for names, node, _, _ in mentions(facts, EXECUTORS) if facts.options.target == "horovod" else ():
        if "ddp" in kinds_of(facts, names):
            yield manual("HVD114", names, node, MESSAGE, ADVICE)


RULE = Rule(
    id="HVD114",
    title="submitit starts the ranks",
    what="Reports the executors of submitit in programs that train on several ranks.",
    why=(
        "submitit asks Slurm for one task a GPU, and the script reads its rank from Slurm's variables. "
        "Horovod knows horovodrun and MPI: without them hvd.size() is 1 in every task."
    ),
    safety="Nothing is edited: how a job is started on a cluster is for its owner to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import submitit
            import torch.distributed as dist

            def main():
                dist.init_process_group("nccl")

            executor = submitit.AutoExecutor(folder="jobs")
            executor.update_parameters(tasks_per_node=8, nodes=2)
            executor.submit(main)
            """,
            reason="sixteen tasks, each with hvd.size() == 1",
            reported=True,
        ),
        Keep(
            """\
            import submitit

            executor = submitit.AutoExecutor(folder="jobs")
            executor.submit(print, "done")
            """,
            reason="nothing is trained on several ranks here",
        ),
    ),
)
