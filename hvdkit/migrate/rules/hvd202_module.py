"""HVD202: model.module becomes model, for every alias of a wrapped model and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        for node in names.attributes.get("module", ()):
            if not isinstance(node.ctx, ast.Load) or names.qualified(node):
                continue
            values = facts.flow.values(names, node.value)
            wrapped = [value for value in values if value.name in words.DDP]
            if not wrapped or _asked_first(names, node):
                continue
            yield facts.safe(
                "HVD202",
                names,
                node,
                "the model is not wrapped any more, so .module goes",
                edits.drop_attribute,
                names.source,
                node,
            )


def _asked_first(names: Names, node: ast.Attribute) -> bool:
    """Whether the code asks whether there is a wrapper: it stays right without one."""
    for parent in names.ancestors(node):
        test = getattr(parent, "test", None) if isinstance(parent, (ast.If, ast.IfExp)) else None
        if test is not None and any(
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id in ("hasattr", "isinstance")
            and part.args
            and ast.dump(part.args[0]) == ast.dump(node.value)
            for part in ast.walk(test)
        ):
            return True
    return False


RULE = Rule(
    id="HVD202",
    title="model.module becomes model",
    what="Drops .module where the object is a model that DDP wrapped, through any alias, attribute or call.",
    why="Without DDP there is no wrapper to look through; the attribute would not exist.",
    safety="Safe: only where the value was followed back to a DDP call.",
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(net):
                torch.save(net.module.state_dict(), "net.pt")

            wrapped = DDP(torch.nn.Linear(2, 1))
            save(wrapped)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(net):
                torch.save(net.state_dict(), "net.pt")

            wrapped = DDP(torch.nn.Linear(2, 1))
            save(wrapped)
            """,
            note="Only this rule: HVD201 takes the wrapping call.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            class Holder(torch.nn.Module):
                def __init__(self, module):
                    super().__init__()
                    self.module = module

            Holder(torch.nn.Linear(2, 1)).module.weight
            """,
            reason="the attribute is the class's own",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            bare = model.module if hasattr(model, "module") else model
            """,
            reason="the code asks first, and is right with and without a wrapper",
        ),
    ),
)
