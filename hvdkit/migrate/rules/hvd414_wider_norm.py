"""HVD414: gradients that no optimizer holds are not averaged, and a norm over them is another one on each rank."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.wider_norms import wider_norms
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding


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
