"""HVD601: torch.save runs on rank 0 only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.writers import unguarded_writers
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for names, call in unguarded_writers(facts):
        kinds = facts.kinds(names) & {"ddp", "single"}
        if not kinds:
            continue
        statement = names.statement(call)
        message = "every rank would write this file; rank 0 writes it"
        if not (isinstance(statement, ast.Expr) and statement.value is call):
            advice = f"put the writing under `if {facts.hvd(names)}.rank() == 0:`"
            yield facts.manual("HVD601", names, call, "every rank would write this file", advice)
            continue
        make = facts.safe if kinds == {"single"} else facts.suggested
        yield make(
            "HVD601",
            names,
            call,
            message,
            edits.guard,
            names.source,
            statement,
            f"{facts.hvd(names)}.rank() == 0",
        )


RULE = Rule(
    id="HVD601",
    title="checkpoints are written by rank 0",
    what="Puts a torch.save that every rank would run under `if hvd.rank() == 0:`.",
    why="N processes writing one file at once leave a broken one.",
    safety=(
        "Safe in a script that was single-process: the weights are the same on all ranks. Suggested in a DDP "
        "script, which may have meant a file per rank."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            loss.backward()
            torch.save(model.state_dict(), "model.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            loss.backward()
            if hvd.rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist

            if dist.get_rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
            reason="it is guarded already",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            torch.save(state, f"rank{dist.get_rank()}.pt")
            """,
            reason="a DDP script may mean a file per rank",
            reported=True,
        ),
    ),
)
