"""Calls that write files, and which processes reach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.facts.guards import Where, where_runs
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

# Library functions that write a file -> position and name of the argument that says where.
SAVES = {
    "torch.save": (1, "f"),
    "torch.jit.save": (1, "f"),
    "torchvision.utils.save_image": (1, "fp"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
}
# Objects that write for as long as they live -> the same.
LOGS = {
    "torch.utils.tensorboard.SummaryWriter": (0, "log_dir"),
    "wandb.init": (-1, "dir"),
}
IN_MEMORY = frozenset(("io.BytesIO", "io.StringIO", "tempfile.TemporaryFile"))


@dataclass(frozen=True)
class Writer:
    """One call that writes. log: it makes an object that goes on writing (SummaryWriter, wandb.init)."""

    names: Names
    node: ast.Call
    name: str
    where: Where
    log: bool = False


def writers(facts: Facts) -> Iterator[Writer]:
    """Every call that writes a file that other ranks would write, too."""
    for log, table in ((False, SAVES), (True, LOGS)):
        for site in facts.calls(*table):
            position, parameter = table[site.name]
            target = keyword(site.node, parameter)
            if target is None and 0 <= position < len(site.node.args):
                target = site.node.args[position]
            if target is not None and _own_file(facts, site.names, target):
                continue
            yield Writer(site.names, site.node, site.name, where_runs(facts, site.names, site.node), log)


def unguarded_writers(facts: Facts) -> Iterator[Writer]:
    """The writers that more than one process would run."""
    return (writer for writer in writers(facts) if writer.where is Where.ALL)


def _own_file(facts: Facts, names: Names, target: ast.expr) -> bool:
    """Whether what is written is memory, a temporary file, or a path that has the rank in it."""
    return bool(facts.flow.made(names, target) & IN_MEMORY) or facts.ranks.inside(names, target)


def calls_project_code(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs the script's own functions, which all ranks may have to run."""
    return any(isinstance(part, ast.Call) and facts.flow.functions(names, part) for part in ast.walk(node))
