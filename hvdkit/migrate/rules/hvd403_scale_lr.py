"""HVD403: the learning rate of a script that was single-process, scaled by the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.whole_graph import trains_on_whole_graph
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.optimizers.averaging_optimizers import constructions
from hvdkit.migrate.facts.optimizers.learning_rates import (
    default_rate,
    group_rates,
    has_read,
    learning_rate,
    rates_moved,
    rates_set_later,
    reads,
)
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import only_single, runs_in
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MESSAGE = "N ranks process N times the samples per step: scale the learning rate by hvd.size(), with warm-up"
SET_AGAIN = "the learning rate is set again here, and may or may not derive from the scaled one"
SET_AGAIN_ADVICE = "multiply it by hvd.size() unless it is computed from the value in optimizer.param_groups"

SHARED = "the learning rate is set again here, in code that distributed programs share with programs whose rate is now scaled"
SHARED_ADVICE = "start from hvd.size() times the rate where a single-process program creates this schedule"


def check(facts: Facts) -> Iterator[Finding]:
    later = list(rates_set_later(facts))
    for optimizer in constructions(facts):
        if _grows(facts, optimizer.names):
            yield from _of_optimizer(facts, optimizer, [names for names, _ in later])
    for names, rate in group_rates(facts):
        if _grows(facts, names) and not _scaled(rate) and not has_read(names, rate):
            yield suggested(facts, "HVD403", names, rate, MESSAGE, _edits, facts, names, rate)
    for names, rate in (*later, *rates_moved(facts)):
        if _scaled(rate) or trains_on_whole_graph(facts, names):
            continue
        if not only_single(facts, names):
            if facts.options.suggested and _undoes(facts, names, rate):
                yield manual("HVD403", names, rate, SHARED, SHARED_ADVICE)
        elif any(reads(facts, names)):
            if facts.options.suggested:  # else nothing is scaled
                yield manual("HVD403", names, rate, SET_AGAIN, SET_AGAIN_ADVICE)
        else:
            yield suggested(facts, "HVD403", names, rate, MESSAGE, _edits, facts, names, rate)


def _grows(facts: Facts, names: Names) -> bool:
    """Whether a step of N ranks has N times the samples of one, in the programs of a file."""
    return only_single(facts, names) and not trains_on_whole_graph(facts, names)


def _undoes(facts: Facts, names: Names, rate: ast.expr) -> bool:
    """Whether a rate that distributed programs set, too, takes the place of one that is scaled."""
    scaled = {o.names for o in constructions(facts) if only_single(facts, o.names)}
    return any(
        program.kind == "single" and scaled & set(program.files) and runs_in(facts, program, names, rate)
        for program in programs_of(facts)
    )


def _of_optimizer(facts: Facts, optimizer: Optimizer, later: list[Names]) -> Iterator[Finding]:
    names, call = optimizer.names, optimizer.node
    rate, default = learning_rate(optimizer), default_rate(optimizer)
    if rate is not None and not _scaled(rate):
        yield suggested(facts, "HVD403", names, rate, MESSAGE, _edits, facts, names, rate)
    elif default is not None and not any(_together(facts, names, other) for other in later):
        written = f"lr={default} * {horovod_name(facts, names)}.size()"
        message = f"{MESSAGE}; torch's own is {default}"
        add = edits.add_arguments
        yield suggested(facts, "HVD403", names, call, message, add, names.source, call, [written])


def _together(facts: Facts, names: Names, other: Names) -> bool:
    """Whether a program has both files."""
    return any(names in program.files and other in program.files for program in programs_of(facts))


def _scaled(rate: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("size", "local_size") for part in ast.walk(rate)
    )


def _edits(facts: Facts, names: Names, rate: ast.expr) -> list[Edit]:
    return edits.times(names.source, rate, f"{horovod_name(facts, names)}.size()")


RULE = Rule(
    id="HVD403",
    title="scale the learning rate",
    what=(
        "Multiplies the optimizer's lr by hvd.size() in a single-process script, including those of its "
        "parameter groups, and the rates that the script later puts into param_groups, or passes to "
        "OneCycleLR and CyclicLR, which replace it. Where no lr is given, it is torch's default."
    ),
    why=(
        "The batch of one step grows with the number of ranks. The linear rule (Goyal et al. 2017, Accurate, "
        "Large Minibatch SGD) keeps the progress per epoch; it needs a warm-up of a few epochs."
    ),
    safety=(
        "Suggested, never applied by default: it changes what is computed. Where every rank computes the "
        "same whole graph in each step, the rate stays. A DDP script is left alone, since its author "
        "chose the rate for the whole batch."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=args.lr * hvd.size(), momentum=0.9)
            loss.backward()
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch_geometric.datasets import Planetoid

            data = Planetoid("data", "Cora")[0]
            optimizer = torch.optim.Adam([{"params": model.parameters(), "lr": 0.01}], lr=0.01)
            for epoch in range(200):
                model(data.x, data.edge_index)[data.train_mask].sum().backward()
                optimizer.step()
                optimizer.param_groups[0]["lr"] = 0.01 / (epoch + 1)
            """,
            reason="each step computes the whole graph on every rank: it has no more samples than before",
            suggested=True,
        ),
    ),
)
