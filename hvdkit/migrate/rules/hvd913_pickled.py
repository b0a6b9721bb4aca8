"""HVD913: an optimizer that is saved as an object: Horovod's cannot be pickled, and a loaded one is not Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

PICKLES = ("torch.save", "pickle.dump", "pickle.dumps")


def check(facts: Facts) -> Iterator[Finding]:
    optimizers = {optimizer.value for optimizer in averaging_optimizers(facts)}
    for site in facts.calls(*PICKLES):
        names = site.names
        if not site.node.args or not migrates(facts, names):
            continue
        for saved in _parts(names, site.node.args[0]):
            if facts.flow.unwrap(facts.flow.values(names, saved)) & optimizers:
                message = (
                    "the optimizer is saved as an object: Horovod's cannot be pickled, and a loaded one is "
                    "not Horovod's"
                )
                advice = (
                    "save optimizer.state_dict(), create the optimizer again where a checkpoint is read and "
                    "call load_state_dict() on it, then run hvdkit migrate again"
                )
                yield refused("HVD913", names, saved, message, advice)
                break


def _parts(names: Names, saved: ast.expr) -> Iterator[ast.expr]:
    """What is saved: itself, or the items of a dictionary or list that is written here or in its variable."""
    written = [saved]
    for binding in names.bindings(saved.id, saved) if isinstance(saved, ast.Name) else ():
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            written.append(binding.value)
    for expression in written:
        if isinstance(expression, ast.Dict):
            yield from expression.values
        elif isinstance(expression, (ast.List, ast.Tuple)):
            yield from expression.elts
        elif isinstance(expression, ast.Call) and getattr(expression.func, "id", "") == "dict":
            yield from (keyword.value for keyword in expression.keywords)
        elif isinstance(expression, (ast.Name, ast.Attribute)):
            yield expression


RULE = Rule(
    id="HVD913",
    title="optimizers that are pickled are refused",
    what="Leaves alone a program that saves its optimizer object instead of its state_dict().",
    why=(
        "hvd.DistributedOptimizer creates its class when it is called, and pickle cannot find that class: "
        "the script would train for an epoch and fail at its first checkpoint. An optimizer that is loaded "
        "from a checkpoint averages nothing, and the ranks would train different models."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch

            def save(epoch, model, optimizer):
                state = {"epoch": epoch, "model": model, "optimizer": optimizer}
                torch.save(state, "last.pth")

            optimizer = torch.optim.Adam(model.parameters())
            for epoch in range(3):
                model(x).sum().backward()
                optimizer.step()
                save(epoch, model, optimizer)
            """,
            reason="torch.save pickles the object",
            reported=True,
        ),
        Keep(
            """\
            import torch

            optimizer = torch.optim.Adam(model.parameters())
            model(x).sum().backward()
            optimizer.step()
            torch.save({"model": model, "optimizer": optimizer.state_dict()}, "last.pth")
            """,
            reason="its state is a plain dictionary, and a model is pickled as it was",
        ),
    ),
)
