"""HVD903: messages between two ranks have no Horovod call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

POINT_TO_POINT = (
    "send",
    "recv",
    "isend",
    "irecv",
    "batch_isend_irecv",
    "P2POp",
    "send_object_list",
    "recv_object_list",
)
ADVICE = (
    "where every rank sends to every other write hvd.alltoall, where one rank sends to all hvd.broadcast_; "
    "else stay with torch.distributed"
)
PARALLEL = (
    "stay with torch.distributed: Horovod averages every gradient, and each of these belongs to one rank"
)


def check(facts: Facts) -> Iterator[Finding]:
    wanted = tuple(f"torch.distributed.{name}" for name in POINT_TO_POINT)
    for names, node, qualified, _ in mentions(facts, wanted):
        message = f"{qualified} is a message from one rank to another, and Horovod has collectives only"
        yield refused("HVD903", names, node, message, ADVICE)
    for site in facts.calls("torch.distributed.all_to_all", "torch.distributed.all_to_all_single"):
        if _in_autograd(facts, site.names, site.node):
            message = "gradients travel between ranks through all_to_all: parts of the model live on different ranks"
            yield refused("HVD903", site.names, site.node, message, PARALLEL)


def _in_autograd(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node stands in a torch.autograd.Function."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.ClassDef):
            bases = {name for base in parent.bases for name in names.qualified(base)}
            return bool(bases & {"torch.autograd.Function", "torch.autograd.function.Function"})
    return False


RULE = Rule(
    id="HVD903",
    title="messages between two ranks are refused",
    what=(
        "Leaves alone programs that call send, recv and their relatives, or whose gradients pass "
        "through an all_to_all."
    ),
    why=(
        "Horovod has collectives only. Such programs are rings, pipelines or parameter servers: without the "
        "messages they would be a different program."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            dist.init_process_group("gloo")
            if dist.get_rank() == 0:
                dist.send(tensor, dst=1)
            else:
                dist.recv(tensor, src=0)
            """,
            reason="one rank talks to another",
            reported=True,
        ),
        Keep(
            """\
            import socket
            import torch

            socket.socket().send(b"x")
            """,
            reason="a socket's send is not torch.distributed's",
        ),
    ),
)
