"""HVD303: the sampler hears of each epoch, or every epoch has the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Loader
from hvdkit.migrate.facts.loops import Loop
from hvdkit.migrate.facts.spelling import spelled
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for loader in facts.loaders:
        names = loader.names
        kinds = facts.kinds(names) - {"none"}
        if not facts.training(loader) or not kinds or kinds == {"horovod"}:
            continue
        if any(
            where in program.files
            for program in facts.programs
            if names in program.files
            for where, _, _ in facts.methods("set_epoch")
        ):
            continue
        single = kinds == {"single"}
        if not single and not facts.sharded(loader):
            continue
        yield _finding(facts, loader, single)


def _finding(facts: Facts, loader: Loader, single: bool) -> Finding:
    epoch = _epoch_loop(facts, loader)
    advice = "call loader.sampler.set_epoch(epoch) at the start of each epoch"
    if epoch is None:
        message = "no loop over epochs was found around the loop over this loader"
        return facts.manual("HVD303", loader.names, loader.node, message, advice)
    variable = getattr(epoch.node, "target", None)
    loader_name = spelled(facts.flow, epoch.names, epoch.node, [loader.value])
    if not isinstance(variable, ast.Name) or loader_name is None:
        message = "the loop over epochs has no epoch number, or the loader has no name there"
        return facts.manual("HVD303", epoch.names, epoch.node, message, advice)
    line = f"{loader_name}.sampler.set_epoch({variable.id})"
    message = "the sampler is told the epoch, so that every epoch has its own order"
    make = facts.safe if single else facts.suggested
    return make(
        "HVD303",
        epoch.names,
        epoch.node,
        message,
        edits.at_start,
        epoch.names,
        epoch.node.body,
        [line],
    )


def _epoch_loop(facts: Facts, loader: Loader) -> Loop | None:
    return next((p.epoch for p in facts.loops.paths if loader.value in p.loaders and p.epoch), None)


RULE = Rule(
    id="HVD303",
    title="set_epoch in each epoch",
    what="Calls sampler.set_epoch(epoch) at the start of the loop over epochs.",
    why="DistributedSampler shuffles by its seed and the epoch it was told: untold, all epochs are in one order.",
    safety=(
        "Safe on a script that was single-process, where the loader's own shuffle drew a new order each epoch. "
        "Suggested on a DDP script that never called it: its data order would change, for the better."
    ),
    check=check,
    changes=(
        Change(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            for epoch in range(3):
                loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            note="HVD302 gives the loader the sampler.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            dist.init_process_group("gloo")
            sampler = DistributedSampler(data)
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="it is called already",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            dist.init_process_group("gloo")
            loader = DataLoader(data, sampler=DistributedSampler(data))
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="adding it changes the order that this DDP script trained with: only with --suggested",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            while True:
                for x in DataLoader(data, shuffle=True):
                    model(x).sum().backward()
            """,
            reason="the loop has no epoch number to pass",
            reported=True,
        ),
    ),
)
