"""HVD402: where no DDP did it, all ranks start from rank 0's weights."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.data.training import only_single
from hvdkit.migrate.facts.models.copied_weights import copies_above
from hvdkit.migrate.facts.models.initialised import drawn_below
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.beginnings import plain_tensors, whole_models, with_the_rest
from hvdkit.migrate.facts.optimizers.hand_starts import Start
from hvdkit.migrate.facts.optimizers.placing import Place
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.reduction_names import prefix
from hvdkit.migrate.rule import Change, Keep, Rule

BUFFERS = (
    "the parameters that the optimizer holds are sent; a model that could not be followed may have buffers, too, that "
    "are drawn at random: send those with hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)"
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
    for place in facts.places:
        by_hand = any(facts.by_hand.trains(optimizer) for optimizer in place.optimizers)
        if not (only_single(facts, place.names) or by_hand):
            continue
        models = frozenset().union(*(optimizer.models for optimizer in place.optimizers))
        if models & sent or place.names in broadcast_files:
            continue
        if place.models is None and (whole := whole_models(facts, place)):
            yield facts.required("HVD402", place.names, place.call, WEIGHTS, _whole, facts, place, whole)
            continue
        if place.models is None and (tensors := plain_tensors(facts, place)):
            message = "all ranks start from rank 0's tensors"
            yield facts.required("HVD402", place.names, place.call, message, _tensors, facts, place, tensors)
            continue
        if place.models is None and place.target is not None and not _drawn_somewhere(facts, place):
            held = facts.required("HVD402", place.names, place.call, WEIGHTS, _held, facts, place)
            yield held.knowing(BUFFERS)
            continue
        if place.models is None:
            message = "the model of this optimizer has no name here to broadcast by"
            advice = "call hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training starts"
            yield facts.manual("HVD402", place.names, place.call, message, advice)
            continue
        yield facts.required("HVD402", place.names, place.call, WEIGHTS, _edit, facts, place)
    for start in after_backward(facts).starts:
        yield facts.required("HVD402", start.names, start.statement, WEIGHTS, _before, facts, start)


def _before(facts: Facts, start: Start) -> Edit:
    """The broadcasts above the training of a program that takes its steps by hand."""
    hvd = facts.hvd(start.names)
    copies = copies_above(facts, start.names, start.statement, start.models)
    lines = _every(facts, hvd, start.models, copies)
    lines += [_tensors_sent(hvd, start.tensors)] if start.tensors else []
    return edits.before(start.names.source, start.statement, lines)


def _whole(facts: Facts, place: Place, models: dict[str, bool]) -> Edit:
    hvd, lines = facts.hvd(place.names), []
    statement = _below_draws(facts, place, models)
    for model, may_be_none in sorted(models.items()):
        lines += [f"if {model} is not None:"] if may_be_none else []
        indent = "\t" if may_be_none else ""
        lines.append(f"{indent}{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)")
    return _placed(place, lines, statement)


def _tensors(facts: Facts, place: Place, tensors: list[str]) -> Edit:
    return _placed(place, [_tensors_sent(facts.hvd(place.names), tensors)], place.statement)


def _tensors_sent(hvd: str, tensors: Sequence[str]) -> str:
    pairs = ", ".join(f'("{tensor}", {tensor})' for tensor in tensors)
    return f"{hvd}.broadcast_parameters([{pairs}], root_rank=0)"


def _held(facts: Facts, place: Place) -> Edit:
    """What the optimizer trains, where no model has a name here that it could be asked from."""
    hvd, target = facts.hvd(place.names), place.target
    parameters = f'p for group in {target}.param_groups for p in group["params"]'
    pairs = f'(f"{prefix(target or "")}.{{i}}", p) for i, p in enumerate({parameters})'
    line = f"{hvd}.broadcast_parameters([{pairs}], root_rank=0)"
    return _placed(place, [line], place.statement)


def _drawn_somewhere(facts: Facts, place: Place) -> bool:
    """Whether weights are drawn below, of whatever model: it may be this one."""
    return drawn_below(facts, place.names, place.statement, None) is not None


def _placed(place: Place, lines: list[str], statement: ast.stmt) -> Edit:
    if isinstance(statement, ast.Return):
        return edits.before(place.names.source, statement, lines)
    return edits.after(place.names.source, statement, lines)


def _below_draws(facts: Facts, place: Place, models: Iterable[str]) -> ast.stmt:
    """The statement after which the ranks are made alike: the last that draws weights, each rank its own."""
    drawn = drawn_below(facts, place.names, place.statement, models)
    if drawn is None:
        return place.statement
    if drawn not in edits.block(place.names, place.statement):
        line = place.names.line(drawn)
        raise edits.CannotEdit(f"line {line} draws weights anew, where the optimizer may not be made")
    return drawn


def _edit(facts: Facts, place: Place) -> Edit:
    hvd, models = facts.hvd(place.names), with_the_rest(facts, place)
    statement = _below_draws(facts, place, models)
    moved = statement is not place.statement
    copies = copies_above(facts, place.names, statement, models, moved)
    return _placed(place, _every(facts, hvd, models, copies), statement)


def _every(facts: Facts, hvd: str, models: Sequence[str], copies: dict[str, str]) -> list[str]:
    """The broadcasts of models, and of those that took over their weights, under the tests of these."""
    lines = [_sent(facts, hvd, model) for model in models]
    for copy, test in copies.items():
        lines += [f"if {test}:", f"\t{_sent(facts, hvd, copy)}"] if test else [_sent(facts, hvd, copy)]
    return lines


def _sent(facts: Facts, hvd: str, model: str) -> str:
    if facts.options.target == "hvdkit":
        return f"{hvd}.broadcast({model})"
    return f"{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)"


RULE = Rule(
    id="HVD402",
    title="rank 0's weights are broadcast",
    what=(
        "Broadcasts the model's parameters and buffers from rank 0 after the optimizer is made, and below what gives it "
        "other weights there; in a program that steps by hand, above the loops of its training. Models that took over "
        "these weights above, such as target networks, get rank 0's, too."
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
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
            model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            model(x).sum().backward()
            """,
            note="What is not trained may be drawn at random, too.",
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
        Change(
            """\
            import torch

            def move(target, source, rate):
                for old, new in zip(target.parameters(), source.parameters()):
                    old.data.copy_(rate * new.data + (1.0 - rate) * old.data)

            class Agent:
                def __init__(self):
                    self.net = torch.nn.Linear(2, 1)
                    self.target = torch.nn.Linear(2, 1)
                    self.slow = torch.nn.Linear(2, 1)
                    self.sync()
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

                def sync(self):
                    self.target.load_state_dict(self.net.state_dict())
                    move(self.slow, self.net, 1.0)

            agent = Agent()
            agent.net(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def move(target, source, rate):
                for old, new in zip(target.parameters(), source.parameters()):
                    old.data.copy_(rate * new.data + (1.0 - rate) * old.data)

            class Agent:
                def __init__(self):
                    self.net = torch.nn.Linear(2, 1)
                    self.target = torch.nn.Linear(2, 1)
                    self.slow = torch.nn.Linear(2, 1)
                    self.sync()
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                    hvd.broadcast_parameters(self.net.state_dict(), root_rank=0)
                    hvd.broadcast_parameters(self.target.state_dict(), root_rank=0)
                    hvd.broadcast_parameters(self.slow.state_dict(), root_rank=0)

                def sync(self):
                    self.target.load_state_dict(self.net.state_dict())
                    move(self.slow, self.net, 1.0)

            agent = Agent()
            agent.net(x).sum().backward()
            """,
            note="A method that was called above filled the target networks with each rank's own weights.",
        ),
        Change(
            """\
            import torch

            def train(net, target):
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                net(x).sum().backward()
                optimizer.step()

            actor, critic = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
            critic.load_state_dict(actor.state_dict())
            train(actor, target=critic)
            """,
            """\
            import horovod.torch as hvd
            import torch

            def train(net, target):
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                hvd.broadcast_parameters(net.state_dict(), root_rank=0)
                hvd.broadcast_parameters(target.state_dict(), root_rank=0)
                net(x).sum().backward()
                optimizer.step()

            actor, critic = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
            critic.load_state_dict(actor.state_dict())
            train(actor, target=critic)
            """,
            note="The copy was made before the function was called that makes the optimizer.",
        ),
        Change(
            """\
            import copy
            import torch

            model = torch.nn.Linear(2, 1)
            if args.ema:
                average = copy.deepcopy(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            """,
            """\
            import copy
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            if args.ema:
                average = copy.deepcopy(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            if args.ema:
                hvd.broadcast_parameters(average.state_dict(), root_rank=0)
            model(x).sum().backward()
            """,
            note="Without the setting there is no copy.",
        ),
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
            model.apply(init_weights)
            average = torch.nn.Linear(2, 1)
            average.load_state_dict(model.state_dict())
            model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
            model.apply(init_weights)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            average = torch.nn.Linear(2, 1)
            average.load_state_dict(model.state_dict())
            model(x).sum().backward()
            """,
            note="Below what draws other weights once more; what is copied after that is alike.",
        ),
        Change(
            """\
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.head = torch.nn.Linear(2, 1)
                    self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.1)
                    self.reset()

                def reset(self):
                    for p in self.parameters():
                        torch.nn.init.normal_(p)

            net = Net()
            net.head(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.head = torch.nn.Linear(2, 1)
                    self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.1)
                    self.reset()
                    hvd.broadcast_parameters(self.head.state_dict(), root_rank=0)

                def reset(self):
                    for p in self.parameters():
                        torch.nn.init.normal_(p)

            net = Net()
            net.head(x).sum().backward()
            """,
            note="So it is where a method does that.",
        ),
        Change(
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
            """\
            import horovod.torch as hvd
            import torch

            def main(vae):
                net = torch.nn.Linear(2, 1)
                rest = list(net.parameters())
                if vae:
                    encoder = torch.nn.Linear(2, 2)
                    rest += list(encoder.parameters())
                optimizer = torch.optim.SGD(rest, lr=0.1)
                hvd.broadcast_parameters([(f"optimizer.{i}", p) for i, p in enumerate(p for group in optimizer.param_groups for p in group["params"])], root_rank=0)
                net(x).sum().backward()
                optimizer.step()

            main(True)
            """,
            note="There may be no encoder: what the optimizer holds is sent.",
        ),
        Change(
            """\
            import copy
            import torch

            def initialise(layer):
                if isinstance(layer, torch.nn.Linear):
                    torch.nn.init.normal_(layer.weight)

            class Trainer(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.net = torch.nn.Linear(2, 1)
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                    self.apply(initialise)
                    self.average = copy.deepcopy(self.net)

                def update(self, x):
                    self.net(x).sum().backward()
                    self.optimizer.step()

            Trainer().update(x)
            """,
            """\
            import copy
            import horovod.torch as hvd
            import torch

            def initialise(layer):
                if isinstance(layer, torch.nn.Linear):
                    torch.nn.init.normal_(layer.weight)

            class Trainer(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.net = torch.nn.Linear(2, 1)
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                    self.apply(initialise)
                    hvd.broadcast_parameters(self.net.state_dict(), root_rank=0)
                    self.average = copy.deepcopy(self.net)

                def update(self, x):
                    self.net(x).sum().backward()
                    self.optimizer.step()

            Trainer().update(x)
            """,
            note="Weights that are drawn below the optimizer: each rank draws its own.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            class Trainer(torch.nn.Module):
                def __init__(self, train):
                    super().__init__()
                    self.net = torch.nn.Linear(2, 1)
                    if train:
                        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                    for layer in self.children():
                        torch.nn.init.normal_(layer.weight)

                def update(self, x):
                    self.net(x).sum().backward()
                    self.optimizer.step()

            Trainer(True).update(x)
            """,
            reason="the weights are drawn below the test: a broadcast beside the optimizer would come too early",
            reported=True,
        ),
        Keep(
            """\
            import torch

            def initialise(layer):
                torch.nn.init.normal_(layer.weight)

            def main(vae):
                net = torch.nn.Linear(2, 1)
                rest = list(net.parameters())
                if vae:
                    encoder = torch.nn.Linear(2, 2)
                    rest += list(encoder.parameters())
                optimizer = torch.optim.SGD(rest, lr=0.1)
                net.apply(initialise)
                net(x).sum().backward()
                optimizer.step()

            main(True)
            """,
            reason="there may be no encoder, and weights are drawn below the optimizer",
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
    ),
)
