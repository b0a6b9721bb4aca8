"""HVD606: a checkpoint that rank 0 has written is read when it is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.guards import Where, where_runs
from hvdkit.migrate.facts.order import passed_once
from hvdkit.migrate.facts.training import only_single
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

BARRIERS = ("horovod.torch.barrier", "hvdkit.torch.barrier")


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls("torch.load"):
        names = site.names
        if not only_single(facts, names) or not _saved_above(facts, site):
            continue
        statement = passed_once(names, site.node)
        if statement is None or where_runs(facts, names, statement) is not Where.ALL:
            continue
        if any(_is_above(other, names, statement) for other in facts.calls(*BARRIERS)):
            continue
        message = "all ranks wait until rank 0 has written what is read here"
        line = f"{facts.hvd(names)}.barrier()"
        yield facts.safe("HVD606", names, statement, message, edits.before, names.source, statement, [line])


def _saved_above(facts: Facts, site: Site) -> bool:
    """Whether the same function, or module, saves above."""
    function = site.names.function(site.node)
    return any(
        save.names is site.names
        and save.names.function(save.node) is function
        and save.node.lineno < site.node.lineno
        for save in facts.calls("torch.save")
    )


def _is_above(site: Site, names: Names, statement: ast.stmt) -> bool:
    body = edits.block(names, statement)
    position = body.index(statement)
    return site.names is names and position > 0 and site.names.statement(site.node) is body[position - 1]


RULE = Rule(
    id="HVD606",
    title="a barrier before reading back",
    what="Puts hvd.barrier() above a torch.load that follows a torch.save in the same function.",
    why="Rank 0 alone writes now: the others would read a file that is half written, or the one before it.",
    safety="Safe: only where every rank passes it once, outside of tests and loops.",
    check=check,
    changes=(
        Change(
            """\
            import torch

            for epoch in range(3):
                loss.backward()
                optimizer.step()
                torch.save(model.state_dict(), "best.pt")
            with open("best.pt", "rb") as file:
                model.load_state_dict(torch.load(file))
            """,
            """\
            import horovod.torch as hvd
            import torch

            for epoch in range(3):
                loss.backward()
                optimizer.step()
                torch.save(model.state_dict(), "best.pt")
            hvd.barrier()
            with open("best.pt", "rb") as file:
                model.load_state_dict(torch.load(file))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            model.load_state_dict(torch.load("pretrained.pt"))
            loss.backward()
            torch.save(model.state_dict(), "best.pt")
            """,
            reason="it reads what was there before",
        ),
        Keep(
            """\
            import torch

            loss.backward()
            torch.save(model.state_dict(), "best.pt")
            if check:
                model.load_state_dict(torch.load("best.pt"))
            """,
            reason="whether all ranks come here cannot be shown, and a barrier that one misses never ends",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            torch.save(model.state_dict(), "best.pt")
            model.load_state_dict(torch.load("best.pt"))
            loss.backward()
            dist.barrier()
            """,
            reason="a DDP script reads and writes as it did",
        ),
    ),
)
