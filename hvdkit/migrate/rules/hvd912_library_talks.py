"""HVD912: a library that asks torch.distributed for the ranks itself finds no process group under Horovod."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule

LOADER = "timm.data.create_loader"
# What libraries send, or ask, by torch.distributed -> what to write instead.
TALKS = {
    LOADER: (
        "set dataset.transform = timm.data.create_transform(...), as it does, and make a "
        "torch.utils.data.DataLoader with sampler=DistributedSampler(dataset, num_replicas=hvd.size(), "
        "rank=hvd.rank())"
    ),
    "timm.utils.reduce_tensor": "write hvd.allreduce(tensor, op=hvd.Average) in its place",
    "timm.utils.distribute_bn": (
        "write hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0) in its place"
    ),
    "timm.utils.init_distributed_device": (
        "call hvd.init() and torch.cuda.set_device(hvd.local_rank()) in its place"
    ),
    "pytorchvideo.layers.distributed.init_distributed_training": (
        "write what its helpers do with hvd.local_rank(), hvd.allgather() and the like in the project"
    ),
}


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*TALKS):
        distributed = keyword(site.node, "distributed")
        alone = distributed is None or (isinstance(distributed, ast.Constant) and not distributed.value)
        if site.name == LOADER and alone:
            continue
        if "ddp" in facts.kinds(site.names) or site.name == "timm.utils.init_distributed_device":
            message = f"{site.name} asks torch.distributed itself, which has no process group under Horovod"
            yield facts.refused("HVD912", site.names, site.node, message, TALKS[site.name])


RULE = Rule(
    id="HVD912",
    title="libraries that talk through torch.distributed are refused",
    what="Leaves programs alone that hand the ranks to timm's loader, reductions or start, or to pytorchvideo's.",
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
    ),
)
