"""HVD402: where no DDP did it, all ranks start from rank 0's weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.data.training import only_single
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.beginnings import plain_tensors, whole_models
from hvdkit.migrate.facts.optimizers.hand_starts import Start
from hvdkit.migrate.facts.optimizers.placing import Place
from hvdkit.migrate.names import Names
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
        message = "all ranks start from rank 0's weights"
        if place.models is None and (whole := whole_models(facts, place)):
            yield facts.required("HVD402", place.names, place.call, message, _whole, facts, place, whole)
            continue
        if place.models is None and (tensors := plain_tensors(facts, place)):
            message = "all ranks start from rank 0's tensors"
            yield facts.required("HVD402", place.names, place.call, message, _tensors, facts, place, tensors)
            continue
        if place.models is None:
            message = "the model of this optimizer has no name here to broadcast by"
            advice = "call hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training starts"
            yield facts.manual("HVD402", place.names, place.call, message, advice)
            continue
        yield facts.required("HVD402", place.names, place.call, message, _edit, facts, place, place.models)
    for start in after_backward(facts).starts:
        message = "all ranks start from rank 0's weights"
        yield facts.required("HVD402", start.names, start.statement, message, _before, facts, start)


def _before(facts: Facts, start: Start) -> Edit:
    """The broadcasts above the training of a program that takes its steps by hand."""
    hvd = facts.hvd(start.names)
    models = (*start.models, *_copies(start.names, start.statement, start.models))
    lines = [_sent(facts, hvd, model) for model in models]
    lines += [_tensors_sent(hvd, start.tensors)] if start.tensors else []
    return edits.before(start.names.source, start.statement, lines)


def _whole(facts: Facts, place: Place, models: dict[str, bool]) -> Edit:
    hvd, lines = facts.hvd(place.names), []
    for model, may_be_none in sorted(models.items()):
        lines += [f"if {model} is not None:"] if may_be_none else []
        indent = "\t" if may_be_none else ""
        lines.append(f"{indent}{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)")
    return _placed(place, lines)


def _tensors(facts: Facts, place: Place, tensors: list[str]) -> Edit:
    return _placed(place, [_tensors_sent(facts.hvd(place.names), tensors)])


def _tensors_sent(hvd: str, tensors: Sequence[str]) -> str:
    pairs = ", ".join(f'("{tensor}", {tensor})' for tensor in tensors)
    return f"{hvd}.broadcast_parameters([{pairs}], root_rank=0)"


def _placed(place: Place, lines: list[str]) -> Edit:
    if isinstance(place.statement, ast.Return):
        return edits.before(place.names.source, place.statement, lines)
    return edits.after(place.names.source, place.statement, lines)


def _edit(facts: Facts, place: Place, models: tuple[str, ...]) -> Edit:
    hvd = facts.hvd(place.names)
    every = (*models, *_copies(place.names, place.statement, models))
    return _placed(place, [_sent(facts, hvd, model) for model in every])


def _sent(facts: Facts, hvd: str, model: str) -> str:
    if facts.options.target == "hvdkit":
        return f"{hvd}.broadcast({model})"
    return f"{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)"


def _copies(names: Names, before: ast.stmt, models: tuple[str, ...]) -> list[str]:
    """Models that took over the weights of these, above: they have each rank's own, from before the broadcast."""
    segment = names.source.segment
    block = edits.block(names, before)
    found: list[str] = []
    for statement in block[: block.index(before)]:
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
    what=(
        "Broadcasts the model's parameters and buffers from rank 0 after the optimizer is made; in a program that "
        "steps by hand, above the loops of its training."
    ),
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
        Change(
            """\
            import torch

            class Net(torch.nn.Module):
                def __init__(self, head):
                    super().__init__()
                    self.body = torch.nn.Linear(2, 2)
                    self.head = head

            def main(args):
                net = Net(head)
                fine = None
                if args.fine:
                    fine = torch.nn.Linear(2, 1)
                groups = [{"params": net.body.parameters()}]
                if args.head:
                    groups.append({"params": net.head.parameters(), "lr": 0.1})
                optimizer = torch.optim.SGD(groups, lr=0.1)
                rest = list(net.parameters())
                if args.fine:
                    rest += list(fine.parameters())
                second = torch.optim.SGD(rest, lr=0.1)
                net(x).sum().backward()
                optimizer.step()

            main(args)
            """,
            """\
            import horovod.torch as hvd
            import torch

            class Net(torch.nn.Module):
                def __init__(self, head):
                    super().__init__()
                    self.body = torch.nn.Linear(2, 2)
                    self.head = head

            def main(args):
                net = Net(head)
                fine = None
                if args.fine:
                    fine = torch.nn.Linear(2, 1)
                groups = [{"params": net.body.parameters()}]
                if args.head:
                    groups.append({"params": net.head.parameters(), "lr": 0.1})
                optimizer = torch.optim.SGD(groups, lr=0.1)
                hvd.broadcast_parameters(net.state_dict(), root_rank=0)
                rest = list(net.parameters())
                if args.fine:
                    rest += list(fine.parameters())
                second = torch.optim.SGD(rest, lr=0.1)
                if fine is not None:
                    hvd.broadcast_parameters(fine.state_dict(), root_rank=0)
                hvd.broadcast_parameters(net.state_dict(), root_rank=0)
                net(x).sum().backward()
                optimizer.step()

            main(args)
            """,
            note="Of a model that gives a part under a test the whole is sent; one that may be None is asked.",
        ),
        Change(
            """\
            import torch

            noise = torch.randn(3, requires_grad=True)
            target = image.clone().requires_grad_(True)
            optimizer = torch.optim.Adam([target, noise], lr=0.1)
            loss(target + noise).backward()
            optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            noise = torch.randn(3, requires_grad=True)
            target = image.clone().requires_grad_(True)
            optimizer = torch.optim.Adam([target, noise], lr=0.1)
            hvd.broadcast_parameters([("target", target), ("noise", noise)], root_rank=0)
            loss(target + noise).backward()
            optimizer.step()
            """,
            note="Tensors that are no model's.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            def main(vae):
                net = torch.nn.Linear(2, 1)
                rest = list(net.parameters())
                if vae:
                    encoder = torch.nn.Linear(2, 2)
                    rest += list(encoder.parameters())
                optimizer = torch.optim.SGD(rest, lr=0.1)
                net(x).sum().backward()
                optimizer.step()

            main(True)
            """,
            reason="there may be no encoder",
            reported=True,
        ),
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
