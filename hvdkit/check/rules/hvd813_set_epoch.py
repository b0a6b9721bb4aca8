"""HVD813: the sampler never hears of the epochs, so that all of them have one order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files, programs
from hvdkit.check.paper import objected
from hvdkit.conditions.orders import same_orders
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Loop
from hvdkit.migrate.facts.data.epochs import epoch_loops, epoch_number, told_epoch
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.data.sharding import epoch_calls, in_order
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.spelling import spelled


def check(facts: Facts) -> Iterator[Finding]:
    found = [*_never_told(facts)]
    yield from found
    seen = {finding.place.path for finding in found}
    for program in programs(facts):
        for names, node, message in objected(facts, program, same_orders):
            if names.source.path not in seen:
                seen.add(names.source.path)
                advice = "call set_epoch() with the epoch's number before each pass over the loader"
                yield manual("HVD813", names, node, message, advice)


def _never_told(facts: Facts) -> Iterator[Finding]:
    """The loops over epochs in which no sampler, or only one number, hears of them."""
    files = horovod_files(facts)
    for loader in every_loader(facts):
        if loader.names not in files or not _has_sampler(facts, loader) or in_order(facts, loader):
            continue
        loops = epoch_loops(facts, loader)
        if not is_trained_on(facts, loader):
            continue
        calls = epoch_calls(facts, loader)
        for loop in loops if not calls and not any(told_epoch(facts, loop) for loop in loops) else ():
            yield _finding(facts, loader, loop)
        for loop in loops:
            for names, call in calls:
                if names is loop.names and loop.node in names.ancestors(call) and _constant(loop, call):
                    yield _told_a_constant(facts, loop, call)


def _constant(loop: Loop, call: ast.Call) -> bool:
    """Whether set_epoch is given the same number in every round of a loop."""
    if len(call.args) != 1 or isinstance(call.args[0], ast.Constant):
        return len(call.args) == 1
    names, given = loop.names, call.args[0]
    bindings = names.bindings(given.id, given) if isinstance(given, ast.Name) else ()
    return bool(bindings) and all(
        binding.kind == "assign"
        and loop.node not in names.ancestors(binding.node)
        and names.function(binding.node) is names.function(loop.node)
        for binding in bindings
    )


def _told_a_constant(facts: Facts, loop: Loop, call: ast.Call) -> Finding:
    message = "the sampler gets the same epoch number in every epoch: all epochs have the same order"
    number = epoch_number(facts, loop)
    if number is None:
        return manual("HVD813", loop.names, call, message, "call set_epoch() with the epoch's number")
    return safe(
        facts, "HVD813", loop.names, call, message, edits.replace, loop.names.source, call.args[0], number
    )


def _has_sampler(facts: Facts, loader: Loader) -> bool:
    values = facts.flow.values(loader.names, loader.sampler)
    return bool(values) and all(value.name in words.SAMPLERS for value in values)


def _finding(facts: Facts, loader: Loader, loop: Loop) -> Finding:
    message = "set_epoch() is never called: every epoch has the same order"
    number = epoch_number(facts, loop)
    name = spelled(facts.flow, loop.names, loop.node, [loader.value])
    if number is None or name is None:
        advice = "call loader.sampler.set_epoch(epoch) at the start of each epoch"
        return manual("HVD813", loop.names, loop.node, message, advice)
    line = f"{name}.sampler.set_epoch({number})"
    return safe(
        facts, "HVD813", loop.names, loop.node, message, edits.at_start, loop.names, loop.node.body, [line]
    )


RULE = Rule(
    id="HVD813",
    title="set_epoch() is never called",
    what="Each rank sees the same samples in the same order in every epoch; shuffle=True shuffles once.",
    why="DistributedSampler shuffles by its seed and the number of the epoch, and that number stays 0 without set_epoch().",
    safety="Safe: it is what the sampler's documentation requires. The order of the samples changes, for the better.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            def train(epoch):
                sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                train(epoch)
            """,
            reason="it is called, in the function of one epoch",
        ),
    ),
)
