"""HVD303: the sampler hears of each epoch, or every epoch has the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, needed, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Loop, training_loops
from hvdkit.migrate.facts.data.before_batches import before_batches
from hvdkit.migrate.facts.data.epochs import counts_again, epoch_loops, epoch_number, run_once, told_epoch
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.data.sharding import BATCH_SAMPLER, epoch_calls, in_order, is_sharded, orders_itself
from hvdkit.migrate.facts.data.shares_by_hand import drawn_whole
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.facts.data.written_loaders import in_its_place, loader_name_at, made_in, may_be_none
from hvdkit.migrate.facts.programs.paper_runs import orders_differ
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.samplers import in_groups, unshardable, weighted_sampler
from hvdkit.migrate.values import vocabulary as words

BY_ENGINE = "ignite's engine counts the epochs over this loader"
IN_HANDLER = (
    "set its sampler's epoch: trainer.add_event_handler(Events.EPOCH_STARTED, "
    "lambda engine: loader.sampler.set_epoch(engine.state.epoch))"
)
IN_BATCHES = (
    "call set_epoch(epoch) on the sampler that the batch sampler was given, at the start of each epoch"
)


def check(facts: Facts) -> Iterator[Finding]:
    for loader in every_loader(facts):
        kinds = kinds_of(facts, loader.names) - {"none"}
        if not is_trained_on(facts, loader) or not kinds or kinds == {"horovod"} or in_order(facts, loader):
            continue
        if orders_itself(facts, loader) or weighted_sampler(facts, loader) is not None:
            continue
        single = kinds == {"single"}
        if single and not only_single(facts, loader.names):
            continue
        if not is_sharded(facts, loader) and not _gets_sampler(facts, loader, single):
            continue  # without a DistributedSampler there is no set_epoch
        loops = epoch_loops(facts, loader)
        if (
            epoch_calls(facts, loader)
            or any(told_epoch(facts, loop) for loop in loops)
            or run_once(facts, loader)
            or orders_differ(facts, loader.names, loader.node)
        ):
            continue
        if not loops:
            yield _finding(facts, loader, None, single)
        for loop in loops:
            yield _finding(facts, loader, loop, single)


def _gets_sampler(facts: Facts, loader: Loader, single: bool) -> bool:
    """Whether HVD302 gives the loader a DistributedSampler."""
    return (single or drawn_whole(facts, loader)) and not unshardable(facts, loader)


def _finding(facts: Facts, loader: Loader, epoch: Loop | None, single: bool) -> Finding:
    advice = "call loader.sampler.set_epoch(epoch) at the start of each epoch"
    if epoch is None:
        message = "no epoch loop was found around the loop over this loader"
        if any(loader.value in path.loaders and path.batch < 0 for path in training_loops(facts).paths):
            message, advice = BY_ENGINE, IN_HANDLER
        return manual("HVD303", loader.names, loader.node, message, advice)
    made = made_in(loader, epoch)
    loader_name = loader_name_at(facts, loader, epoch) if made is None else loader.names.source.segment(made)
    number = epoch_number(facts, epoch)
    beside = before_batches(facts, loader, epoch) if loader_name is None else None
    if beside is not None:
        loader_name, number = beside.loader, beside.number
    place = epoch if beside is None else beside.loop
    batches = facts.flow.values(loader.names, loader.batch_sampler)
    in_own = in_groups(facts, loader)
    if not in_own and any(value.name != BATCH_SAMPLER for value in batches):
        message = "the sampler is inside the project's own batch sampler"
        return manual("HVD303", epoch.names, epoch.node, message, IN_BATCHES)
    # Beside a batch sampler the loader's own sampler is one that draws nothing.
    sampler = f"{loader_name}.batch_sampler.sampler" if batches else f"{loader_name}.sampler"
    again = isinstance(epoch.node, ast.For) and counts_again(facts, loader, epoch)
    counted = number is not None and not again
    if not counted and loader_name is not None and made is None and _is_distributed(facts, loader):
        number = f"{sampler}.epoch + 1"  # the sampler counts where the loop does not
    if number is None or loader_name is None:
        message = "the loop over epochs has no epoch number, or the loader has no name there"
        return manual("HVD303", epoch.names, epoch.node, message, advice)
    lines = [f"{sampler}.set_epoch({number})"]
    if batches or not _always_told(facts, loader):
        lines = [f'if hasattr({sampler}, "set_epoch"):', f"\t{lines[0]}"]
    if may_be_none(facts, place, loader_name):
        lines = [f"if {loader_name} is not None:", *(f"\t{line}" for line in lines)]
    message = "the sampler is given the epoch, so that every epoch has a different order"
    make = safe if single and not in_own else needed
    if made is not None:
        names = loader.names
        below = names.statement(loader.node)
        return make(facts, "HVD303", names, below, message, edits.after, names.source, below, lines)
    names, loop = place.names, place.node
    if beside is not None:
        return make(facts, "HVD303", names, loop, message, edits.before, names.source, loop, lines)
    return make(facts, "HVD303", names, loop, message, edits.at_start, names, loop.body, lines)


def _is_distributed(facts: Facts, loader: Loader) -> bool:
    """Whether the sampler is torch's DistributedSampler, which HVD302 gives a loader without any."""
    values = facts.flow.values(loader.names, loader.sampler)
    given = bool(values) and all(value.name in words.SAMPLERS for value in values)
    return given or (loader.sampler is None and loader.batch_sampler is None)


def _always_told(facts: Facts, loader: Loader) -> bool:
    """Whether the sampler has a set_epoch in a job of one process, too: not `None` or another there."""
    values = facts.flow.values(loader.names, loader.sampler)
    told = [value for value in values if value.name in words.SAMPLERS - {words.ORDERED_SAMPLER}]
    return (not told or len(told) == len(values)) and all(
        other.batch_sampler is None
        and (is_sharded(facts, other) or _gets_sampler(facts, other, only_single(facts, other.names)))
        for other in in_its_place(facts, loader)
    )


RULE = Rule(
    id="HVD303",
    title="set_epoch in each epoch",
    what="Calls sampler.set_epoch(epoch) at the start of the loop over epochs.",
    why="DistributedSampler shuffles by its seed and the epoch it was given; without set_epoch, all epochs use the same order.",
    safety=(
        "Safe in a single-process script, where the loader's own shuffle drew a new order each epoch. "
        "Needed on a DDP script that never called it: its data order would change, for the better."
    ),
    check=check,
    changes=(
        Change(
            """\
            from torch.utils.data import DataLoader

            for epoch in range(3):
                batches = DataLoader(drawn(epoch), shuffle=True)
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            from torch.utils.data import DataLoader

            for epoch in range(3):
                batches = DataLoader(drawn(epoch), shuffle=True)
                batches.sampler.set_epoch(epoch)
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="A loader that is created in each epoch has a sampler that starts over.",
        ),
    ),
    keeps=(
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, shuffle=True):
                model(x).sum().backward()
            """,
            reason="there is a single pass over the data",
        ),
    ),
)
