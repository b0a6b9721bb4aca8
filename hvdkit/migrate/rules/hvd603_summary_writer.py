"""HVD603: a single-process script's SummaryWriter lives on rank 0, and so does every call of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import needed_everywhere, own_logs
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import only_single, trained_by
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

WRITER = "torch.utils.tensorboard.SummaryWriter"
# Only told: TensorFlow's own, and tensorboard_logger and visdom, which older scripts use.
OLDER = (
    "visdom.Visdom",
    "tensorflow.summary.FileWriter",
    "tensorflow.summary.create_file_writer",
    "tensorboard_logger.Logger",
    "tensorboard_logger.configure",
)

OWN_CLASS = (
    "every rank would write this log, and its class is part of the project: the objects of such a class "
    "cannot be told apart"
)


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(WRITER):
        names, call = site.names, site.node
        if not only_single(facts, names) or where_runs(facts, names, call) is not Where.ALL:
            continue
        test = f"{horovod_name(facts, names)}.rank() == 0"
        writer = Value("made", WRITER, call, names)
        if writer not in facts.flow.values(names, call):
            advice = f"create it on rank 0 only (if {test}:), with every use of it"
            yield manual("HVD603", names, call, OWN_CLASS, advice)
            continue
        uses = _uses(facts)[writer]
        other = next((use for use in uses if not _statement(facts, *use)), None)
        if other is not None or not isinstance(names.parents.get(call), ast.Assign):
            line = other[1].lineno if other is not None else call.lineno
            advice = f"create it on rank 0 only (if {test}:), with every use of it"
            message = (
                f"every rank would write this log, and not every use of it is a plain call (line {line})"
            )
            yield manual("HVD603", names, call, message, advice)
            continue
        message = "the log is written by rank 0"
        yield safe(
            facts, "HVD603", names, call, message, edits.wrap, names.source, call, "", f" if {test} else None"
        )
        guarded: dict[Names, list[ast.stmt]] = {}
        for where, use in uses:
            if where_runs(facts, where, use) is Where.ALL:
                guarded.setdefault(where, []).append(where.statement(use))
        for where, statements in guarded.items():
            condition = f"{horovod_name(facts, where)}.rank() == 0"
            for row in edits.rows(where, statements):
                yield safe(facts, "HVD603", where, row[0], message, edits.guard, where.source, row, condition)
    for names, call, _ in own_logs(facts):
        if only_single(facts, names) and where_runs(facts, names, call) is Where.ALL:
            advice = f"create it on rank 0 only (if {horovod_name(facts, names)}.rank() == 0:), with every use of it"
            yield manual("HVD603", names, call, OWN_CLASS, advice)
    yield from _older(facts)


def _older(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*OLDER):
        names, call = site.names, site.node
        if not only_single(facts, names) or where_runs(facts, names, call) is not Where.ALL:
            continue
        if trained_by(facts, names, call):
            advice = (
                f"create it on rank 0 only (if {horovod_name(facts, names)}.rank() == 0:), with every use "
                "of it"
            )
            yield manual("HVD603", names, call, "every rank would write this log", advice)


@once
def _uses(facts: Facts) -> dict[Value, list[tuple[Names, ast.Attribute]]]:
    """Attributes asked of each writer, wherever it was passed."""
    writers = {Value("made", WRITER, site.node, site.names) for site in facts.calls(WRITER)}
    found: dict[Value, list[tuple[Names, ast.Attribute]]] = {writer: [] for writer in writers}
    for names in facts.files:
        for attributes in names.attributes.values():
            for attribute in attributes:
                if isinstance(attribute.ctx, ast.Load):
                    for writer in writers & facts.flow.values(names, attribute.value):
                        found[writer].append((names, attribute))
    return found


def _statement(facts: Facts, names: Names, attribute: ast.Attribute) -> bool:
    """Whether an attribute is the function of a call that is a statement and runs nothing of the project."""
    call = names.parents.get(attribute)
    whole = isinstance(call, ast.Call) and call.func is attribute
    if not whole or not isinstance(names.parents.get(call), ast.Expr):  # type: ignore[arg-type]
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]  # type: ignore[union-attr]
    return not any(needed_everywhere(facts, names, argument) for argument in given)


RULE = Rule(
    id="HVD603",
    title="SummaryWriter on rank 0",
    what="Creates the SummaryWriter of a single-process script on rank 0 only, and guards the calls of it.",
    why="N processes that write event files into one folder produce N curves on top of each other.",
    safety=(
        "Safe: writing logs computes nothing. Where the writer is not only used in plain calls, a "
        "call's arguments run the script's own functions, or the library is part of the project, it is left "
        "to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.utils.tensorboard import SummaryWriter

            def train(log):
                loss.backward()
                optimizer.step()
                log.add_scalar("loss", loss.item(), 1)

            writer = SummaryWriter("runs")
            train(writer)
            writer.close()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.tensorboard import SummaryWriter

            def train(log):
                loss.backward()
                optimizer.step()
                if hvd.rank() == 0:
                    log.add_scalar("loss", loss.item(), 1)

            writer = SummaryWriter("runs") if hvd.rank() == 0 else None
            train(writer)
            if hvd.rank() == 0:
                writer.close()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.tensorboard import SummaryWriter

            dist.init_process_group("gloo")
            writer = SummaryWriter()
            loss.backward()
            writer.add_scalar("loss", loss.item(), 1)
            """,
            reason="a DDP script logged on every rank before",
        ),
    ),
)
