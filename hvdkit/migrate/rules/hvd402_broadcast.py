"""HVD402: where no DDP did it, all ranks start from rank 0's weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.data.training import only_single
from hvdkit.migrate.facts.optimizers.beginnings import is_module, plain_tensors, whole_models
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


def _whole(facts: Facts, place: Place, models: dict[str, bool]) -> Edit:
    hvd, lines = facts.hvd(place.names), []
    for model, may_be_none in sorted(models.items()):
        lines += [f"if {model} is not None:"] if may_be_none else []
        indent = "\t" if may_be_none else ""
        lines.append(f"{indent}{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)")
    return _placed(place, lines)


def _tensors(facts: Facts, place: Place, tensors: list[str]) -> Edit:
    pairs = ", ".join(f'("{tensor}", {tensor})' for tensor in tensors)
    return _placed(place, [f"{facts.hvd(place.names)}.broadcast_parameters([{pairs}], root_rank=0)"])


def _placed(place: Place, lines: list[str]) -> Edit:
    if isinstance(place.statement, ast.Return):
        return edits.before(place.names.source, place.statement, lines)
    return edits.after(place.names.source, place.statement, lines)


def _edit(facts: Facts, place: Place, models: tuple[str, ...]) -> Edit:
    hvd = facts.hvd(place.names)
    form = f"{hvd}.broadcast_parameters({{}}.state_dict(), root_rank=0)"
    if facts.options.target == "hvdkit":
        form = f"{hvd}.broadcast({{}})"
    lines = [form.format(model) for model in models]
    for test, copy in _copies(facts, place, models):
        lines += [f"if {test}:", f"\t{form.format(copy)}"] if test else [form.format(copy)]
    return _placed(place, lines)


def _copies(facts: Facts, place: Place, models: tuple[str, ...]) -> list[tuple[str, str]]:
    """Models that took over the weights of these, above: they have each rank's own, from before the broadcast.

    Each with the test under which that was done; empty for none.
    """
    names = place.names
    block = edits.block(names, place.statement)
    found: list[tuple[str, str]] = []
    for statement in block[: block.index(place.statement)]:
        found += [("", copy) for copy in _copied(facts, names, statement, models)]
        if isinstance(statement, ast.If) and not any(
            isinstance(p, ast.Call) for p in ast.walk(statement.test)
        ):
            test = names.source.segment(statement.test)
            for inner in statement.body:
                found += [(test, copy) for copy in _copied(facts, names, inner, models)]
    return [(test, copy) for test, copy in dict.fromkeys(found) if copy not in models]


def _copied(facts: Facts, names: Names, statement: ast.stmt, models: tuple[str, ...]) -> Iterator[str]:
    """What a plain statement gives the weights of some models to."""
    segment = names.source.segment
    for call in names.calls_in(statement) if isinstance(statement, (ast.Expr, ast.Assign)) else ():
        given = call.args[0] if call.args else None
        copied: ast.expr | None = None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict":
            given = given.func if isinstance(given, ast.Call) else None
            given = given.value if isinstance(given, ast.Attribute) and given.attr == "state_dict" else None
            copied = call.func.value
        elif "copy.deepcopy" in names.qualified(call.func) and isinstance(statement, ast.Assign):
            copied = statement.targets[0]
        elif isinstance(statement, ast.Expr) and statement.value is call:
            yield from _filled_by(facts, names, call, models)
        if isinstance(copied, (ast.Name, ast.Attribute)) and given and segment(given) in models:
            yield segment(copied)


def _filled_by(facts: Facts, names: Names, call: ast.Call, models: tuple[str, ...]) -> Iterator[str]:
    """The other models given to a function of the project that writes into one: `update(average, model, 0)`."""
    segment = names.source.segment
    writes = any(
        isinstance(part, ast.Attribute) and (part.attr.endswith("_") or part.attr == "load_state_dict")
        for where, function in facts.flow.functions(names, call)
        for part in where.walk(function)
    )
    if writes and any(segment(argument) in models for argument in call.args):
        for argument in call.args:
            values = facts.flow.values(names, argument) if isinstance(argument, ast.Name) else ()
            if values and all(is_module(facts, value) for value in values):
                yield segment(argument)


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
            import torch

            def update(average, model, decay):
                for mine, its in zip(average.parameters(), model.parameters()):
                    mine.data.mul_(decay).add_(its.data, alpha=1 - decay)

            model, average = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
            update(average, model, 0)
            if options.teacher:
                teacher = torch.nn.Linear(2, 1)
                update(teacher, model, 0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def update(average, model, decay):
                for mine, its in zip(average.parameters(), model.parameters()):
                    mine.data.mul_(decay).add_(its.data, alpha=1 - decay)

            model, average = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
            update(average, model, 0)
            if options.teacher:
                teacher = torch.nn.Linear(2, 1)
                update(teacher, model, 0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            hvd.broadcast_parameters(average.state_dict(), root_rank=0)
            if options.teacher:
                hvd.broadcast_parameters(teacher.state_dict(), root_rank=0)
            model(x).sum().backward()
            """,
            note="A helper fills averages of the weights from those that each rank had before.",
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
