"""HVD118: a script of horovod.torch imports hvdkit.torch, which also runs without Horovod."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

PLAIN, OURS = "horovod.torch", "hvdkit.torch"
# What hvdkit.torch has on Horovod alone, and what to write without it.
NOT_OFFERED = {
    "Adasum": "op=hvd.Average",
    "ProcessSet": "torch.distributed.new_group",
    "add_process_set": "torch.distributed.new_group",
    "elastic": "torchrun --max-restarts, and a checkpoint that the script resumes",
    "start_timeline": "torch.profiler",
}


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target != "hvdkit":
        return
    for names in facts.files:
        statements = {
            _statement(names, binding.node): None
            for _, binding in names.imports
            if f"{binding.qualified}.".startswith(f"{PLAIN}.") or binding.qualified == "horovod"
        }
        for statement in statements:
            if _loads_plain(statement):
                message = (
                    f"{OURS} has the same names, and runs on torch.distributed where there is no Horovod"
                )
                yield safe(facts, "HVD118", names, statement, message, _edits, names, statement)
        yield from _not_offered(names) if statements else ()


def _statement(names: Names, node: ast.AST) -> ast.AST:
    return names.parents[node] if isinstance(node, ast.alias) else node


def _loads_plain(statement: ast.AST) -> bool:
    if isinstance(statement, ast.Import):
        return any(alias.name == PLAIN for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and (
        statement.module == PLAIN
        or (statement.module == "horovod" and any(alias.name == "torch" for alias in statement.names))
    )


def _edits(names: Names, statement: ast.stmt) -> Edit:
    source = names.source
    if isinstance(statement, ast.ImportFrom) and statement.module == "horovod":
        if len(statement.names) > 1:
            raise edits.CannotEdit("it imports more from horovod than torch")
        return edits.replace(source, statement, f"import {OURS} as {statement.names[0].asname or 'torch'}")
    if isinstance(statement, ast.Import) and any(
        alias.name == PLAIN and alias.asname is None for alias in statement.names
    ):
        raise edits.CannotEdit(f"the file writes {PLAIN} in full wherever it uses it")
    text = source.text[source.start(statement) : source.end(statement)]
    if PLAIN not in text:
        raise edits.CannotEdit(f"{PLAIN} is written with spaces")
    return edits.replace(source, statement, text.replace(PLAIN, OURS, 1))


def _not_offered(names: Names) -> Iterator[Finding]:
    """Where the file names what hvdkit.torch has on Horovod alone, each name once."""
    said: set[str] = set()
    for name in sorted(names.imported("horovod")):
        for node, qualified in names.readings(name):
            rest = qualified[len(PLAIN) + 1 :] if qualified.startswith(f"{PLAIN}.") else ""
            part = rest.partition(".")[0]
            if part in NOT_OFFERED and part not in said:
                said.add(part)
                message = f"{part} runs on Horovod alone; on torch.distributed hvdkit.torch refuses it"
                yield manual("HVD118", names, node, message, f"without Horovod, {NOT_OFFERED[part]}")


RULE = Rule(
    id="HVD118",
    title="a Horovod script imports hvdkit.torch",
    what=(
        "With `--target hvdkit`, imports hvdkit.torch in a script that imports horovod.torch, and names what of "
        "Horovod the script uses that has no counterpart on torch.distributed: Adasum, process sets, elastic "
        "training, the timeline."
    ),
    why=(
        "hvdkit.torch has the names of horovod.torch with the same meaning, and runs on Horovod or, where there "
        "is none, on torch.distributed: the way back from Horovod is this line."
    ),
    safety=(
        "Safe: on Horovod the functions are Horovod's own. The import stays where the file writes horovod.torch "
        "in full or imports more beside it."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            import horovod.torch as hvd

            hvd.init()
            model = torch.nn.Linear(4, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            """\
            import torch
            import hvdkit.torch as hvd

            hvd.init()
            model = torch.nn.Linear(4, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            target="hvdkit",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import horovod.torch as hvd

            hvd.init()
            """,
            reason="without --target hvdkit, a script of Horovod is one of Horovod",
        ),
    ),
)
