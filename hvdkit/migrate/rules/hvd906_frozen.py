"""HVD906: parameters that are frozen when the optimizer is wrapped get no hooks, and never synchronise."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.starts import runs_in
from hvdkit.migrate.facts.models.freezing import Switch, switches
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.values.flow import Value
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target == "hvdkit":
        return  # its optimizer covers parameters that are unfrozen later
    found = [switch for switch in switches(facts) if "ddp" in facts.kinds(switch.names)]
    frozen = [s for s in found if s.value is not True and not s.training and not _after(facts, s)]
    wrapped = facts.by_hand.models.union(*(wrap.models for wrap in find_wraps(facts)))
    for late in found:
        if late.value is False or not (late.training or _after(facts, late)):
            continue
        before = next((s for s in frozen if _same(s, late, wrapped) and _meet(facts, s, late)), None)
        if before is not None:
            message = (
                "these parameters are frozen when the optimizer is wrapped "
                f"({before.names.source.path.name}:{before.at.lineno}) and trained later: Horovod gives them no hooks"
            )
            advice = (
                "migrate with --target hvdkit, whose optimizer covers them; or wrap the optimizer while "
                "everything that it will ever train has requires_grad=True, and freeze after that"
            )
            yield facts.refused("HVD906", late.names, late.at, message, advice)


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
    title="parameters unfrozen after the wrap are refused",
    what=(
        "Leaves a program alone that freezes parameters before its optimizer is made and unfreezes them while it "
        "trains (StyleGAN2-ADA does, and every recipe that thaws a backbone after some epochs)."
    ),
    why=(
        "Horovod looks at requires_grad when the optimizer is wrapped, DDP when it is built. What is frozen then "
        "is never reduced: the ranks' weights part, and no error tells. A program may build DDP first, freeze, "
        "and be right with it."
    ),
    safety="Nothing is edited in any file of the program. With --target hvdkit such programs are migrated.",
    check=check,
    changes=(),
    keeps=(
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
