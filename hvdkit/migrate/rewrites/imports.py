"""The imports of a rewritten file: Horovod's added where used, those that edits left unused dropped."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from typing import Union

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.programs.horovod_import import horovod_module, horovod_name
from hvdkit.migrate.options import DDP
from hvdkit.source.edits import Edit, merge
from hvdkit.source.index.names import FUNCTIONS, Names

ImportNode = Union[ast.Import, ast.ImportFrom]

FRAMEWORKS = ("torch", "tensorflow", "keras", "tf_keras")
# Names that rules may write, with the import each needs.
NEEDS = {
    "Subset": (r"Subset\(", "from torch.utils.data import Subset"),
    "DistributedSampler": (
        r"DistributedSampler\(",
        "from torch.utils.data.distributed import DistributedSampler",
    ),
    "torch": (r"torch\.", "import torch"),
    "os": (r"os\.", "import os"),
    "socket": (r"socket\.", "import socket"),
    "dispatch_clip_grad": (r"dispatch_clip_grad\(", "from timm.utils import dispatch_clip_grad"),
    "tf": (r"tf\.", "import tensorflow as tf"),
    "hvd_load_model": (
        r"hvd_load_model\b",
        "from {package}.tensorflow.keras import load_model as hvd_load_model",
    ),
    "hvd_callbacks": (
        r"hvd_callbacks[.(]",
        "from {package}.tensorflow.keras import callbacks as hvd_callbacks",
    ),
}
# ... and those that the rules of the way back may write.
NEEDS_TO_DDP = {
    "dist": (r"dist\.", "import torch.distributed as dist"),
    "DDP": (r"DDP\(", "from torch.nn.parallel import DistributedDataParallel as DDP"),
    "default_hooks": (
        r"default_hooks\.",
        "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks",
    ),
    "io": (r"io\.", "import io"),
    "contextlib": (r"contextlib\.", "import contextlib"),
}


def import_edits(facts: Facts, names: Names, changes: Sequence[Edit]) -> list[Edit]:
    """Edits to a file's imports that go with the given changes. Raises EditConflict."""
    changes = merge(changes)  # what would be written inside a function that goes needs no import
    dropped = _dropped(facts, names, changes)
    return [*_added(facts, names, changes, dropped), *dropped]


def _added(facts: Facts, names: Names, changes: Sequence[Edit], dropped: Sequence[Edit]) -> list[Edit]:
    alone = _by_itself(names, changes)
    if alone:
        return [
            edits.before(names.source, statement, [line])
            for statement, inside in alone
            for line, _ in _wanted(facts, names, inside, above=True)
        ]
    found: list[Edit] = []
    alias = horovod_name(facts, names)
    early = _run_first(names, changes, alias)
    anchor, above = _anchor(names, early)
    for line, goes_above in _wanted(facts, names, changes, above):
        joined = _joined(names, line, early, dropped)
        if joined is not None:
            found.append(joined)
        elif anchor is None:
            found.append(_at_top(names, [line]))
        elif goes_above:
            found.append(edits.before(names.source, anchor, [line]))
        else:
            found.append(edits.after(names.source, _last_import(names, anchor), [line]))
    return found


def _wanted(facts: Facts, names: Names, changes: Sequence[Edit], above: bool) -> list[tuple[str, bool]]:
    """The imports that changes need and the module has not, and whether each goes above the framework's."""
    written = "\n".join(change.text for change in changes)
    alias = horovod_name(facts, names)
    wanted: list[tuple[str, bool]] = []
    if re.search(rf"\b{alias}\.", written) and alias not in names.module.names:
        wanted.append((f"import {horovod_module(facts, names)} as {alias}", above))
    package = horovod_module(facts, names).partition(".")[0]
    needs = {**NEEDS, **(NEEDS_TO_DDP if facts.options.target == DDP else {})}
    for name, (pattern, statement) in needs.items():
        if re.search(rf"(?<![\w.]){pattern}", written) and not _imported(names, name):
            wanted.append((statement.format(package=package), False))
    return wanted


