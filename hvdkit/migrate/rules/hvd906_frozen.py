"""HVD906: parameters that are frozen, or not there, when the optimizer is wrapped are never averaged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.starts import runs_in
from hvdkit.migrate.facts.models.freezing import Switch, switches
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.optimizers.wrap_order import above_wrap, late_groups, made_anew_below
from hvdkit.migrate.facts.values.value import Value
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target == "hvdkit":
        return  # its optimizer covers parameters that are unfrozen later
    yield from _groups(facts)
    found = [switch for switch in switches(facts) if facts.migrates(switch.names)]
    yield from _frozen_late(facts, found)
    frozen = [s for s in found if s.value is not True and not s.training and _before(facts, s)]
    alone = [optimizer.models for optimizer in facts.optimizers if "single" in facts.kinds(optimizer.names)]
    wrapped = facts.by_hand.models.union(*(wrap.models for wrap in find_wraps(facts)), *alone)
    for late in found:
        if late.value is False or not (late.training or _after(facts, late)):
            continue
        if made_anew_below(facts, late.names, late.at):
            continue  # and is wrapped again, with hooks on what is trained from there on
        before = next((s for s in frozen if _same(s, late, wrapped) and _meet(facts, s, late)), None)
        if before is not None:
            message = (
                "these parameters are frozen when the optimizer is wrapped "
                f"({before.names.place(before.at)}) and trained later: Horovod gives them no hooks"
            )
            advice = (
                "migrate with --target hvdkit, whose optimizer covers them; or wrap the optimizer while "
                "everything that it will ever train has requires_grad=True, and freeze after that"
            )
            yield facts.refused("HVD906", late.names, late.at, message, advice)


def _frozen_late(facts: Facts, found: list[Switch]) -> Iterator[Finding]:
    """Parameters that a training freezes for good: Horovod gives those without a gradient one of zeros."""
    for switch in found:
        thawed = any(
            other.value is True and other.training and _same(switch, other, switch.models) for other in found
        )
        if switch.value is True or not switch.training or thawed or not switch.models:
            continue
        moved = [
            o for o in facts.optimizers if o.models & switch.models and not _plain_descent(o.names, o.node)
        ]
        if moved:
            place = moved[0].names.place(moved[0].node)
            message = (
                "these parameters may be frozen while the program trains: Horovod gives them gradients of zero, by "
                f"which the optimizer of {place} moves them on"
            )
            advice = (
                "call optimizer.synchronize() before the step, set .grad = None for each parameter that does not "
                "require one, and step under `with optimizer.skip_synchronize():`"
            )
            yield facts.manual("HVD906", switch.names, switch.at, message, advice)


def _plain_descent(names: Names, call: ast.Call) -> bool:
    """Whether an optimizer moves nothing by a gradient of zero: SGD without momentum and weight decay."""
    plain = {item.arg for item in call.keywords} <= {"params", "lr"} and len(call.args) <= 2
    return plain and "torch.optim.SGD" in names.qualified(call.func)


def _groups(facts: Facts) -> Iterator[Finding]:
    for place, names, call in late_groups(facts):
        if facts.migrates(place.names):
            message = (
                "this group joins the optimizer after it is wrapped "
                f"({place.names.place(place.statement)}): Horovod gives its parameters no hooks"
            )
            advice = (
                "migrate with --target hvdkit, whose optimizer covers them; or give the optimizer all groups right "
                "where it is made"
            )
            yield facts.refused("HVD906", names, call, message, advice)


def _before(facts: Facts, switch: Switch) -> bool:
    """Whether a switch may run above a wrap: what is frozen later has its hooks by then."""
    if _after(facts, switch):
        return False
    together = [program.files for program in facts.programs if switch.names in program.files]
    places = [place for place in facts.places if any(place.names in files for files in together)]
    orders = [above_wrap(facts, place, switch.names, switch.at) for place in places]
    return not orders or any(True in order or not order for order in orders)


def _after(facts: Facts, switch: Switch) -> bool:
    """Whether a switch stands below an optimizer's construction in the same function."""
    function = switch.names.function(switch.at)
    return any(
        optimizer.names is switch.names
        and optimizer.names.function(optimizer.node) is function
        and optimizer.node.lineno < switch.at.lineno
        for optimizer in facts.optimizers
    )


def _meet(facts: Facts, first: Switch, second: Switch) -> bool:
    """Whether one program may run both switches."""
    return any(
        runs_in(facts, program, first.names, first.at) and runs_in(facts, program, second.names, second.at)
        for program in facts.programs
    )


def _same(first: Switch, second: Switch, wrapped: frozenset[Value]) -> bool:
    """Whether two switches may be about the same parameters; one that is unknown may be about DDP's models."""
    if first.models and second.models:
        return bool(first.models & second.models)
    return bool((first.models or second.models) & wrapped)


