"""HVD414: gradients that no optimizer holds are not averaged, and a norm over them is another one on each rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.freezing import switches
from hvdkit.migrate.facts.models.parameter_roots import parameter_roots
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.start_values import is_module
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

NORMS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm", "torch.nn.utils.get_total_norm")


def wider_norms(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Norms over a model of which the optimizers hold only a part, where nothing of it is ever frozen."""
    held = {model for optimizer in averaging_optimizers(facts) for model in optimizer.models}
    for site in facts.calls(*NORMS):
        roots = parameter_roots(facts, site.names, site.node.args[0]) if site.node.args else []
        models = {model for root in roots for model in facts.flow.unwrap(facts.flow.values(*root))}
        models = {model for model in models - held if is_module(facts, model)}
        if any(_is_held_in_part(facts, model) and not _is_frozen(facts, model) for model in models):
            yield site.names, site.node


def _is_held_in_part(facts: Facts, model: Value) -> bool:
    """Whether optimizers hold one part of a model alone; several may be all of it."""
    parts = {
        root.attr
        for optimizer in averaging_optimizers(facts)
        for names, root in optimizer.roots
        if isinstance(root, ast.Attribute)
        and model in facts.flow.unwrap(facts.flow.values(names, root.value))
    }
    return len(parts) == 1


def _is_frozen(facts: Facts, model: Value) -> bool:
    """Whether parameters of a model, or of one that is not known, are switched off somewhere."""
    return any(
        switch.value is not True and (not switch.models or model in switch.models)
        for switch in switches(facts)
    )


def check(facts: Facts) -> Iterator[Finding]:
    for names, call in wider_norms(facts):
        if migrates(facts, names):
            message = "this norm may include gradients that no optimizer holds: they differ on each rank"
            advice = (
                "pass it the parameters that the optimizer holds, or freeze the others with "
                "requires_grad_(False) above the optimizer"
            )
            yield manual("HVD414", names, call, message, advice)


RULE = Rule(
    id="HVD414",
    title="norms over gradients that are not averaged",
    what="Reports where gradients are clipped by the norm of a whole model, of which the optimizers hold only a part.",
    why=(
        "Horovod averages what its optimizer holds; DDP averages every gradient. The norm, and with it how "
        "much gradients are clipped, would differ on each rank: the weights diverge without any error."
    ),
    safety="Nothing is edited.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

            model = Net()
            optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
            model(x).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            """,
            reason="the gradients of model.body count in the norm, and nothing averages them",
            reported=True,
        ),
        Keep(
            """\
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

            model = Net()
            for parameter in model.body.parameters():
                parameter.requires_grad = False
            optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
            model(x).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            """,
            reason="what is frozen has no gradient",
        ),
    ),
)
