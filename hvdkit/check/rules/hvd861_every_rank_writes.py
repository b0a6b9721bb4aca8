"""HVD861: every rank writes the same checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import every_rank_certainly, horovod_files, wraps
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import Writer, needed_everywhere, writers
from hvdkit.migrate.facts.launch.which_processes import Where
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    training = {
        names
        for program in programs_of(facts)
        for names in program.files
        if any(wrap.names in program.files for wrap in wraps(facts))
    }
    for writer in writers(facts):
        if (
            writer.names not in files & training
            or writer.name != "torch.save"
            or writer.where is not Where.ALL
        ):
            continue
        if every_rank_certainly(facts, writer.names, writer.node):
            message = "every rank writes this file at the same time: the result may be corrupt"
            yield safe(facts, "HVD861", writer.names, writer.node, message, _guard, facts, writer)


def _guard(facts: Facts, writer: Writer) -> list[Edit]:
    names = writer.names
    statement = writer.opened or names.statement(writer.node)
    if not isinstance(statement, (ast.Expr, ast.With)) or needed_everywhere(facts, names, statement):
        raise edits.CannotEdit("its content is computed here, which all ranks may have to do")
    return edits.guard(names.source, [statement], f"{horovod_name(facts, names)}.rank() == 0")


RULE = Rule(
    id="HVD861",
    title="every rank writes the checkpoint",
    what="The ranks write the same file at the same time. Usually the last one wins; sometimes the file is unreadable.",
    why="a script that runs once per rank does everything once per rank.",
    safety="Safe: the line is put under `if hvd.rank() == 0:`. A path with the rank in it is left alone.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            torch.save(model.state_dict(), "model.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            if hvd.rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            main = not use_horovod or hvd.rank() == 0
            if use_horovod:
                hvd.init()
                optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            else:
                torch.save(model.state_dict(), "single.pt")
            if main and epoch % 10 == 0:
                torch.save(model.state_dict(), "model.pt")
            if not args.distributed or args.rank == 0:
                torch.save(model.state_dict(), "best.pt")
            """,
            reason="the test uses the rank, or a variable of that name, or the program runs without Horovod there",
        ),
    ),
)