RULE = Rule(
    id="HVD906",
    title="parameters that come after the wrap are refused",
    what=(
        "Leaves a program alone that freezes parameters before its optimizer is made and unfreezes them while it "
        "trains (StyleGAN2-ADA does, and every recipe that thaws a backbone after some epochs), or that adds a group "
        "of parameters to its optimizer later."
    ),
    why=(
        "Horovod looks at requires_grad when the optimizer is wrapped, DDP when it is built. What is frozen or not "
        "there then is never reduced: the ranks' weights part, and no error tells. A program may build DDP first, "
        "freeze, and be right with it."
    ),
    safety=(
        "Nothing is edited in any file of the program. With --target hvdkit such programs are migrated. Parameters that "
        "a training freezes, and does not thaw again, are told of: they get gradients of zero, and momentum, weight decay "
        "or Adam move them on."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch

            body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            model = torch.nn.Sequential(body, head)
            optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
            for epoch in range(9):
                for p in body.parameters():
                    p.requires_grad = epoch < 3
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="without a gradient the body would stand still; with one of zeros momentum moves it on",
            reported=True,
        ),
        Keep(
            """\
            import torch

            body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            model = torch.nn.Sequential(body, head)
            optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
            for epoch in range(9):
                for p in body.parameters():
                    p.requires_grad = epoch < 3
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="a gradient of zeros moves nothing",
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            for p in model[0].parameters():
                p.requires_grad = False
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                if epoch == 1:
                    for p in model[0].parameters():
                        p.requires_grad = True
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a script of one process that thaws its backbone: its ranks would part there",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Trainer:
                def __init__(self, model, optimizer):
                    self.loss = Weighted()
                    self.model, self.optimizer = model, optimizer
                    self.optimizer.add_param_group({"params": self.loss.parameters()})

                def step(self, x):
                    self.loss(self.model(x)).backward()
                    self.optimizer.step()

            class Weighted(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.weight = torch.nn.Parameter(torch.ones(1))

                def forward(self, y):
                    return (self.weight * y).sum()

            model = torch.nn.Linear(2, 1)
            trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                trainer.step(x)
            """,
            reason="the loss has parameters of its own, which join the optimizer where the trainer is made",
            reported=True,
        ),
        Keep(
            """\
            import torch

            def train(model, optimizer):
                freeze(model, True)
                for x in batches:
                    freeze(model, False)
                    model(x).sum().backward()
                    optimizer.step()
                    freeze(model, True)

            def freeze(model, wanted):
                for p in model.parameters():
                    p.requires_grad = not wanted

            model = torch.nn.Linear(2, 1)
            train(model, torch.optim.SGD(model.parameters(), lr=0.1))
            """,
            reason="the model is frozen below the wrap: its parameters have their hooks",
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            for p in model[0].parameters():
                p.requires_grad = False
            optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            for p in model[0].parameters():
                p.requires_grad = True
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="an optimizer is made again for what is trained from there on (HVD415)",
        ),
        Keep(
            """\
            import torch

            def make(model):
                optimizer = torch.optim.SGD([model.weight], lr=0.1)
                add(optimizer, model)
                return optimizer

            def add(optimizer, model):
                optimizer.add_param_group({"params": [model.bias]})

            model = torch.nn.Linear(2, 1)
            optimizer = make(model)
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a helper adds the group below the wrap",
            reported=True,
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD([model.weight], lr=0.1)
            for p in (model.bias,):
                optimizer.add_param_group({"params": [p]})
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the groups are there when the optimizer is wrapped",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 1)
            model = DDP(model)
            model.requires_grad_(False)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                model.requires_grad_(True)
                model(x).sum().backward()
                optimizer.step()
                model.requires_grad_(False)
            """,
            reason="frozen at the wrap, trained in the loop",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def thaw(net):
                for p in net.parameters():
                    p.requires_grad = True

            net = DDP(torch.nn.Linear(2, 1))
            for p in net.parameters():
                p.requires_grad = False
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for epoch in range(3):
                if epoch == 1:
                    thaw(net)
                net(x).sum().backward()
            """,
            reason="a helper unfreezes after the first epoch",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Linear(2, 1)
            for p in net.parameters():
                p.requires_grad = False
            net.weight.requires_grad = True
            net = DDP(net)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for epoch in range(3):
                net(x).sum().backward()
            """,
            reason="what is trained is unfrozen before the optimizer is made",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Features(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = torch.nn.Linear(2, 2)
                    for p in self.layers.parameters():
                        p.requires_grad = False

            class Critic(torch.nn.Module):
                pass

            def to_device(net):
                net = net.cuda()
                net = DDP(net)
                return net

            features = to_device(Features())
            critic = to_device(Critic())
            optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
            for batch in range(3):
                for p in critic.parameters():
                    p.requires_grad = True
                critic(x).sum().backward()
                optimizer.step()
            """,
            reason="what one call of the helper wraps is frozen, and what another one wraps is trained",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def grads(net, on):
                for p in net.parameters():
                    p.requires_grad = on

            critic = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
            for batch in range(3):
                grads(critic, False)
                grads(critic, True)
                critic(x).sum().backward()
            """,
            reason="frozen and unfrozen in the loop only, as GANs do: the hooks are there by then",
        ),
        Keep(
            """\
            import torch
            from helpers import grads
            from torch.nn.parallel import DistributedDataParallel as DDP

            critic = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
            for batch in range(3):
                grads(critic)
                critic(x).sum().backward()
            """,
            reason="what another script freezes, of which nothing is known, is not in this program",
            files=(
                (
                    "helpers.py",
                    "def grads(net):\n    for p in net.parameters():\n        p.requires_grad = True\n",
                ),
                (
                    "mels.py",
                    "import helpers\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n"
                    "def loss(mel, target):\n    target.requires_grad = False\n    return (mel - target).sum()\n\n"
                    "net = DDP(load())\nprint(loss(net(x), y))\n",
                ),
            ),
        ),
        Keep(
            """\
            import torch

            net = torch.nn.Linear(2, 1)
            net.requires_grad_(False)
            for epoch in range(3):
                net.requires_grad_(True)
                net(x).sum().backward()
            """,
            reason="the program is not one that DDP synchronised",
        ),
    ),
)
