"""HVD510: functions of torch.distributed that Horovod has no counterpart of, each with what to write."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

PREFIX = "torch.distributed."
# What people call -> what to write instead. Sending between two ranks is refused elsewhere.
ADVICE = {
    "scatter": "broadcast the list with hvd.broadcast_object(list, root_rank=src) and use its item hvd.rank()",
    "reduce_scatter": "use hvd.reducescatter(tensor, op=hvd.Sum), which returns this rank's part",
    "reduce_scatter_tensor": "use hvd.reducescatter(tensor, op=hvd.Sum), which returns this rank's part",
    "_reduce_scatter_base": "use hvd.reducescatter(tensor, op=hvd.Sum), which returns this rank's part",
    "monitored_barrier": "write hvd.barrier(); HOROVOD_STALL_SHUTDOWN_TIME_SECONDS is its timeout",
    "all_to_all_single": (
        "use hvd.alltoall(input), which returns the output; with splits=torch.tensor(sizes, "
        "dtype=torch.int32) it returns the sizes received, too"
    ),
    "all_to_all": "join the list with torch.cat, exchange it with hvd.alltoall and splits, and split the result",
    "all_reduce_coalesced": "write hvd.grouped_allreduce_(tensors, op=hvd.Sum)",
    "all_gather_coalesced": "write hvd.grouped_allgather(tensors)",
    "reduce_scatter_coalesced": "write hvd.grouped_reducescatter(tensors, op=hvd.Sum)",
    "all_reduce_multigpu": "drive one GPU with each process, then write hvd.allreduce_(tensor, op=hvd.Sum)",
    "all_gather_multigpu": "drive one GPU with each process, then write hvd.allgather(tensor)",
    "new_subgroups": "make each group by hvd.add_process_set(ranks), the same sets in the same order on all ranks",
    "new_subgroups_by_enumeration": "make each group by hvd.add_process_set(ranks), in the same order on all ranks",
    "get_process_group_ranks": "keep the list of ranks that the process set was created from",
    "get_group_rank": "ask the process set: process_set.rank()",
    "get_global_rank": "keep the list of ranks that the process set was created from, and index it",
}
# torch.distributed.nn's functions pass gradients back, whichever they are.
WITH_GRADIENTS = (
    "write hvd.allreduce(tensor, op=hvd.Sum), which sums the gradients, too, or hvd.allgather, which "
    "averages them in the backward pass where torch sums"
)
NO_COLLECTIVES = ("nn.api.", "nn.jit.", "nn.RemoteModule")


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(PREFIX):
        name = site.name.removeprefix(PREFIX)
        if name in ADVICE:
            message = f"Horovod has nothing that does what {name} does in one call"
            yield manual("HVD510", site.names, site.node, message, ADVICE[name])
        elif name.startswith("nn.") and not name.startswith(NO_COLLECTIVES):
            message = f"{name} passes gradients through the collective"
            yield manual("HVD510", site.names, site.node, message, WITH_GRADIENTS)


RULE = Rule(
    id="HVD510",
    title="collectives without a counterpart",
    what="Reports the functions of torch.distributed that have no counterpart, each with what to write instead.",
    why="What replaces them depends on sizes and groups that only the script's author knows.",
    safety="Nothing is rewritten: a marker is left above each call.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.all_to_all(received, sent)
            """,
            """\
            import torch.distributed as dist

            # hvdkit: TODO[HVD510] join the list with torch.cat, exchange it with hvd.alltoall and splits, and split the result
            dist.all_to_all(received, sent)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            x.scatter(1, index, 1.0)
            """,
            reason="a tensor's scatter has nothing to do with ranks",
        ),
    ),
)
