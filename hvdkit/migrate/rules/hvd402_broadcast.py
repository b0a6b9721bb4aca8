"""HVD402: where no DDP did it, all ranks start from rank 0's weights."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.redrawn_weights import drawn_below
from hvdkit.migrate.facts.models.copied_weights import copies_above
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.hand_starts import Start
from hvdkit.migrate.facts.optimizers.reduction_names import prefix
from hvdkit.migrate.facts.optimizers.start_values import plain_tensors, whole_models, with_the_rest
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, wrap_places
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.wrapping import broadcast_lines
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit

BUFFERS = (
    "the parameters that the optimizer holds are broadcast; a model that could not be followed may also have "
    "randomly initialized buffers: broadcast those with "
    "hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)"
)
WEIGHTS = "all ranks start from rank 0's weights"


def check(facts: Facts) -> Iterator[Finding]:
    sent = {
        value
        for site in facts.calls(*words.HVD_BROADCAST)
        for part in site.node.args[:1]
        for value in facts.flow.unwrap(facts.flow.values(site.names, getattr(part, "func", part)))
    }
    broadcast_files = {site.names for site in facts.calls(*words.HVD_BROADCAST)}
    for place in wrap_places(facts):
        if not only_single(facts, place.names):
            continue
        models = frozenset().union(*(optimizer.models for optimizer in place.optimizers))
        if models & sent or place.names in broadcast_files:
            continue
        if place.models is None and (whole := whole_models(facts, place)):
            yield required(facts, "HVD402", place.names, place.call, WEIGHTS, _whole, facts, place, whole)
            continue
        if place.models is None and (tensors := plain_tensors(facts, place)):
            message = "all ranks start from rank 0's tensors"
            yield required(facts, "HVD402", place.names, place.call, message, _tensors, facts, place, tensors)
            continue
        if place.models is None and place.target is not None and not _drawn_somewhere(facts, place):
            held = required(facts, "HVD402", place.names, place.call, WEIGHTS, _held, facts, place)
            yield held.knowing(BUFFERS)
            continue
        if place.models is None:
            message = "the model of this optimizer has no name here to broadcast by"
            advice = "call hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training starts"
            yield manual("HVD402", place.names, place.call, message, advice)
            continue
        yield required(facts, "HVD402", place.names, place.call, WEIGHTS, _edit, facts, place)
    for start in after_backward(facts).starts:
        yield required(facts, "HVD402", start.names, start.statement, WEIGHTS, _before, facts, start)


def _before(facts: Facts, start: Start) -> Edit:
    """The broadcasts above the training of a program that takes its steps by hand."""
    hvd = horovod_name(facts, start.names)
    copies = copies_above(facts, start.names, start.statement, start.models)
    lines = broadcast_lines(facts, start.names, start.models, copies)
    lines += [_tensors_sent(hvd, start.tensors)] if start.tensors else []
    return edits.before(start.names.source, start.statement, lines)


def _whole(facts: Facts, place: WrapPlace, models: dict[str, bool]) -> Edit:
    hvd, lines = horovod_name(facts, place.names), []
    statement = _below_draws(facts, place, models)
    for model, may_be_none in sorted(models.items()):
        lines += [f"if {model} is not None:"] if may_be_none else []
        indent = "\t" if may_be_none else ""
        lines.append(f"{indent}{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)")
    return _placed(place, lines, statement)


def _tensors(facts: Facts, place: WrapPlace, tensors: list[str]) -> Edit:
    return _placed(place, [_tensors_sent(horovod_name(facts, place.names), tensors)], place.statement)


def _tensors_sent(hvd: str, tensors: Sequence[str]) -> str:
    pairs = ", ".join(f'("{tensor}", {tensor})' for tensor in tensors)
    return f"{hvd}.broadcast_parameters([{pairs}], root_rank=0)"


def _held(facts: Facts, place: WrapPlace) -> Edit:
    """What the optimizer trains, where no model has a name here that it could be asked from."""
    hvd, target = horovod_name(facts, place.names), place.target
    parameters = f'p for group in {target}.param_groups for p in group["params"]'
    pairs = f'(f"{prefix(target or "")}.{{i}}", p) for i, p in enumerate({parameters})'
    line = f"{hvd}.broadcast_parameters([{pairs}], root_rank=0)"
    return _placed(place, [line], place.statement)


def _drawn_somewhere(facts: Facts, place: WrapPlace) -> bool:
    """Whether weights are drawn below, of whatever model: it may be this one."""
    return drawn_below(facts, place.names, place.statement, None) is not None


def _placed(place: WrapPlace, lines: list[str], statement: ast.stmt) -> Edit:
    if isinstance(statement, ast.Return):
        return edits.before(place.names.source, statement, lines)
    return edits.after(place.names.source, statement, lines)


def _below_draws(facts: Facts, place: WrapPlace, models: Iterable[str]) -> ast.stmt:
    """The statement after which the ranks are made alike: the last that draws weights, each rank its own."""
    drawn = drawn_below(facts, place.names, place.statement, models)
    if drawn is None:
        return place.statement
    if drawn not in edits.block(place.names, place.statement):
        line = place.names.line(drawn)
        raise edits.CannotEdit(f"line {line} draws new weights where the optimizer may not exist")
    return drawn


def _edit(facts: Facts, place: WrapPlace) -> Edit:
    models = with_the_rest(facts, place)
    statement = _below_draws(facts, place, models)
    moved = statement is not place.statement
    copies = copies_above(facts, place.names, statement, models, moved)
    return _placed(place, broadcast_lines(facts, place.names, models, copies), statement)


RULE = Rule(
    id="HVD402",
    title="rank 0's weights are broadcast",
    what=(
        "Broadcasts the model's parameters and buffers from rank 0 after the optimizer is created, and "
        "below any code that changes the weights there; in a program that steps by hand, above the loops of "
        "its training. Models that copied these weights above, such as target networks, get rank 0's, too."
    ),
    why="Ranks that start from different weights never synchronize, and no error is raised.",
    safety=(
        "Safe: it changes nothing on rank 0. A fresh optimizer has no state yet, so none is sent: Horovod's "
        "broadcast_optimizer_state would take a step to create it, which changes the weights under weight "
        "decay."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            model(x).sum().backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            """,
            reason="HVD201 puts the broadcast where DDP did it",
        ),
    ),
)
