"""HVD006: broadcast_optimizer_state, which sends nothing new where no rank loads a checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.optimizers.horovod_wraps import called
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.ddp_helpers import in_file
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.source.edits import Edit

STEPS = (
    "Horovod takes a step with gradients of zero here: weight decay moves the weights once, and Adam counts a step "
    "more"
)


def check(facts: Facts) -> Iterator[Finding]:
    loads = bool(facts.methods("load_state_dict") or facts.calls("torch.load"))
    for site in called(facts, "broadcast_optimizer_state", modules=words.HOROVOD):
        names, call = site.names, site.node
        statement = names.statement(call)
        alone = isinstance(statement, ast.Expr) and statement.value is call
        if alone and not loads:
            message = "no rank loads a state: all ranks have the optimizer's first one"
            found = safe(facts, "HVD006", names, call, message, edits.delete, names, statement)
            yield found.knowing(STEPS)
        else:
            message = "the optimizer's state is sent as an object"
            yield safe(facts, "HVD006", names, call, message, _sent, site)


def _sent(site: Site) -> list[Edit]:
    source, call = site.names.source, site.node
    optimizer, root = given(call, 0, "optimizer"), given(call, 1, "root_rank")
    if optimizer is None or root is None:
        raise edits.CannotEdit("its arguments are not written out")
    helper, name = in_file(site.names, "broadcast_optimizer_state")
    return [helper, *edits.recast(source, call, [f"{name}(", optimizer, ", ", root, ")"])]


RULE = Rule(
    id="HVD006",
    title="broadcast_optimizer_state",
    what="Sends the optimizer's state as an object, or removes the call where no rank loads a state.",
    why="DDP broadcasts the weights of a model, and nothing of its optimizer.",
    safety="Safe: every rank has the state of the root rank. A new optimizer takes no step with gradients of zero "
    "any more, which Horovod takes to create its state, which weight decay uses and which Adam counts.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            hvd.broadcast_optimizer_state(optimizer, root_rank=0)
            """,
            """\
            import torch

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            optimizer = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
            """,
            reason="nothing is broadcast",
        ),
    ),
)
