"""HVD303: the sampler hears of each epoch, or every epoch has the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Loader
from hvdkit.migrate.facts.loops import Loop
from hvdkit.migrate.facts.sharding import epoch_calls, in_order
from hvdkit.migrate.facts.spelling import spelled
from hvdkit.migrate.facts.training import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for loader in facts.loaders:
        kinds = facts.kinds(loader.names) - {"none"}
        if not facts.training(loader) or not kinds or kinds == {"horovod"} or in_order(facts, loader):
            continue
        single = kinds == {"single"}
        if (single and not only_single(facts, loader.names)) or not (single or facts.sharded(loader)):
            continue
        loops = _loops(facts, loader)
        if epoch_calls(facts, loader) or any(_told(facts, loop) for loop in loops) or _once(facts, loader):
            continue
        if not loops:
            yield _finding(facts, loader, None, single)
        for loop in loops:
            yield _finding(facts, loader, loop, single)


def _finding(facts: Facts, loader: Loader, epoch: Loop | None, single: bool) -> Finding:
    advice = "call loader.sampler.set_epoch(epoch) at the start of each epoch"
    if epoch is None:
        message = "no loop over epochs was found around the loop over this loader"
        return facts.manual("HVD303", loader.names, loader.node, message, advice)
    number = _number(epoch)
    loader_name = spelled(facts.flow, epoch.names, epoch.node, [loader.value])
    if number is None or loader_name is None:
        message = "the loop over epochs has no epoch number, or the loader has no name there"
        return facts.manual("HVD303", epoch.names, epoch.node, message, advice)
    line = f"{loader_name}.sampler.set_epoch({number})"
    message = "the sampler is told the epoch, so that every epoch has its own order"
    make = facts.safe if single else facts.suggested
    return make(
        "HVD303", epoch.names, epoch.node, message, edits.at_start, epoch.names, epoch.node.body, [line]
    )


def _number(loop: Loop) -> str | None:
    """The variable that counts the epochs: a for loop's, or the one a while loop tests and adds 1 to."""
    if isinstance(loop.node, ast.While):
        tested = {node.id for node in ast.walk(loop.node.test) if isinstance(node, ast.Name)}
        for statement in loop.node.body:
            counts = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add)
            if counts and isinstance(statement.target, ast.Name) and statement.target.id in tested:  # type: ignore[attr-defined]
                return statement.target.id  # type: ignore[attr-defined]
        return None
    target = loop.node.target
    if isinstance(target, ast.Tuple) and isinstance(loop.node.iter, ast.Call):
        if getattr(loop.node.iter.func, "id", "") == "enumerate":
            target = target.elts[0]
    return target.id if isinstance(target, ast.Name) else None


def _loops(facts: Facts, loader: Loader) -> list[Loop]:
    """The loops over epochs, each of which runs over the whole loader."""
    found = (path.epoch for path in facts.loops.paths if loader.value in path.loaders)
    return list(dict.fromkeys(loop for loop in found if loop is not None))


def _told(facts: Facts, loop: Loop) -> bool:
    """Whether set_epoch is called in a loop, on whatever it is."""
    return any(
        names is loop.names and loop.node in names.ancestors(call)
        for names, call, _ in facts.methods("set_epoch")
    )


def _once(facts: Facts, loader: Loader) -> bool:
    """Whether the loader is run through once: its loop stands in no other, up to the module."""
    paths = [path for path in facts.loops.paths if loader.value in path.loaders]
    return all(
        len(path.loops) == 1
        and isinstance(path.loops[0].node, ast.For)
        and bool(facts.loops.loaders_in(path.loops[0].names, path.loops[0].node.iter))
        and path.top is None
        for path in paths
    )


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
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            def train(loader, epoch):
                for x in loader:
                    model(x).sum().backward()

            loader = DataLoader(data, shuffle=True)
            epoch = 0
            while epoch < 3:
                train(loader, epoch)
                epoch += 1
            for i, lr in enumerate((0.1, 0.01)):
                train(loader, i)
            """,
            """\
            import torch
            from torch.utils.data import DataLoader

            def train(loader, epoch):
                for x in loader:
                    model(x).sum().backward()

            loader = DataLoader(data, shuffle=True)
            epoch = 0
            while epoch < 3:
                loader.sampler.set_epoch(epoch)
                train(loader, epoch)
                epoch += 1
            for i, lr in enumerate((0.1, 0.01)):
                loader.sampler.set_epoch(i)
                train(loader, i)
            """,
            note="The loop over epochs may stand in another function, and count by itself.",
        ),
    ),
    keeps=(
        Keep(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="nothing is shuffled: every epoch has the data's own order",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, shuffle=True):
                model(x).sum().backward()
            """,
            reason="the data is run through once",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            class Job:
                def __init__(self):
                    dist.init_process_group("gloo")
                    self.loader = DataLoader(data, sampler=DistributedSampler(data))

                def epoch(self, number):
                    self.loader.sampler.set_epoch(number)
                    for x in self.loader:
                        model(x).sum().backward()

            job = Job()
            for number in range(3):
                job.epoch(number)
            """,
            reason="it is called through the loader, in another function than the loop's",
        ),
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
