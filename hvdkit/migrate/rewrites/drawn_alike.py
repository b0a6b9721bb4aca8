"""A draw of random numbers that comes out the same on every rank."""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.facts.data.picks import seed_argument
from hvdkit.migrate.facts.data.random_splits import (
    GENERATOR,
    LIBRARY,
    LIBRARY_OF,
    PICKS,
    can_write,
    in_place,
)
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.launch.which_processes import all_come_together
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import started
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import FUNCTIONS, LOOPS

OWN_GENERATORS = {"random": "Random", "numpy": "RandomState"}


def drawn_by_rank_0(facts: Facts, site: Site) -> list[Edit]:
    """What rank 0 drew, sent to the others, so that an option's seed still counts. Raises CannotEdit."""
    names, call = site.names, site.node
    if started(facts, names, call) != {True} or not all_come_together(facts, names, call):
        raise edits.CannotEdit("rank 0 could send what it draws, but not all ranks are seen to come here")
    send = f"{horovod_name(facts, names)}.broadcast_object("
    shuffled = in_place(site)
    if shuffled is None:
        return edits.wrap(names.source, call, send, ", root_rank=0)")
    if not isinstance(shuffled, (ast.Name, ast.Attribute)):
        raise edits.CannotEdit("rank 0 could send the others its order, but what is shuffled has no name")
    text = names.source.segment(shuffled)
    return [edits.after(names.source, names.statement(call), [f"{text} = {send}{text}, root_rank=0)"])]


def split_by_rank_0(facts: Facts, site: Site) -> Edit:
    """A split by a seed that rank 0 sends: torch's own, or a number of numpy's. Raises CannotEdit."""
    names, call = site.names, site.node
    if started(facts, names, call) != {True} or not all_come_together(facts, names, call):
        raise edits.CannotEdit("rank 0 could send the seed, but not all ranks are seen to come here")
    send = f"{horovod_name(facts, names)}.broadcast_object("
    if LIBRARY[site.name] == "torch" and "torch" in names.module.names:
        seed = f"{send}torch.initial_seed(), root_rank=0)"
        return edits.add_arguments(names.source, call, [f"generator=torch.Generator().manual_seed({seed})"])
    bindings = [(alias, b) for alias in names.imported("numpy") for b in names.module.names.get(alias, ())]
    numpy = next((alias for alias, binding in bindings if binding.qualified == "numpy"), None)
    if LIBRARY[site.name] == "numpy" and numpy is not None:
        seed = f"random_state={send}{numpy}.random.randint(2**31), root_rank=0)"
        return edits.add_arguments(names.source, call, [seed])
    raise edits.CannotEdit(f"{LIBRARY[site.name]}, which gives the seed, has no name in this file")


def drawn_alike(facts: Facts, site: Site) -> Edit | list[Edit]:
    """The draw by a generator of its own, so that nothing else is drawn alike. Raises CannotEdit.

    Each draw of a file has another seed: two masks of one shape stay independent. Where its library or the
    generator cannot be named, rank 0's.
    """
    names, call = site.names, site.node
    if LIBRARY_OF[site.name] == "torch":
        if can_write(site, GENERATOR) and not any(keyword.arg == "device" for keyword in call.keywords):
            seed = GENERATOR.replace("(0)", f"({_earlier(facts, site)})")
            return edits.add_arguments(names.source, call, [seed])
    elif isinstance(call.func, ast.Attribute):
        generator = f"{OWN_GENERATORS[LIBRARY_OF[site.name]]}({_earlier(facts, site)})"
        made = f"{names.source.segment(call.func.value)}.{generator}"
        return edits.replace(names.source, call.func.value, made)
    return drawn_by_rank_0(facts, site)


def _earlier(facts: Facts, site: Site) -> int:
    """How many draws of the same library stand above one in its file."""
    alike = [name for name, library in LIBRARY_OF.items() if library == LIBRARY_OF[site.name]]
    place = (site.node.lineno, site.node.col_offset)
    calls = {other.node for other in facts.calls(*alike) if other.names is site.names}
    return sum((call.lineno, call.col_offset) < place for call in calls)


def seeded_there(site: Site) -> list[Edit]:
    """A seed as the draw's argument, or in a line above the loops around it. Raises CannotEdit.

    Not a generator made anew in each turn of a loop, which would give the same numbers each time.
    """
    names, call = site.names, site.node
    argument = seed_argument(site)
    if argument:
        return [edits.add_arguments(names.source, call, [f"{argument}=0"])]
    library = PICKS.get(site.name)
    module, dot, _ = names.source.segment(call.func).rpartition(".")
    if library not in OWN_GENERATORS or not dot:
        raise edits.CannotEdit("the generator that draws it has no seed that could be written here")
    statement = names.statement(call)
    for parent in names.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, LOOPS):
            statement = parent
    return [edits.before(names.source, statement, [f"{module}.seed(0)"])]
