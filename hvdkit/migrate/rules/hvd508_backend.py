"""HVD508: monitored_barrier becomes barrier, and get_backend the backend that Horovod was built with."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

BARRIER = "torch.distributed.monitored_barrier"
BACKEND = "torch.distributed.get_backend"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(BARRIER, BACKEND):
        names, call = site.names, site.node
        hvd = facts.hvd(names)
        if site.name == BARRIER:
            text = f"{hvd}.barrier()"
            message = "monitored_barrier becomes barrier; HOROVOD_STALL_SHUTDOWN_TIME_SECONDS is its timeout"
            group = bool(call.args) or any(keyword.arg == "group" for keyword in call.keywords)
        else:
            text = f'("nccl" if {hvd}.nccl_built() else "gloo")'
            message = "the backend is chosen when Horovod is built, and is asked of the build"
            group = bool(call.args or call.keywords)
        if group:
            advice = "ask without the group: all process sets have the backend that Horovod was built with"
            yield facts.manual("HVD508", names, call, "a group of ranks is asked", advice)
            continue
        yield facts.safe("HVD508", names, call, message, edits.recast, names.source, call, [text])


RULE = Rule(
    id="HVD508",
    title="monitored_barrier and get_backend",
    what="Replaces monitored_barrier by hvd.barrier and get_backend by what hvd.nccl_built says.",
    why="There is no process group to ask.",
    safety="Safe: same meaning. The barrier's timeout becomes an environment variable.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.monitored_barrier(timeout=limit)
            on_gpu = dist.get_backend() == "nccl"
            """,
            """\
            import horovod.torch as hvd

            hvd.barrier()
            on_gpu = ("nccl" if hvd.nccl_built() else "gloo") == "nccl"
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            print(dist.get_backend(group))
            """,
            reason="which group is meant cannot be seen",
            reported=True,
        ),
        Keep(
            """\
            import matplotlib

            print(matplotlib.get_backend())
            """,
            reason="another library's function of that name",
        ),
    ),
)
