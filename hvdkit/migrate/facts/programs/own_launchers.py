"""Files that start the ranks themselves: any command, with RANK and the like in its environment.

A launcher of torch's, copied into a project, looks so. commands.py knows the files that call torch's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.arguments import keyword

STARTS = tuple(f"subprocess.{name}" for name in ("Popen", "run", "call", "check_call", "check_output"))
# What a process must find to be a rank: its number, and one of these.
NUMBER = "RANK"
OTHERS = ("LOCAL_RANK", "WORLD_SIZE")


def ranks_by_hand(facts: Facts) -> Iterator[Site]:
    """The calls that give a process a rank's variables, in a project with a distributed program."""
    if any(program.kind == "ddp" for program in programs_of(facts)):
        for site in facts.calls(*STARTS):
            if _gives_rank(site):
                yield site


def _gives_rank(site: Site) -> bool:
    """Whether the environment that a call gives to its process was given a rank here.

    What a launcher leaves to its processes by its own environment it sets anew for each, in a loop.
    """
    given = keyword(site.node, "env")
    if given is None and not site.names.in_loop(site.node):
        return False
    return _holds(site.names, site.node, given, (NUMBER,)) and _holds(site.names, site.node, given, OTHERS)


def _holds(names: Names, call: ast.Call, given: ast.expr | None, variables: tuple[str, ...]) -> bool:
    """Whether one of the variables is set in a mapping that becomes the process's environment."""
    function = names.function(call)
    return any(
        names.function(mapping) is function and _becomes(names, mapping, given)
        for mapping in _mappings(names, variables)
    )


def _mappings(names: Names, variables: tuple[str, ...]) -> Iterator[ast.expr]:
    """Where the variables are set: `env["RANK"] = ...`, `{"RANK": ...}`, `dict(env, RANK=...)`."""
    for literal in (literal for variable in variables for literal in names.texts.get(variable, ())):
        parent = names.parents[literal]
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
            yield parent.value
        elif isinstance(parent, ast.Dict) and literal in parent.keys:
            yield _holder(names, parent)
    for name in ("dict", "update"):
        for call in names.calls.get(name, ()):
            if any(argument.arg in variables for argument in call.keywords):
                yield _holder(names, call)


def _holder(names: Names, made: ast.expr) -> ast.expr:
    """What holds a mapping that is written out: what it is added to or assigned to, or nothing but itself."""
    call = made if isinstance(made, ast.Call) else names.parents[made]
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        return call.func.value
    parent = names.parents[made]
    return parent.targets[0] if isinstance(parent, ast.Assign) else made


def _becomes(names: Names, mapping: ast.expr, given: ast.expr | None) -> bool:
    """Whether a mapping is what a process is given, or the environment of all where it is given none."""
    if given is None:
        return "os.environ" in names.qualified(mapping)
    named = {part.id for part in ast.walk(given) if isinstance(part, ast.Name)}
    return mapping is given or (isinstance(mapping, ast.Name) and mapping.id in named)
