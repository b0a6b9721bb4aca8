"""HVD303: the sampler hears of each epoch, or every epoch has the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Loop, training_loops
from hvdkit.migrate.facts.data.epochs import counts_again, epoch_loops, epoch_number, run_once, told_epoch
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.data.loaders_of_phases import phase_trained
from hvdkit.migrate.facts.data.sharding import BATCH_SAMPLER, epoch_calls, in_order, is_sharded, orders_itself
from hvdkit.migrate.facts.data.shares_by_hand import drawn_whole
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.finding import manual, needed, safe
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.sampler_edits import in_groups, unshardable
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.handed_out import assigned_to
from hvdkit.migrate.values.spelling import attribute_holding, spelled
from hvdkit.migrate.values.value import Value

BY_ENGINE = "ignite's engine counts the epochs over this loader"
IN_HANDLER = (
    "tell its sampler each epoch: trainer.add_event_handler(Events.EPOCH_STARTED, "
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
        if orders_itself(facts, loader):
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
        message = "no loop over epochs was found around the loop over this loader"
        if any(loader.value in path.loaders and path.batch < 0 for path in training_loops(facts).paths):
            message, advice = BY_ENGINE, IN_HANDLER
        return manual("HVD303", loader.names, loader.node, message, advice)
    loader_name = _of_phase(facts, loader, epoch) or _inside(
        facts, loader, epoch, spelled(facts.flow, epoch.names, epoch.node, [loader.value])
    )
    made = _made_in(loader, epoch)
    loader_name = loader_name if made is None else loader.names.source.segment(made)
    number = epoch_number(facts, epoch)
    batches = facts.flow.values(loader.names, loader.batch_sampler)
    in_own = in_groups(facts, loader)
    if not in_own and any(value.name != BATCH_SAMPLER for value in batches):
        message = "the sampler stands in a batch sampler of the project's own"
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
    if _may_be_none(facts, epoch, loader_name):
        lines = [f"if {loader_name} is not None:", *(f"\t{line}" for line in lines)]
    message = "the sampler is told the epoch, so that every epoch has its own order"
    make = safe if single and not in_own else needed
    if made is not None:
        names = loader.names
        place = names.statement(loader.node)
        return make(facts, "HVD303", names, place, message, edits.after, names.source, place, lines)
    return make(
        facts, "HVD303", epoch.names, epoch.node, message, edits.at_start, epoch.names, epoch.node.body, lines
    )


def _inside(facts: Facts, loader: Loader, epoch: Loop, name: str | None) -> str | None:
    """The loader that a variable holds, or that an object of the project's own around it keeps by then."""
    uses = epoch.names.uses.get(name or "", ())
    use = next((use for use in uses if epoch.node in epoch.names.ancestors(use)), None)
    last = last_binding(epoch.names, use) if use is not None else None
    held = facts.flow.values(epoch.names, last.value) if last is not None and last.value is not None else ()
    owners = [
        value for value in held if value.kind == "object" and words.LOADER not in facts.flow.bases(value)
    ]
    if not owners or len(owners) < len(held):
        return name
    attribute = attribute_holding(facts.flow, owners[0], {loader.value}) if len(owners) == 1 else None
    return f"{name}.{attribute}" if attribute is not None else None


def _made_in(loader: Loader, epoch: Loop) -> ast.expr | None:
    """The variable of a loader that is made anew in each epoch, in the loop itself."""
    statement = loader.names.statement(loader.node)
    inside = loader.names is epoch.names and epoch.node in loader.names.ancestors(statement)
    same = loader.names.function(statement) is epoch.names.function(epoch.node)
    return assigned_to(statement, loader.node) if inside and same else None


def _of_phase(facts: Facts, loader: Loader, epoch: Loop) -> str | None:
    """The loader of the phase that trains, out of those of all: `loaders["train"]`, or its own variable."""
    phase = phase_trained(facts, loader)
    if phase is None:
        return None
    for names, taken in phase.taken:
        if names is epoch.names and names.function(taken) is names.function(epoch.node):
            held = names.source.segment(taken)
            return held if loader.value in facts.flow.values(names, taken) else f"{held}[{phase.name}]"
    return None


def _may_be_none(facts: Facts, epoch: Loop, loader_name: str) -> bool:
    """Whether a variable may hold no loader: `extra = DataLoader(...) if wanted else None`."""
    held = facts.flow.named(epoch.names, loader_name, epoch.node)
    return any(value.is_none for value in held)


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
        for other in _in_its_place(facts, loader)
    )


def _in_its_place(facts: Facts, loader: Loader) -> list[Loader]:
    """The other loaders that the variable of a loop may hold: another branch makes them."""
    drawn = {value for loop in epoch_loops(facts, loader) for value in _held(facts, loop, loader)}
    return [other for other in every_loader(facts) if other is not loader and other.value in drawn]


def _held(facts: Facts, loop: Loop, loader: Loader) -> frozenset[Value]:
    name = spelled(facts.flow, loop.names, loop.node, [loader.value])
    return facts.flow.named(loop.names, name, loop.node) if name and name.isidentifier() else frozenset()


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
            note="A loader that is made anew in each epoch has a sampler that begins anew.",
        ),
    ),
    keeps=(
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, shuffle=True):
                model(x).sum().backward()
            """,
            reason="the data is run through once",
        ),
    ),
)
