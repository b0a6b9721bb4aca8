"""What of a torch.distributed program has to run after Horovod is initialised, and where init goes for it."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.code.environment import gathered
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.writers import unguarded_writers
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.launch_order import Order
from hvdkit.migrate.facts.launch.launch_reach import launch_reach
from hvdkit.migrate.facts.launch.launch_settings import settings
from hvdkit.migrate.facts.launch.ranks import environment_reads, gathered_reads, launch_tests
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.launched_processes import processes
from hvdkit.migrate.facts.programs.programs import ProgramFacts, kinds_of, programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in, started, starting_sites
from hvdkit.source.index.names import Names

MAX_CALLERS = 4


@once
def init_order(facts: Facts) -> Order:
    """The places for hvd.init() in the project's torch.distributed programs."""
    order = Order(facts)
    needs: list[tuple[Names, ast.AST]] = []
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        needs += [(names, read.node) for read in environment_reads(names)]
        needs += [(names, node) for node in gathered_reads(names) if gathered(names, node)]
        needs += [(names, test.node) for test in launch_tests(names)]
    needs += [
        (site.names, site.node)
        for site in facts.calls("torch.distributed.is_torchelastic_launched")
        if "ddp" in kinds_of(facts, site.names)
    ]
    if launch_of(facts).inits:
        asking = [(optimizer.names, optimizer.node) for optimizer in averaging_optimizers(facts)]
        asking += [(wrap.names, wrap.node) for wrap in find_wraps(facts)]
        needs += [(names, node) for names, node in asking if "ddp" in kinds_of(facts, names)]
        needs += [(origin.names, origin.node) for origin, _ in launch_of(facts).rewritten()]
        needs += [(spawn.names, spawn.node) for spawn in launch_of(facts).spawns]
        needs += [(names, _loop(names, call)) for names, call, _ in processes(facts)]
        needs += written_by_starter(facts)
    # Functions that initialise come first: init at their start covers those who call them.
    needs.sort(key=lambda need: (not order.initialises(*need), getattr(need[1], "lineno", 0)))
    inside = sum(order.initialises(*need) for need in needs)
    for names, node in needs[:inside]:
        order.need(names, node)
    for setting in settings(facts, launch_of(facts), launch_reach(facts)):
        for holder in setting.holders:
            order.need(holder.names, holder.statement, holder.after)
    for names, node in needs[inside:]:
        order.need(names, node)
    order.settle()
    return order


def starts(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program may come to what makes the process group, or to a place where hvd.init() goes."""
    places = init_order(facts).places
    return bool(starting_sites(facts, program)) or any(
        runs_in(facts, program, place.names, place.statement) for place in places
    )


@once
def written_by_starter(facts: Facts) -> list[tuple[Names, ast.AST]]:
    """What a process writes that starts the ranks: once until now, and by every rank in the migrated."""
    starting = [(spawn.names, spawn.node) for spawn in launch_of(facts).spawns]
    starting += [(names, call) for names, call, _ in processes(facts)]
    entries = {
        program.entry
        for program in programs_of(facts)
        if any(runs_in(facts, program, *place) for place in starting)
    }
    return [
        (writer.names, writer.node)
        for writer in (unguarded_writers(facts) if entries else ())
        if "ddp" in kinds_of(facts, writer.names) and _run_by(facts, entries, writer.names, writer.node)
    ]


def _run_by(facts: Facts, entries: set[Names], names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether the process of an entry script runs a node, and no other: only calls lead there."""
    function = names.function(node)
    if function is None:
        return names in entries
    if isinstance(names.parents.get(function), ast.ClassDef) or depth == MAX_CALLERS:
        return False
    ways, calls = call_graph(facts).ways(names, function), set(facts.flow.call_sites(names, function))
    return bool(ways) and all(
        way in calls and not _starts_others(facts, way[1]) and _run_by(facts, entries, *way, depth + 1)
        for way in ways
    )


def _starts_others(facts: Facts, call: ast.AST) -> bool:
    """Whether a call hands its function to other processes."""
    started_by = {spawn.node for spawn in launch_of(facts).spawns}
    return call in started_by or any(call is start for _, start, _ in processes(facts))


def _loop(names: Names, call: ast.Call) -> ast.AST:
    """The loop that starts processes, for it goes as a whole; else the call that starts one."""
    return next((parent for parent in names.ancestors(call) if isinstance(parent, ast.For)), call)


def has_rank(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether Horovod runs whenever a statement does: settings are often written before."""
    if started(facts, names, statement) != {True}:
        return False
    return "ddp" not in kinds_of(facts, names) or init_order(facts).covers(names, statement)
