"""HVD109: MASTER_ADDR and MASTER_PORT have no meaning: setting them goes, reading them must not fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.environment import DEFAULTS
from hvdkit.migrate.facts.launch.ranks import (
    JOBS,
    NODE_LISTS,
    environment_accesses,
    environment_reads,
    environment_stores,
    launch_tests,
)
from hvdkit.migrate.facts.launch.which_processes import caught
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

STRICT = ("check_output", "check_call", "run", "Popen")  # they raise where there is no scontrol


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        for statement, variable in environment_stores(names, *DEFAULTS):
            if _plain(statement):
                message = f"{variable} is not used: Horovod's launcher connects the processes"
                yield safe(facts, "HVD109", names, statement, message, edits.delete, names, statement)
        for node, variable, _ in environment_accesses(names, *DEFAULTS):
            if isinstance(node, ast.Subscript):
                message = f"{variable} is not set by horovodrun: reading it must not stop the program"
                yield safe(facts, "HVD109", names, node, message, _default, names, node, DEFAULTS[variable])
        for node, variable, _ in environment_accesses(names, *NODE_LISTS, *JOBS):
            known = _under_slurm(names, node) or caught(names, node)
            if isinstance(node, ast.Subscript) and not known and _reads_ranks(names, node):
                message = f"{variable} is not set without Slurm, and this runs under horovodrun, too"
                if variable in NODE_LISTS and _asks_strictly(names, node):
                    advice = (
                        "remove the code that looks for the first host: Horovod's launcher connects the "
                        "processes"
                    )
                    yield manual("HVD109", names, node, message, advice)
                else:
                    value = "0" if variable in JOBS else DEFAULTS["MASTER_ADDR"]
                    yield safe(facts, "HVD109", names, node, message, _default, names, node, value)


def _under_slurm(names: Names, node: ast.AST) -> bool:
    """Whether a test for Slurm that stays as it is decides over a node."""
    tested = {inner for test in launch_tests(names) for inner in ast.walk(test.node)}
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and child in parent.body:
            texts = [part for part in ast.walk(parent.test) if isinstance(part, ast.Constant)]
            if any(str(text.value).upper().startswith("SLURM") and text not in tested for text in texts):
                return True
        child = parent
    return False


def _reads_ranks(names: Names, node: ast.AST) -> bool:
    """Whether the function of a node reads a rank or a size as well, which comes from Horovod now."""
    function = names.function(node)
    return any(names.function(read.node) is function for read in environment_reads(names))


def _asks_strictly(names: Names, node: ast.AST) -> bool:
    """Whether the function of a node starts a program (scontrol) that must be there."""
    function = names.function(node)
    return any(names.function(call) is function for method in STRICT for call in names.calls.get(method, ()))


def _plain(statement: ast.stmt) -> bool:
    """Whether nothing but the assignment is lost with a statement."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return False
    parts = list(ast.walk(value)) if value is not None else []
    calls = [part for part in parts if isinstance(part, ast.Call)]
    if isinstance(statement, ast.Expr):
        calls = [call for call in calls if call is not value]
    harmless = all(
        (isinstance(call.func, ast.Name) and call.func.id in ("str", "int", "repr"))
        or (isinstance(call.func, ast.Attribute) and call.func.attr == "format")
        for call in calls
    )
    return harmless and not any(isinstance(part, ast.NamedExpr) for part in parts)


def _default(names: Names, node: ast.Subscript, value: str) -> Edit:
    source = names.source
    quote = source.text[source.start(node.slice)]
    if quote not in "'\"":
        raise edits.CannotEdit("the variable is not a plain string")
    mapping = source.segment(node.value)
    return edits.replace(source, node, f"{mapping}.get({source.segment(node.slice)}, {quote}{value}{quote})")


RULE = Rule(
    id="HVD109",
    title="MASTER_ADDR and MASTER_PORT are removed",
    what=(
        "Removes statements that set MASTER_ADDR and MASTER_PORT, and gives reads of them torch's own "
        "defaults so that they do not raise. The same applies to Slurm's host list and job number, where "
        "the test for Slurm has become a test for a job of several processes."
    ),
    why="horovodrun handles rendezvous differently, and sets neither variable.",
    safety=(
        "Safe: only init_process_group used them. A value that comes from a call is left: the call may do "
        "more."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch.distributed as dist

            def setup(rank, size, port):
                os.environ["MASTER_ADDR"] = "localhost"
                os.environ["MASTER_PORT"] = str(port)
                dist.init_process_group("gloo", rank=rank, world_size=size)
            """,
            """\
            import torch.distributed as dist

            def setup(rank, size, port):
                dist.init_process_group("gloo", rank=rank, world_size=size)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import subprocess
            import torch.distributed as dist

            def setup():
                if "SLURM_JOB_ID" in os.environ:
                    hosts = os.environ["SLURM_NODELIST"]
                    print(subprocess.getoutput(f"scontrol show hostname {hosts}"))
                dist.init_process_group("nccl")
            """,
            reason="a test for Slurm that stays: there the variable is set",
        ),
    ),
)
