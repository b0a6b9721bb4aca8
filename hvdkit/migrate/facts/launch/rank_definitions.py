"""What goes with the definitions of ranks and sizes: other reads of the same number, and tests of it.

The definitions themselves, which reach init_process_group and the spawned workers, are launch.py's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.launch.launch import Origin, init_argument, launch_of
from hvdkit.migrate.facts.launch.ranks import constant
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.source.index.names import Names

# What a process that is alone has, in place of each of Horovod's functions.
_ALONE = {"rank": (-1, 0), "size": (-1, 0, 1)}


def ranks_from_outside(facts: Facts) -> Iterator[tuple[Site, ast.expr, str]]:
    """The ranks, and beside them sizes, of process groups that come from where nothing can be followed.

    Each with Horovod's function. A size alone says nothing: the launcher's may be asked in many ways.
    """
    for site in launch_of(facts).inits:
        rank = init_argument(site.node, "rank")
        if rank is None or not _from_outside(facts, site, rank, "rank"):
            continue
        yield site, rank, "rank"
        size = init_argument(site.node, "world_size")
        if size is not None and _from_outside(facts, site, size, "size"):
            yield site, size, "size"


def _from_outside(facts: Facts, site: Site, given: ast.expr, function: str) -> bool:
    origins = launch_of(facts).origins(site.names, given)
    return constant(given) is None and all(
        origin.kind == "expression" and constant(origin.node) in _ALONE[function] for origin in origins
    )


def tests_for_several(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The number in `ngpus_per_node > 1`: whether there are several, also one on each host."""
    for names in (names for names in facts.files if "ddp" in kinds_of(facts, names)):
        for node in names.of_kind(ast.Compare):
            if len(node.ops) == 1 and constant(node.comparators[0]) == 1:
                number = node.left
                asks = isinstance(node.ops[0], (ast.Gt, ast.Eq, ast.NotEq, ast.LtE))
                if asks and launch_of(facts).meaning(names, number) == {"local_size"}:
                    if isinstance(number, (ast.Name, ast.Attribute)):
                        yield names, number


def read_again(facts: Facts, origin: Origin) -> Iterator[ast.expr]:
    """The reads below of what comes from outside: a parameter, or an option of a library's, `opts.gpus`."""
    names, value = origin.names, origin.node
    function = names.function(value)
    given = isinstance(value, ast.Name) and any(b.kind == "param" for b in names.bindings(value.id, value))
    if function is None or not (given or isinstance(value, ast.Attribute)):
        return
    if any(o.node is not value and constant(o.node) is None for o in launch_of(facts).origins(names, value)):
        return
    same = [part for part in names.walk(function) if isinstance(part, type(value)) and part is not value]
    same = [part for part in same if ast.unparse(part) == ast.unparse(value) and part.lineno > value.lineno]
    if all(isinstance(getattr(part, "ctx", None), ast.Load) for part in same):
        yield from same


def host_numbers(origin: Origin) -> Iterator[ast.expr]:
    """The reads above `args.rank = args.rank * gpus + gpu`: there the variable is the number of the host."""
    names, value, statement = origin.names, origin.node, origin.names.statement(origin.node)
    hosts = [
        part for part in ast.walk(value) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult)
    ]
    if not isinstance(statement, ast.Assign) or statement.value is not value or not hosts:
        return
    variable = ast.unparse(statement.targets[0])
    if variable not in (ast.unparse(hosts[0].left), ast.unparse(hosts[0].right)):
        return
    for read in names.walk(names.function(value) or names.source.tree):
        if not isinstance(read, (ast.Name, ast.Attribute)) or not isinstance(read.ctx, ast.Load):
            continue
        use = names.statement(read)
        kept = isinstance(use, ast.Assign) and read in names.walk(use.value) and use.lineno < statement.lineno
        if kept and ast.unparse(read) == variable and names.function(read) is names.function(value):
            yield read
