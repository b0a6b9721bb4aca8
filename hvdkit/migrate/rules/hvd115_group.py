"""HVD115: libraries that ask torch.distributed themselves keep a process group, of Horovod's ranks."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.library_groups import libraries_needing
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.collectives import fresh, same_again
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit

NETWORKS = "where hosts have several networks, GLOO_SOCKET_IFNAME names the one to use, as for torchrun"

DISTRIBUTE_BN = "timm.utils.distribute_bn"
STATISTICS = (
    "distribute_bn averages running statistics that each rank collected on its own, whereas DDP sends rank "
    "0's before each forward pass"
)


def check(facts: Facts) -> Iterator[Finding]:
    for site in launch_of(facts).inits:
        heard = libraries_needing(facts, site)
        if heard:
            asking = f"{' and '.join(heard)} {'ask' if len(heard) > 1 else 'asks'} torch.distributed"
            message = f"{asking}: a process group of Horovod's ranks stays for that"
            finding = required(facts, "HVD115", site.names, site.node, message, _edits, facts, site, asking)
            yield finding.knowing(
                "; ".join([NETWORKS, *([STATISTICS] if facts.calls(DISTRIBUTE_BN) else [])])
            )


def _edits(facts: Facts, site: Site, asking: str) -> list[Edit]:
    """The port is rank 0's choice; the host name is the one that torchrun would take, too."""
    names, hvd = site.names, horovod_name(facts, site.names)
    port, address = fresh(names, "port"), fresh(names, "address")
    lines = [
        f"# {asking}: a process group of Horovod's ranks.",
        f'with socket.create_server(("", 0)) as {port}:',
        f"\t{address} = socket.getfqdn(), {port}.getsockname()[1]",
        f"{address} = {hvd}.broadcast_object({address}, root_rank=0)",
    ]
    if site.name in words.LIBRARY_STARTS:
        lines += _environment(site, hvd, address)
    above = edits.before(names.source, names.statement(site.node), lines)
    if site.name in words.LIBRARY_STARTS:
        return [above]
    made = (
        f'{names.source.segment(site.node.func)}("gloo", init_method="tcp://%s:%d" % {address}, '
        f"rank={hvd}.rank(), world_size={hvd}.size())"
    )
    return [above, edits.replace(names.source, site.node, made)]


def _environment(site: Site, hvd: str, address: str) -> list[str]:
    """The launcher's variables as torchrun sets them, for a library that makes the group of them."""
    if not site.node.args or not same_again(site.node.args[0]):
        raise edits.CannotEdit("the object that the library writes the ranks into has no name")
    into = site.names.source.segment(site.node.args[0])
    return [
        "os.environ.update(",
        f"\tRANK=str({hvd}.rank()), LOCAL_RANK=str({hvd}.local_rank()), WORLD_SIZE=str({hvd}.size()),",
        f"\tMASTER_ADDR={address}[0], MASTER_PORT=str({address}[1]),",
        ")",
        f'{into}.dist_backend = "gloo"',
    ]


RULE = Rule(
    id="HVD115",
    title="libraries that ask torch.distributed keep a process group",
    what=(
        "Leaves a process group of Horovod's ranks, on Gloo, in programs that use a library which asks "
        "torch.distributed itself: timm's create_loader, reduce_tensor and distribute_bn, torchmetrics, "
        "webdataset, torcheval, the loaders of dgl and ffcv, losses of lightly and open_clip, "
        "vector_quantize_pytorch, pytorchvideo, inplace_abn's synchronized layers."
    ),
    why=(
        "What these do is inside the library. Without a process group timm raises, and "
        "torchmetrics, webdataset and inplace_abn silently count, read or normalize on each rank alone. The "
        "project's own calls become Horovod's."
    ),
    safety=(
        "Safe: the group has the same ranks, and Horovod does not use it. It is on Gloo, also for GPUs, so "
        "that no second NCCL communicator exists next to Horovod's; gradients never go through it. Where the "
        "call cannot be rewritten in its place, the program is refused."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch
            from timm.data import create_loader
            from timm.utils import *

            def main():
                distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
                if distributed:
                    torch.distributed.init_process_group(backend="nccl", init_method="env://")
                loader = create_loader(dataset, (3, 224, 224), 32, is_training=True, distributed=distributed)
                for x, y in loader:
                    loss = model(x).sum()
                    print(reduce_tensor(loss, 2))

            main()
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch
            from timm.data import create_loader
            from timm.utils import *
            import socket

            def main():
                distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
                if distributed:
                    # timm asks torch.distributed: a process group of Horovod's ranks.
                    with socket.create_server(("", 0)) as port:
                        address = socket.getfqdn(), port.getsockname()[1]
                    address = hvd.broadcast_object(address, root_rank=0)
                    torch.distributed.init_process_group("gloo", init_method="tcp://%s:%d" % address, rank=hvd.rank(), \
world_size=hvd.size())
                loader = create_loader(dataset, (3, 224, 224), 32, is_training=True, distributed=distributed)
                for x, y in loader:
                    loss = model(x).sum()
                    print(reduce_tensor(loss, 2))

            main()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            import horovod.torch as hvd
            import torchmetrics

            hvd.init()
            dist.init_process_group("gloo", init_method=address, rank=hvd.rank(), world_size=hvd.size())
            accuracy = torchmetrics.Accuracy("multiclass", num_classes=10)
            """,
            reason="this group has Horovod's ranks already",
        ),
    ),
)
