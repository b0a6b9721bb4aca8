"""HVD412: statements that average the gradients after a backward pass go, since the optimizer averages them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required, safe, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.averages.averaging_statements import without_gradients
from hvdkit.migrate.facts.models.gradient_expressions import NEVER
from hvdkit.migrate.facts.optimizers.averaged_by_hand import Averaging, averages_by_hand, guarded
from hvdkit.migrate.plan import Edit, Finding


def check(facts: Facts) -> Iterator[Finding]:
    for averaging in averages_by_hand(facts).averagings:
        message = "the optimizer averages the gradients, so this is removed"
        names, statement = averaging.names, averaging.statement
        tell = required
        if NEVER in averaging.notes:
            tell, message = suggested, f"{message}; {NEVER}"
        finding = tell(facts, "HVD412", names, statement, message, _edit, facts, averaging)
        yield finding.knowing(". ".join(averaging.notes))
    for names, function in averages_by_hand(facts).unneeded(averages_by_hand(facts).averagings):
        message = f"{function.name} is no longer used"
        yield safe(facts, "HVD412", names, function, message, edits.delete_definition, names, function)


def _edit(facts: Facts, averaging: Averaging) -> Edit:
    """The statement gone, with the tests around it when they hold nothing else."""
    names = averaging.names
    statement, outermost = averaging.statement, guarded(facts, names, averaging.statement)
    while statement is not outermost and edits.only_statement(names, statement):
        parent = names.parents[statement]
        if not isinstance(parent, ast.If) and not without_gradients(names, parent):
            break  # such as a timer, which goes on timing nothing
        assert isinstance(parent, ast.stmt)
        statement = parent
    return edits.delete(names, statement)


RULE = Rule(
    id="HVD412",
    title="hand-written averages are removed",
    what=(
        "Removes statements that sum each gradient over all ranks and divide it by their number after a "
        "backward pass, as PyTorch's tutorial does with average_gradients(model), and their function when "
        "nothing else uses it."
    ),
    why=(
        "hvd.DistributedOptimizer averages the gradients (HVD401). With both, they would be averaged twice, "
        "while Horovod reduces the same tensors."
    ),
    safety=(
        "Safe: only where it is shown that all gradients of the optimizer's model are summed and divided by "
        "the world size once, after every backward pass and before anything reads them; anything else is "
        "refused (HVD904). With two ranks in float32 the weights are bit-identical; with more, the last bit "
        "of a gradient may differ. A parameter without a gradient now "
        "has zeros, which is reported where the program skips such parameters. Suggested where they are "
        "under `type(param) is torch.Tensor`, as in an old tutorial: that is never true, and nothing was "
        "averaged."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            import torch.distributed as dist

            def average_gradients(model):
                size = float(dist.get_world_size())
                for param in model.parameters():
                    dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
                    param.grad.data /= size

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                average_gradients(model)
                optimizer.step()
            """,
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            note="The form of PyTorch's tutorial.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist

            def sum_gradients(model):
                for param in model.parameters():
                    dist.all_reduce(param.grad.data)

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            sum_gradients(model)
            optimizer.step()
            """,
            reason="a sum is not an average; HVD904 refuses it",
        ),
    ),
)
