"""HVD912: a library that asks torch.distributed for the ranks itself finds no process group under Horovod."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule

NO_GROUP = "asks torch.distributed itself, which has no process group under Horovod"
TIMM_START = "timm.utils.init_distributed_device"
DGL_SHARES = (
    "leave use_ddp away, and give each rank its own share of the indices or graphs, equally many on each, by "
    "hvd.rank() and hvd.size()"
)


@dataclass(frozen=True)
class Talk:
    """What to write instead, the argument that makes it talk (None: it always does), and what it does."""

    advice: str
    argument: str | None = None
    does: str = NO_GROUP


# What libraries send, or ask, by torch.distributed.
TALKS = {
    "timm.data.create_loader": Talk(
        "set dataset.transform = timm.data.create_transform(...), as it does, and make a "
        "torch.utils.data.DataLoader with sampler=DistributedSampler(dataset, num_replicas=hvd.size(), "
        "rank=hvd.rank())",
        argument="distributed",
    ),
    "timm.utils.reduce_tensor": Talk("write hvd.allreduce(tensor, op=hvd.Average) in its place"),
    "timm.utils.distribute_bn": Talk(
        "write hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0) in its place"
    ),
    TIMM_START: Talk("call hvd.init() and torch.cuda.set_device(hvd.local_rank()) in its place"),
    "pytorchvideo.layers.distributed.init_distributed_training": Talk(
        "write what its helpers do with hvd.local_rank(), hvd.allgather() and the like in the project"
    ),
    **{
        f"dgl.dataloading.{module}{name}": Talk(DGL_SHARES, argument="use_ddp")
        for module in ("", "dataloader.")
        for name in ("DataLoader", "NodeDataLoader", "EdgeDataLoader", "GraphDataLoader")
    },
    "dgl.graphbolt.DistributedItemSampler": Talk(
        "make a dgl.graphbolt.ItemSampler of this rank's share of the items, equally many on each rank"
    ),
    "dgl.multiprocessing.shared_tensor": Talk("share the tensor by a file, or gather it by hvd.allgather()"),
    "dgl.multiprocessing.call_once_and_share": Talk(
        "call the function on rank 0, and send what it gives by hvd.broadcast_object()"
    ),
    "dgl.distributed.initialize": Talk(
        "stay with DGL's launcher, or train on a graph that each rank holds whole",
        does=(
            "starts graph servers beside the trainers, which DGL's launcher starts under torch.distributed: "
            "Horovod's launcher starts neither"
        ),
    ),
}
# What starts the ranks shows by itself that they are meant.
STARTS = (TIMM_START, "dgl.distributed.initialize")


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*TALKS):
        talk = TALKS[site.name]
        if talk.argument and _switched_off(site.node, talk.argument):
            continue
        if "ddp" in facts.kinds(site.names) or site.name in STARTS:
            yield facts.refused("HVD912", site.names, site.node, f"{site.name} {talk.does}", talk.advice)


def _switched_off(call: ast.Call, argument: str) -> bool:
    value = keyword(call, argument)
    return value is None or (isinstance(value, ast.Constant) and not value.value)


RULE = Rule(
    id="HVD912",
    title="libraries that talk through torch.distributed are refused",
    what=(
        "Leaves programs alone that hand the ranks to timm's loader, reductions or start, to pytorchvideo's, or "
        "to DGL's loaders, shared tensors or distributed graphs."
    ),
    why="What these do stands inside the library: with no process group there they raise an error, far from here.",
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from pytorchvideo.layers.distributed import get_local_rank, init_distributed_training

            torch.distributed.init_process_group("nccl")
            init_distributed_training(8, 0)
            model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[get_local_rank()])
            """,
            reason="it makes a process group for each host",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from timm.data import create_loader
            from timm.utils import *

            torch.distributed.init_process_group("nccl")
            loader = create_loader(dataset, (3, 224, 224), 32, is_training=True, distributed=args.distributed)
            for x, y in loader:
                loss = model(x).sum()
                loss.backward()
                print(reduce_tensor(loss, 2))
            """,
            reason="timm makes a DistributedSampler and sums by torch.distributed",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from timm.data import create_loader

            torch.distributed.init_process_group("nccl")
            loader = create_loader(dataset, (3, 224, 224), 32, distributed=False)
            """,
            reason="this loader is whole, and asks for no ranks",
        ),
        Keep(
            """\
            import dgl
            import torch

            torch.distributed.init_process_group("nccl")
            model = torch.nn.parallel.DistributedDataParallel(model)
            loader = dgl.dataloading.DataLoader(graph, train_idx, sampler, batch_size=1024, use_ddp=True)
            """,
            reason="DGL divides the nodes by torch.distributed's ranks",
            reported=True,
        ),
        Keep(
            """\
            import dgl
            import torch

            dgl.distributed.initialize(args.ip_config)
            torch.distributed.init_process_group("gloo")
            graph = dgl.distributed.DistGraph(args.graph_name)
            """,
            reason="the servers that hold the graph's parts are DGL's to start",
            reported=True,
        ),
        Keep(
            """\
            import dgl
            import torch

            torch.distributed.init_process_group("nccl")
            loader = dgl.dataloading.DataLoader(graph, indices, sampler, batch_size=1024, use_ddp=False)
            """,
            reason="this loader draws what it is given",
        ),
    ),
)
