"""HVD109: MASTER_ADDR and MASTER_PORT have no meaning: setting them goes, reading them must not fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.ranks import environment_accesses, environment_stores
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

# What torch.distributed itself takes where nothing is said.
DEFAULTS = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        if "ddp" not in facts.kinds(names):
            continue
        for statement, variable in environment_stores(names, *DEFAULTS):
            if _plain(statement):
                message = f"{variable} is not used: Horovod's launcher connects the processes"
                yield facts.safe("HVD109", names, statement, message, edits.delete, names, statement)
        for node, variable, _ in environment_accesses(names, *DEFAULTS):
            if isinstance(node, ast.Subscript):
                message = f"{variable} is not set by horovodrun: reading it must not end the program"
                yield facts.safe("HVD109", names, node, message, _default, names, node, variable)


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


def _default(names: Names, node: ast.Subscript, variable: str) -> Edit:
    source = names.source
    quote = source.text[source.start(node.slice)]
    if quote not in "'\"":
        raise edits.CannotEdit("the variable is not written as a plain text")
    mapping = source.segment(node.value)
    return edits.replace(
        source, node, f"{mapping}.get({source.segment(node.slice)}, {quote}{DEFAULTS[variable]}{quote})"
    )


RULE = Rule(
    id="HVD109",
    title="MASTER_ADDR and MASTER_PORT go",
    what=(
        "Removes statements that set MASTER_ADDR and MASTER_PORT, and gives reads of them torch's own defaults "
        "so that they do not raise."
    ),
    why="horovodrun tells its processes how to meet in other ways, and sets neither variable.",
    safety="Safe: only init_process_group used them. A value that comes from a call is left: the call may do more.",
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
        Change(
            """\
            import os
            import torch.distributed as dist

            os.environ.setdefault("MASTER_PORT", "29500")
            url = "tcp://%s:%s" % (os.environ['MASTER_ADDR'], int(os.environ["MASTER_PORT"]))
            dist.init_process_group("gloo", init_method=url)
            """,
            """\
            import os
            import torch.distributed as dist

            url = "tcp://%s:%s" % (os.environ.get('MASTER_ADDR', '127.0.0.1'), int(os.environ.get("MASTER_PORT", "29500")))
            dist.init_process_group("gloo", init_method=url)
            """,
            note="The address still appears in the script's own messages.",
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            os.environ["MASTER_PORT"] = port = "29500"
            os.environ["MASTER_ADDR"] = "localhost"
            dist.init_process_group("nccl", init_method=f"tcp://{os.environ['MASTER_ADDR']}:{port}")
            """,
            """\
            import os
            import torch.distributed as dist

            os.environ["MASTER_PORT"] = port = "29500"
            dist.init_process_group("nccl", init_method=f"tcp://{os.environ.get('MASTER_ADDR', '127.0.0.1')}:{port}")
            """,
            note=(
                "An address that is assigned together with another variable stays; one that is read gets a "
                "default."
            ),
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch

            os.environ["MASTER_ADDR"] = "localhost"
            """,
            reason="the program does not use torch.distributed",
        ),
        Keep(
            """\
            import os
            import torch.distributed as dist

            os.environ["MASTER_PORT"] = str(claim_port())
            os.environ["DATA"] = "data"
            dist.init_process_group("gloo")
            """,
            reason="claim_port() may do more than find a number; a variable left set is harmless",
        ),
    ),
)
