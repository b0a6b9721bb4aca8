"""Whether a program gives each rank its own data by some means that the loaders do not show."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.data.training_loaders import training_loaders
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.paper_runs import ranks_take_turns
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.source.index.names import Names

# Calls that may be given a rank and share no data out by it.
HARMLESS = frozenset(
    (
        *(
            "print",
            "str",
            "int",
            "format",
            "info",
            "debug",
            "warning",
            "write",
            "append",
            "add_scalar",
            "join",
        ),
        *(
            "set_device",
            "device",
            "cuda",
            "to",
            "seed",
            "manual_seed",
            "manual_seed_all",
            "DistributedSampler",
            "init_process_group",
            "DistributedDataParallel",
            "DDP",
        ),
    )
)


def drawn_whole(facts: Facts, loader: Loader) -> bool:
    """Whether every rank of a distributed program draws all of the data: no rank shares it out."""
    if ranks_take_turns(facts, loader.names, loader.node):
        return False
    programs = [program for program in programs_of(facts) if loader in training_loaders(facts, program)]
    return bool(programs) and all(
        program.kind == "ddp" and not shares_by_hand(facts, program) for program in programs
    )


@once
def shares_by_hand(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a rank is used for more than tests, devices, seeds and messages: a slice, say."""
    return any(_shares(facts, names) for names in program.files)


def _shares(facts: Facts, names: Names) -> bool:
    for node in list(names.parents):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and _is_rank(facts, names, node):
            if _shares_out(facts, names, node):
                return True
    return False


def _is_rank(facts: Facts, names: Names, node: ast.Name | ast.Attribute | ast.Call) -> bool:
    read = isinstance(node, ast.Call) or isinstance(node.ctx, ast.Load)
    return read and bool({"rank", "local_rank"} & rank_kinds(facts).of(names, node))


def _shares_out(facts: Facts, names: Names, node: ast.expr) -> bool:
    parent = names.parents[node]
    if isinstance(parent, ast.keyword):
        parent = names.parents[parent]
    if isinstance(parent, ast.Slice):
        return True
    if isinstance(parent, ast.Subscript):
        return parent.slice is node
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, (ast.Mod, ast.Mult, ast.FloorDiv))
    if isinstance(parent, ast.Call) and node is not parent.func:
        name = getattr(parent.func, "attr", getattr(parent.func, "id", ""))
        return name not in HARMLESS and not facts.flow.functions(names, parent)
    return False
