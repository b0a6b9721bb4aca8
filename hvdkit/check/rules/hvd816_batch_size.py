"""HVD816: the batch of each rank is multiplied by the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import argument, horovod_files
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.data.sharding import is_sharded
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

MAX_STEPS = 4


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for loader in every_loader(facts):
        size = argument(loader.node, 1, "batch_size")
        if loader.names not in files or size is None or not is_trained_on(facts, loader):
            continue
        if is_sharded(facts, loader) and _multiplied(facts, loader.names, size):
            message = (
                "batch_size is one rank's: multiplied by hvd.size() the global batch grows with its square"
            )
            advice = "give batch_size per rank, without hvd.size()"
            yield manual("HVD816", loader.names, size, message, advice)


def _multiplied(facts: Facts, names: Names, node: ast.expr, steps: int = 0) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(rank_kinds(facts).of(names, side) == {"size"} for side in (node.left, node.right))
    if isinstance(node, ast.Name) and steps < MAX_STEPS:
        bindings = names.bindings(node.id, node)
        plain = [b.value for b in bindings if b.kind == "assign" and not b.path and b.value is not None]
        return len(plain) == len(bindings) == 1 and _multiplied(facts, names, plain[0], steps + 1)
    return False


RULE = Rule(
    id="HVD816",
    title="the batch of each rank is multiplied by the number of ranks",
    what=(
        "With N ranks the global batch is N * N times the given one: memory runs out, or training continues "
        "with far fewer steps per epoch than intended, at the wrong learning rate."
    ),
    why="nn.DataParallel splits one batch over the devices; a Horovod rank loads its own, so batch_size is per rank.",
    safety="Nothing is edited: the learning rate and the schedule depend on the batch size.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            batch = 32 * hvd.size()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, batch_size=batch, sampler=sampler)
            for epoch in range(3):
                sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="the sampler already splits the data",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, batch_size=256 // hvd.size(), sampler=sampler)
            print("global batch", 32 * hvd.size())
            for x in loader:
                model(x).sum().backward()
            """,
            reason="the global batch is divided among the ranks",
        ),
    ),
)
