"""HVD402: where no DDP did it, all ranks start from rank 0's weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.placing import Place
from hvdkit.migrate.facts.training import only_single
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    sent = {
        value
        for site in facts.calls(*words.HVD_BROADCAST)
        for part in site.node.args[:1]
        for value in facts.flow.unwrap(facts.flow.values(site.names, getattr(part, "func", part)))
    }
    broadcast_files = {site.names for site in facts.calls(*words.HVD_BROADCAST)}
    for place in facts.places:
        by_hand = any(facts.by_hand.trains(optimizer) for optimizer in place.optimizers)
        if not (only_single(facts, place.names) or by_hand):
            continue
        models = frozenset().union(*(optimizer.models for optimizer in place.optimizers))
        if models & sent or place.names in broadcast_files:
            continue
        if place.models is None:
            message = "the model of this optimizer has no name here to broadcast by"
            advice = "call hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training starts"
            yield facts.manual("HVD402", place.names, place.call, message, advice)
            continue
        message = "all ranks start from rank 0's weights"
        yield facts.required("HVD402", place.names, place.call, message, _edit, facts, place, place.models)


def _edit(facts: Facts, place: Place, models: tuple[str, ...]) -> Edit:
    hvd = facts.hvd(place.names)
    form = f"{hvd}.broadcast_parameters({{}}.state_dict(), root_rank=0)"
    if facts.options.target == "hvdkit":
        form = f"{hvd}.broadcast({{}})"
    lines = [form.format(model) for model in (*models, *_copies(place, models))]
    if isinstance(place.statement, ast.Return):
        return edits.before(place.names.source, place.statement, lines)
    return edits.after(place.names.source, place.statement, lines)


def _copies(place: Place, models: tuple[str, ...]) -> list[str]:
    """Models that took over the weights of these, above: they have each rank's own, from before the broadcast."""
    names, segment = place.names, place.names.source.segment
    block = edits.block(names, place.statement)
    found: list[str] = []
    for statement in block[: block.index(place.statement)]:
        for call in names.calls_in(statement):
            given = call.args[0] if call.args else None
            copied: ast.expr | None = None
            if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict":
                given = given.func if isinstance(given, ast.Call) else None
                given = (
                    given.value if isinstance(given, ast.Attribute) and given.attr == "state_dict" else None
                )
                copied = call.func.value
            elif "copy.deepcopy" in names.qualified(call.func) and isinstance(statement, ast.Assign):
                copied = statement.targets[0]
            if isinstance(copied, (ast.Name, ast.Attribute)) and given and segment(given) in models:
                found.append(segment(copied))
    return [copy for copy in dict.fromkeys(found) if copy not in models]


RULE = Rule(
    id="HVD402",
    title="rank 0's weights are broadcast",
    what="Broadcasts the model's parameters and buffers from rank 0 after the optimizer is made.",
    why="Ranks that start from different weights never meet again, and no error tells.",
    safety=(
        "Safe: it changes nothing on rank 0. A fresh optimizer has no state yet, so none is sent: Horovod's "
        "broadcast_optimizer_state would take a step to create it, and change the weights of a decaying one."
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
        Change(
            """\
            import copy
            import torch

            actor = torch.nn.Linear(2, 1)
            target = torch.nn.Linear(2, 1)
            target.load_state_dict(actor.state_dict())
            average = copy.deepcopy(actor).eval()
            optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
            actor(x).sum().backward()
            """,
            """\
            import copy
            import horovod.torch as hvd
            import torch

            actor = torch.nn.Linear(2, 1)
            target = torch.nn.Linear(2, 1)
            target.load_state_dict(actor.state_dict())
            average = copy.deepcopy(actor).eval()
            optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
            hvd.broadcast_parameters(actor.state_dict(), root_rank=0)
            hvd.broadcast_parameters(target.state_dict(), root_rank=0)
            hvd.broadcast_parameters(average.state_dict(), root_rank=0)
            actor(x).sum().backward()
            """,
            note="Copies that were made above have each rank's own weights.",
        ),
        Change(
            """\
            import torch

            def make(net):
                return torch.optim.SGD(net.parameters(), lr=0.1)

            model = torch.nn.Linear(2, 1)
            optimizer = make(model)
            for x in torch.utils.data.DataLoader(data):
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import hvdkit.torch as hvd
            import torch

            def make(net):
                return torch.optim.SGD(net.parameters(), lr=0.1)

            model = torch.nn.Linear(2, 1)
            optimizer = make(model)
            hvd.broadcast(model)
            for x in torch.utils.data.DataLoader(data):
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            note="hvdkit.torch broadcasts a model, an optimizer or both.",
            target="hvdkit",
        ),
        Change(
            """\
            import torch

            def build(args):
                model = torch.nn.Linear(2, 1)
                if args.compile:
                    model = torch.compile(model)
                return torch.optim.SGD(model.parameters(), lr=args.lr)

            optimizer, loader = build(args), torch.utils.data.DataLoader(data)
            for x in loader:
                optimizer.zero_grad()
                loss(x).backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def build(args):
                model = torch.nn.Linear(2, 1)
                if args.compile:
                    model = torch.compile(model)
                hvd.broadcast_parameters(model.state_dict(), root_rank=0)
                return torch.optim.SGD(model.parameters(), lr=args.lr)

            optimizer, loader = build(args), torch.utils.data.DataLoader(data)
            for x in loader:
                optimizer.zero_grad()
                loss(x).backward()
                optimizer.step()
            """,
            note="An optimizer that is returned: the broadcast goes above.",
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
        Keep(
            """\
            import torch

            weight = torch.nn.Parameter(torch.ones(2))
            optimizer = torch.optim.SGD([weight], lr=0.1)
            for x in torch.utils.data.DataLoader(data):
                optimizer.zero_grad()
                (weight * x).sum().backward()
                optimizer.step()
            """,
            reason="the optimizer's parameters have no module with a name here",
            reported=True,
        ),
    ),
)
