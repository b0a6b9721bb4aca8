"""HVD912: a library that makes the process group itself, and puts the ranks into args."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule

STARTS = ("timm.utils.init_distributed_device", "timm.utils.distributed.init_distributed_device")
IN_ITS_PLACE = (
    'write torch.distributed.init_process_group("nccl") in its place, set what it sets (args.distributed, '
    "args.world_size, args.rank, args.local_rank and the device), and run hvdkit migrate again"
)


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*STARTS):
        message = f"{site.name} makes the process group inside the library"
        yield facts.refused("HVD912", site.names, site.node, message, IN_ITS_PLACE)


RULE = Rule(
    id="HVD912",
    title="a process group that only a library makes is refused",
    what="Leaves programs alone that start by timm's init_distributed_device.",
    why=(
        "Under horovodrun it finds no variables of torchrun, and says that this process is alone: N models would "
        "train apart. What it writes into args cannot be followed, for it stands inside the library."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from timm import utils

            device = utils.init_distributed_device(args)
            model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[device])
            """,
            reason="timm makes the process group, and writes ranks into args",
            reported=True,
        ),
    ),
)