def _by_itself(names: Names, changes: Sequence[Edit]) -> list[tuple[ast.stmt, list[Edit]]]:
    """The framework's first imports in functions that import all they need, with the changes in each.

    Such a function may be sent elsewhere to run. Nothing where a change stands outside of them.
    """
    source = names.source
    inside: list[tuple[ast.stmt, list[Edit]]] = []
    for function in (node for node in source.tree.body if isinstance(node, FUNCTIONS)):
        first = next((statement for statement in function.body if _is_framework(statement)), None)
        if first is not None:
            inside.append(
                (first, [c for c in changes if source.start(first) < c.start < source.end(function)])
            )
    covered = {change for _, within in inside for change in within}
    at_module = any(_is_framework(statement) for statement in source.tree.body)
    return [] if at_module or any(c.text and c not in covered for c in changes) else inside


def _is_framework(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom)) and any(
        name.partition(".")[0] in FRAMEWORKS for name in _modules(statement)
    )


def _joined(names: Names, line: str, early: int | None, dropped: Sequence[Edit]) -> Edit | None:
    """`from x import new` as one more name of the `from x import a, c` that is there, in their order.

    None where an import of this statement is removed, or where it is below the first line that needs it.
    """
    source, wanted = names.source, ast.parse(line).body[0]
    if not isinstance(wanted, ast.ImportFrom):
        return None
    new = ast.unparse(wanted.names[0])
    for statement in source.tree.body:
        if not isinstance(statement, ast.ImportFrom) or _modules(statement) != _modules(wanted):
            continue
        start, end = source.start(statement), source.end(statement)
        touched = any(start <= edit.end and edit.start <= end for edit in dropped)
        if statement.names[0].name == "*" or touched or (early is not None and start > early):
            continue
        following = next((alias for alias in statement.names if _sorted(alias.name) > _sorted(new)), None)
        if following is not None:
            return Edit(source.start(following), source.start(following), f"{new}, ")
        return Edit(source.end(statement.names[-1]), source.end(statement.names[-1]), f", {new}")
    return None


def _sorted(name: str) -> tuple[bool, bool, str]:
    """As isort orders imported names by default: constants, classes, the rest."""
    return not (name.isupper() and len(name) > 1), not name[:1].isupper(), name.lower()


def _last_import(names: Names, anchor: ast.stmt) -> ast.stmt:
    """The last import of the block that the anchor begins."""
    body = names.source.tree.body
    last = anchor
    for statement in body[body.index(anchor) + 1 :]:
        same_block = statement.lineno == (last.end_lineno or last.lineno) + 1
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) or not same_block:
            break
        last = statement
    return last


def _imported(names: Names, name: str) -> bool:
    """Whether a file imports a name for all of its lines: what a main guard imports is there from then on."""
    guard = main_guard(names)
    return any(
        binding.kind == "import" and (guard is None or guard not in names.ancestors(binding.node))
        for binding in names.module.names.get(name, ())
    )


def _run_first(names: Names, changes: Sequence[Edit], alias: str) -> int | None:
    """Where the first change stands that uses Horovod while the file is imported: outside all functions."""
    functions = [node for node in names.scopes if isinstance(node, FUNCTIONS)]
    bodies = [(names.source.start(node), names.source.end(node)) for node in functions]
    using = [change.start for change in changes if re.search(rf"\b{alias}\.", change.text)]
    return min((at for at in using if not any(low < at < high for low, high in bodies)), default=None)


def _anchor(names: Names, early: int | None) -> tuple[ast.stmt | None, bool]:
    """The module-level import to stand beside: above the framework's first, else below the last of all.

    early: of the imports above this offset, where a line that needs Horovod runs before the others.
    """
    source, body = names.source, names.source.tree.body
    plain = [s for s in body if isinstance(s, (ast.Import, ast.ImportFrom)) and not _is_future(s)]
    if early is not None:
        plain = [s for s in plain if source.start(s) < early]
    for statement in plain:
        if _is_framework(statement):
            return statement, True
    if plain:
        return plain[-1], False
    future = [s for s in body if isinstance(s, ast.ImportFrom)]
    return (future[-1], False) if future else (None, False)


