"""Where a program reads its rank: the launcher's environment variables and torch.distributed's questions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

# What torchrun and its relatives set -> Horovod's function of the same meaning.
ENVIRONMENT = {
    "RANK": "rank",
    "WORLD_SIZE": "size",
    "LOCAL_RANK": "local_rank",
    "LOCAL_WORLD_SIZE": "local_size",
    "GROUP_RANK": "cross_rank",
    "NODE_RANK": "cross_rank",
}

QUESTIONS = {
    "torch.distributed.get_rank": "rank",
    "torch.distributed.get_world_size": "size",
    "torch.distributed.get_node_local_rank": "local_rank",
}


@dataclass(frozen=True)
class RankRead:
    """One read of a rank. node: the whole expression with its int(...); number: whether it is an int.

    function: Horovod's function of the same meaning ("rank", "size", "local_rank", ...).
    """

    names: Names
    node: ast.expr
    function: str
    number: bool
    source: str


def rank_reads(facts: Facts) -> Iterator[RankRead]:
    """Every read, in the environment or from torch.distributed, of a rank or a size."""
    for names in facts.files:
        yield from _environment(names)
    for site in facts.calls(*QUESTIONS):
        if not site.node.args and not site.node.keywords:
            yield RankRead(site.names, site.node, QUESTIONS[site.name], True, site.name)


def _environment(names: Names) -> Iterator[RankRead]:
    nodes: list[tuple[ast.expr, str | None]] = []
    for attribute in [*names.attributes.get("environ", ()), *names.uses.get("environ", ())]:
        if "os.environ" not in names.qualified(attribute):
            continue
        parent = names.parents.get(attribute)
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load):
            nodes.append((parent, _text(parent.slice)))
        elif isinstance(parent, ast.Attribute) and parent.attr in ("get", "setdefault"):
            call = names.parents.get(parent)
            if isinstance(call, ast.Call) and call.func is parent and call.args and parent.attr == "get":
                nodes.append((call, _text(call.args[0])))
    for call in names.calls.get("getenv", ()):
        if "os.getenv" in names.qualified(call.func) and call.args:
            nodes.append((call, _text(call.args[0])))
    for node, variable in nodes:
        if variable not in ENVIRONMENT:
            continue
        outer = names.parents.get(node)
        is_int = isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "int"
        whole = outer if is_int and isinstance(outer, ast.Call) and len(outer.args) == 1 else node
        yield RankRead(names, whole, ENVIRONMENT[variable], whole is not node, variable)


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
