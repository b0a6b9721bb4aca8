"""HVD415: an optimizer that is made again for the same model meets the hooks of the one before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.decisions.optimizer_wraps import optimizer_wraps
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.syncing import REST, RESTING, SETTER
from hvdkit.migrate.facts.optimizers.remade_optimizers import Again, made_again
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace
from hvdkit.migrate.plan import Finding, Obstacle
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def check(facts: Facts) -> Iterator[Finding]:
    for place in (decision.place for decision in optimizer_wraps(facts) if decision.wrapped):
        again = made_again(facts, place)
        if again is None or _rests(place):
            continue
        message = (
            "a second optimizer is created for this model: the first one's hooks stay on its parameters, "
            "and both would reduce each gradient"
        )
        made = edits.attempt(_edit, place, again)
        if isinstance(made, Obstacle):
            advice = (
                f"when the training with the first one is over, call its {SETTER}({REST}), "
                "which disables its hooks"
            )
            yield manual("HVD415", place.names, place.call, message, advice)
            continue
        message += ": the earlier ones are disabled"
        yield safe(facts, "HVD415", place.names, place.call, message, made)


def _rests(place: WrapPlace) -> bool:
    """Whether the function says already that the hooks of an optimizer of this variable rest."""
    names = place.names
    return any(
        isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func.value) == place.target
        and [ast.dump(argument) for argument in call.args] == [RESTING]
        and names.function(call) is names.function(place.call)
        for call in names.calls.get(SETTER, ())
    )


def _edit(place: WrapPlace, again: Again) -> Edit:
    """The line that lets an optimizer's hooks rest: above the new one, or where the old one is not used any more."""
    names, line = place.names, f"{place.target}.{SETTER}({REST})"
    if again.above is not None:
        if names.parents[again.above.statement] not in names.ancestors(place.statement):
            raise edits.CannotEdit("there may be no earlier one")
        return edits.before(names.source, place.statement, [line])
    region = again.loop if again.loop is not None else again.function
    if (
        region is None
        or not (place.target or "").isidentifier()
        or names.parents[place.statement] is not region
    ):
        raise edits.CannotEdit("the optimizer may live on")
    body: list[ast.stmt] = region.body  # type: ignore[attr-defined]
    if _lives_on(names, place, region) or _leaves_early(names, region, body):
        raise edits.CannotEdit("the optimizer may live on")
    if isinstance(body[-1], ast.Return):
        return edits.before(names.source, body[-1], [line])
    if isinstance(body[-1], ENDS):
        raise edits.CannotEdit("the loop ends here")
    return edits.after(names.source, body[-1], [line])


def _lives_on(names: Names, place: WrapPlace, region: ast.AST) -> bool:
    """Whether an optimizer is used behind its loop or function, or kept by something."""
    for use in names.uses.get(place.target or "", ()):
        inside = region in names.ancestors(use)
        if not inside and names.function(use) is names.function(place.call):
            return True
        parent = names.parents[use]
        kept = isinstance(parent, (ast.Return, ast.Yield, ast.Tuple, ast.List, ast.Dict))
        stored = isinstance(parent, ast.Assign) and use is parent.value
        if inside and isinstance(use.ctx, ast.Load) and (kept or stored):
            return True
    return False


def _leaves_early(names: Names, region: ast.AST, body: list[ast.stmt]) -> bool:
    """Whether a round of a loop, or a function, may end above its last statement."""
    early = (ast.Return, ast.Yield, ast.YieldFrom) if isinstance(region, FUNCTIONS) else (ast.Continue,)
    for part in names.walk(region):
        if isinstance(part, early) and part is not body[-1]:
            around = next(
                (parent for parent in names.ancestors(part) if isinstance(parent, (*LOOPS, *FUNCTIONS))), None
            )
            if around is region or not isinstance(part, ast.Continue):
                return True
    return False


RULE = Rule(
    id="HVD415",
    title="a second optimizer for the same model",
    what=(
        "Disables the hooks of an optimizer when a second one is created for the same model: in a loop over "
        "runs or folds, in a function that is called again, and where a variable gets its second optimizer."
    ),
    why=(
        "hvd.DistributedOptimizer puts a hook on each parameter, and it stays there when the optimizer is "
        "gone. With the next optimizer two hooks reduce the same gradient under the same name, and Horovod "
        "fails: in the second run, after the whole first one."
    ),
    safety=(
        "Safe: set_backward_passes_per_step() with a number that is never reached keeps the old hooks from "
        "reducing; the new optimizer has its own hooks. Where the old one may be used later, the place is "
        "left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            for run in range(10):
                model.reset_parameters()
                optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
                print(test(model))
            """,
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            for run in range(10):
                model.reset_parameters()
                optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
                print(test(model))
                optimizer.set_backward_passes_per_step(2**31)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            for run in range(10):
                model = torch.nn.Linear(2, 1)
                optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
                for x in batches:
                    optimizer.zero_grad()
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="each run has its own model",
        ),
    ),
)
