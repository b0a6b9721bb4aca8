"""HVD103: get_rank, get_world_size, barrier and the like become Horovod's."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

FUNCTIONS = {
    "torch.distributed.get_rank": "rank",
    "torch.distributed.get_world_size": "size",
    "torch.distributed.get_node_local_rank": "local_rank",
    "torch.distributed.is_initialized": "is_initialized",
    "torch.distributed.barrier": "barrier",
    "torch.distributed.destroy_process_group": "shutdown",
}
IGNORED = {"torch.distributed.barrier": {"device_ids"}}


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*FUNCTIONS):
        call = site.node
        text = f"{facts.hvd(site.names)}.{FUNCTIONS[site.name]}()"
        given = {keyword.arg for keyword in call.keywords} - IGNORED.get(site.name, set())
        short = site.name.rpartition(".")[2]
        if call.args or given:
            message = f"{short} is asked about a group of ranks"
            advice = (
                "make the group a process set (hvd.add_process_set) and ask it: process_set.rank(), .size()"
            )
            yield facts.manual("HVD103", site.names, call, message, advice)
            continue
        yield facts.safe(
            "HVD103",
            site.names,
            call,
            f"{short} becomes {text}",
            edits.replace,
            site.names.source,
            site.node,
            text,
        )


RULE = Rule(
    id="HVD103",
    title="rank, size and barrier become Horovod's",
    what="Replaces get_rank, get_world_size, is_initialized, barrier and destroy_process_group.",
    why="There is no process group any more: torch would raise that it has not been initialized.",
    safety="Safe: same numbers, same meaning. A call about a group of ranks is left to the person.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            if dist.is_initialized() and dist.get_rank() == 0:
                print(dist.get_world_size())
            dist.barrier(device_ids=[0])
            dist.destroy_process_group()
            """,
            """\
            import horovod.torch as hvd

            if hvd.is_initialized() and hvd.rank() == 0:
                print(hvd.size())
            hvd.barrier()
            hvd.shutdown()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            print(dist.get_rank(group))
            """,
            reason="the rank within a group has no counterpart before the group is a process set",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Ranks:
                def get_rank(self):
                    return 0

            Ranks().get_rank()
            """,
            reason="a method of that name is not torch.distributed's",
        ),
    ),
)
