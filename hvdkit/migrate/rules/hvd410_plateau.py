"""HVD410: a learning rate that depends on a metric depends on the same one on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.optimizers.after_backward import rate_tests
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

AVERAGES = ("horovod.torch.allreduce", "hvdkit.torch.allreduce")
PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"


def check(facts: Facts) -> Iterator[Finding]:
    averages = {site.node for site in facts.calls(*AVERAGES)}
    for names, call, receiver in facts.methods("step"):
        metric = given(call, 0, "metrics")
        if metric is None or not only_single(facts, names):
            continue
        if PLATEAU not in facts.flow.made(names, receiver) and not _asked(facts, names, call, receiver):
            continue
        if averages & set(ast.walk(metric)):
            continue
        if where_runs(facts, names, call) is Where.ALL:
            message = "each rank's schedule would watch its own metric: it watches their average"
            yield safe(facts, "HVD410", names, call, message, _edits, facts, names, metric)
    for names, test in rate_tests(facts):
        message = "each rank would set its step size from its own metric: rank 0 decides"
        yield required(facts, "HVD410", names, test, message, _decided, facts, names, test)


def _decided(facts: Facts, names: Names, test: ast.expr) -> list[Edit]:
    if where_runs(facts, names, test) is not Where.ALL:
        raise edits.CannotEdit("not all ranks reach this test")
    return edits.wrap(
        names.source, test, f"{horovod_name(facts, names)}.broadcast_object(bool(", "), root_rank=0)"
    )


def _asked(facts: Facts, names: Names, call: ast.Call, receiver: ast.expr) -> bool:
    """Whether a step is taken where isinstance() has found the schedule, which may be any, to be one of these."""
    child: ast.AST = call
    for parent in names.ancestors(call):
        if isinstance(parent, ast.If) and child in parent.body and isinstance(parent.test, ast.Call):
            test = parent.test
            asks = getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2
            if asks and ast.dump(test.args[0]) == ast.dump(receiver):
                return PLATEAU in facts.flow.qualified(names, test.args[1])
        child = parent
    return False


def _edits(facts: Facts, names: Names, metric: ast.expr) -> list[Edit]:
    hvd = horovod_name(facts, names)
    return edits.wrap(names.source, metric, f"{hvd}.allreduce(torch.as_tensor(", f"), op={hvd}.Average)")


RULE = Rule(
    id="HVD410",
    title="ReduceLROnPlateau watches the average",
    what=(
        "Averages the metric that a single-process script gives to ReduceLROnPlateau.step over all ranks. "
        "Where a script that steps by hand sets its rate by a metric, rank 0 decides."
    ),
    why=(
        "A loss over the training data now differs on each rank. One rank would lower its learning rate and "
        "another would not: from then on the same gradients produce different weights, without any error."
    ),
    safety="Safe: a metric that is the same on all ranks stays what it is, and each rank reaches the same step.",
    check=check,
    changes=(
        Change(
            """\
            import torch

            def train(optimizer, schedule):
                for epoch in range(3):
                    loss.backward()
                    optimizer.step()
                    schedule.step(losses / batches)

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            train(optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer))
            """,
            """\
            import horovod.torch as hvd
            import torch

            def train(optimizer, schedule):
                for epoch in range(3):
                    loss.backward()
                    optimizer.step()
                    schedule.step(hvd.allreduce(torch.as_tensor(losses / batches), op=hvd.Average))

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            train(optimizer, torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
            loss.backward()
            schedule.step(hvd.allreduce(loss))
            """,
            reason="it watches the average already",
        ),
    ),
)