def _at_top(names: Names, lines: Sequence[str]) -> Edit:
    body = names.source.tree.body
    return edits.at_start(names, body, [*lines, ""])


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _modules(statement: ImportNode) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module or ""] if statement.level == 0 else []


def _dropped(facts: Facts, names: Names, changes: Sequence[Edit]) -> list[Edit]:
    """Import names whose every use lies in replaced text, and that no other file takes from here."""
    if names.source.path.name == "__init__.py" or "__all__" in names.module.names:
        return []
    ranges = [(change.start, change.end) for change in changes if change.end > change.start]
    stopped = names.source.stopped
    used_there = set().union(*(stop.names for stop in stopped))
    written = "\n".join(change.text for change in changes if change not in [stop.edit for stop in stopped])
    gone: dict[ImportNode, list[ast.alias]] = {}
    for name, bindings in names.module.names.items():
        if any(binding.kind != "import" for binding in bindings):
            continue
        uses = [use for use in names.uses.get(name, ()) if names.scope(use).owner(name) is names.module]
        if not uses and name not in used_there:
            continue
        if not all(_covered(names, use, ranges) for use in uses):
            continue
        if re.search(rf"(?<![\w.]){re.escape(name)}\b", written) or _taken_elsewhere(facts, names, name):
            continue
        for binding in bindings:
            statement = names.parents[binding.node]
            plain = isinstance(statement, (ast.Import, ast.ImportFrom)) and isinstance(
                names.parents[statement], ast.Module
            )
            # A name imported in a try block or a function stays: what surrounds it may depend on it.
            if plain and isinstance(binding.node, ast.alias) and len(bindings) == 1:
                gone.setdefault(statement, []).append(binding.node)  # type: ignore[arg-type]
    found: list[Edit] = []
    for statement, aliases in gone.items():
        if len(aliases) == len(statement.names):
            if len(names.source.tree.body) > 1:
                found += _line(names, statement)
        else:
            found += [_run(names, statement, run) for run in _runs(statement, aliases)]
    return found


def _line(names: Names, statement: ImportNode) -> list[Edit]:
    try:
        return [edits.delete(names, statement)]
    except edits.CannotEdit:
        return []


def _runs(statement: ImportNode, aliases: Sequence[ast.alias]) -> list[list[ast.alias]]:
    """The names that go, those that stand beside each other together."""
    runs = itertools.groupby(statement.names, key=lambda alias: alias in aliases)
    return [list(run) for goes, run in runs if goes]


def _run(names: Names, statement: ImportNode, run: Sequence[ast.alias]) -> Edit:
    """Neighbouring names of `from x import a, b, c` with their commas; others stay."""
    source = names.source
    first, after = statement.names.index(run[0]), statement.names.index(run[-1]) + 1
    if after < len(statement.names):
        return Edit(source.start(run[0]), source.start(statement.names[after]), "")
    return Edit(source.end(statement.names[first - 1]), source.end(run[-1]), "")


def _covered(names: Names, use: ast.Name, ranges: Sequence[tuple[int, int]]) -> bool:
    start, end = names.source.start(use), names.source.end(use)
    return any(low <= start and end <= high for low, high in ranges)


def _taken_elsewhere(facts: Facts, names: Names, name: str) -> bool:
    """Whether another file of the project may use this module's import as its own."""
    path = names.source.path
    for other in facts.files:
        if other is names:
            continue
        if any(facts.project.find(star, other.source.path) == path for star in other.stars):
            return True
        for bindings in other.module.names.values():
            for binding in bindings:
                head, _, tail = binding.qualified.rpartition(".")
                if binding.kind == "import" and tail == name and head:
                    if facts.project.find(head, other.source.path) == path:
                        return True
        if name in other.attributes and any(
            value.kind == "module" and value.names is names
            for attribute in other.attributes[name]
            for value in facts.flow.values(other, attribute.value)
        ):
            return True
    return facts.project.taken_where_passed_over(path, name)
