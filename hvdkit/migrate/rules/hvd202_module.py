"""HVD202: model.module becomes model, for every alias of a wrapped model and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.checkpoints.unwrapping import (
    asked_first,
    class_questions,
    left_out,
    looks_through,
    loses_wrappers,
    must_hold,
    none_has_module,
    of_context,
    of_record,
    only_asks,
    own_module,
    question,
    unknown,
    wrapped,
)
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.choices import without_choice
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

GONE = "the model is no longer wrapped, so .module is removed"
ADVICE = "drop .module here if this is the model that was wrapped: it is the model itself now"


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        for node in names.attributes.get("module", ()):
            if not facts.of_object(names, node) or names.parents[node] in names.calls.get(
                "import_module", ()
            ):
                continue  # a library's, or the name of a module
            if not asked_first(names, node, node.value):
                yield from _attribute(facts, names, node)
        for call in names.calls.get("getattr", ()):
            literal = len(call.args) == 2 and isinstance(call.args[1], ast.Constant)
            if literal and call.args[1].value == "module" and wrapped(facts, names, call.args[0]):  # type: ignore[attr-defined]
                yield safe(facts, "HVD202", names, call, GONE, edits.unwrap, names.source, call, call.args[0])
        for call in names.calls.get("hasattr", ()):
            if question(call) and left_out(facts, names, call):
                message = (
                    "this is false now: the model is no longer wrapped, and the code below it is skipped"
                )
                advice = "remove this test, and .module in what it guards, where the model was always wrapped"
                yield manual("HVD202", names, call, message, advice)
    for names, call in class_questions(facts):
        told = "ddp" in kinds_of(facts, names) or must_hold(facts, names, call)
        if told and not looks_through(names, call):
            message = "this test for DDP or DataParallel is false now: the model is no longer wrapped"
            advice = "decide which branch a Horovod run takes, and test hvd.size() > 1 where that is meant"
            yield manual("HVD202", names, call, message, advice)


def _attribute(facts: Facts, names: Names, node: ast.Attribute) -> Iterator[Finding]:
    if not wrapped(facts, names, node.value):
        if isinstance(node.value, ast.Name) and node.value.id != "self" and loses_wrappers(facts, names):
            held = of_record(names, node.value) or of_context(facts, names, node.value)
            if not held and unknown(facts, names, node.value):
                message = "what this .module belongs to could not be followed"
                yield _if_there(facts, names, node, message)
        return
    other = own_module(facts, names, node.value)
    if other is not None:
        message = f"this may be the wrapped model or a {other.name}, which has its own .module"
        yield _if_there(facts, names, node, message)
    elif isinstance(node.ctx, ast.Load):
        yield safe(facts, "HVD202", names, node, GONE, _edit, facts, names, node)
    else:
        message = "the model inside the wrapper is replaced here, and the wrapper is removed"
        advice = "assign to the variable that holds the model instead"
        yield manual("HVD202", names, node, message, advice)


def _if_there(facts: Facts, names: Names, node: ast.Attribute, message: str) -> Finding:
    """`x.module` of what may be a model that was wrapped, or something else: asked for where it is there."""
    parts = [*ast.walk(node.value)]
    plain = all(isinstance(part, (ast.Name, ast.Attribute, ast.expr_context)) for part in parts)
    builtin = not names.bindings("getattr", node)
    if not plain or not builtin or not isinstance(node.ctx, ast.Load) or not none_has_module(facts):
        return manual("HVD202", names, node, message, ADVICE)
    text = names.source.segment(node.value)
    message, asked = f"{message}: getattr tests for it", f'getattr({text}, "module", {text})'
    return safe(facts, "HVD202", names, node, message, edits.replace, names.source, node, asked)


def _edit(facts: Facts, names: Names, node: ast.Attribute) -> Edit:
    """`x.module` -> `x`, with the choice or the assignment around it that is there for nothing else."""
    settled = without_choice(facts, names, node)
    if settled is not None:
        return settled
    given = names.parents[node]
    if isinstance(given, ast.Assign) and [ast.unparse(to) for to in given.targets] == [
        ast.unparse(node.value)
    ]:
        return edits.delete(names, _with_its_test(facts, names, given))  # `model = model.module`
    return edits.drop_attribute(names.source, node)


def _with_its_test(facts: Facts, names: Names, statement: ast.stmt) -> ast.stmt:
    """A statement, or the `if` around it that is there for nothing else."""
    test = names.parents[statement]
    if not isinstance(test, ast.If) or test.body != [statement] or test.orelse:
        return statement
    return statement if names.source.is_elif(test) or not only_asks(facts, names, test.test) else test


RULE = Rule(
    id="HVD202",
    title="model.module becomes model",
    what=(
        "Drops .module where the object is a model that DDP or DataParallel wrapped, through any alias, "
        "attribute, collection or call. Where it may be something else that has a .module, and the model "
        "has none, it becomes getattr(x, "
        '"module", x). Tests for the wrapper, and a .module that cannot be followed, are reported.'
    ),
    why="Without DDP there is no wrapper to look through; the attribute would not exist.",
    safety=(
        "Safe: only where the value was traced back to a wrapping call. Code that tests first, by hasattr, "
        "getattr with a default, isinstance or except AttributeError, is right with and without a wrapper "
        'and stays; an `if hasattr(model, "module"):` that does more than unwrap, and has no `else`, is reported.'
    ),
    check=check,
    changes=(
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, net):
                    self.model = DDP(net)
                    self.parts = {"net": self.model}

                def inner(self):
                    return self.model.module

                def save(self):
                    return self.parts["net"].module.state_dict(), getattr(self.model, "module").training
            """,
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, net):
                    self.model = DDP(net)
                    self.parts = {"net": self.model}

                def inner(self):
                    return self.model

                def save(self):
                    return self.parts["net"].state_dict(), self.model.training
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
            model.module.eval()
            if hvd.rank() == 0:
                print(model(x))
            """,
            reason="a script that already starts Horovod keeps its DataParallel, so that a second run leaves what the first one left",
        ),
    ),
)
