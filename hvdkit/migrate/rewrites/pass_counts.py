"""What no_sync() said to DDP, said to the optimizers: how many backward passes come before they reduce."""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.edits.unnesting import drop_item
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.syncing import SETTER, Choice, called, choice_of, is_nothing, mention_in
from hvdkit.migrate.facts.optimizers.after_backward import averaged_literally
from hvdkit.migrate.facts.optimizers.written_optimizers import trainers_of
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def by_switch(facts: Facts, names: Names, statement: ast.Assign, target: ast.Attribute) -> list[Edit]:
    """`model.require_backward_grad_sync = x`, said to the optimizers."""
    value = statement.value
    if isinstance(value, ast.Constant):
        passes = "1" if value.value else "2"
    else:
        text = names.source.segment(value)
        passes = f"1 if {f'({text})' if isinstance(value, (ast.IfExp, ast.Lambda)) else text} else 2"
    return [_replaced(facts, names, statement, target.value, passes)]


def by_context(facts: Facts, names: Names, node: ast.Attribute) -> list[Edit]:
    """Edits for one mention of no_sync: in a `with`, or kept in a variable for one."""
    choice = choice_of(names, node, several(facts, names))
    holder = names.parents[choice.node]
    if isinstance(holder, ast.withitem):
        statement = names.parents[holder]
        assert isinstance(statement, (ast.With, ast.AsyncWith))
        if averaged_literally(facts, names, node.value) and isinstance(statement, ast.With):
            return drop_item(names, statement, holder)
        return _in_with(facts, names, statement, holder, choice, node.value)
    if isinstance(holder, ast.Assign) and isinstance(holder.targets[0], ast.Name):
        return _held(facts, names, holder.targets[0], node.value)
    raise edits.CannotEdit("no_sync() is not used as a plain context manager")


def _in_with(
    facts: Facts,
    names: Names,
    statement: ast.With | ast.AsyncWith,
    item: ast.withitem,
    choice: Choice,
    model: ast.expr,
) -> list[Edit]:
    source = names.source
    if facts.options.target == "hvdkit":
        given = f", {choice.adds}" if choice.adds else ""
        every = [
            f"{horovod_name(facts, names)}.accumulate({o}{given})" for o in _optimizers(facts, names, model)
        ]
        return [edits.replace(source, choice.node, ", ".join(every))]
    if item.optional_vars is not None or isinstance(statement, ast.AsyncWith):
        raise edits.CannotEdit("the value of no_sync() is used")
    lines = [f"{name}.{SETTER}({choice.passes})" for name in _optimizers(facts, names, model)]
    reset = [f"{name}.{SETTER}(1)" for name in _optimizers(facts, names, model)]
    below = [edits.after(source, statement, reset)] if not choice.adds else []
    return [edits.before(source, statement, lines), *drop_item(names, statement, item), *below]


def _held(facts: Facts, names: Names, variable: ast.Name, model: ast.expr) -> list[Edit]:
    """`context = model.no_sync() if x else nullcontext()`, then `with context:`."""
    owner = names.scope(variable).owner(variable.id)
    literally = averaged_literally(facts, names, model)
    found: list[Edit] = []
    for use in names.uses.get(variable.id, ()):
        if names.scope(use).owner(variable.id) is not owner:
            continue
        statement = names.statement(use)
        if isinstance(use.ctx, ast.Store) and isinstance(statement, ast.Assign):
            if literally:
                found.append(edits.delete(names, statement))
                continue
            found.append(_replaced(facts, names, statement, model, _passes(facts, names, statement.value)))
            continue
        item = names.parents[called(names, use)]
        plain = isinstance(item, ast.withitem) and item.optional_vars is None
        if not plain or not isinstance(item, ast.withitem) or not isinstance(statement, ast.With):
            raise edits.CannotEdit(f"{variable.id} is used otherwise than in `with {variable.id}:`")
        found += drop_item(names, statement, item)
    return found


def _passes(facts: Facts, names: Names, value: ast.expr) -> str:
    """The number of backward passes for what a context variable is given."""
    if is_nothing(names, value):
        return "1"
    mention = mention_in(value)
    choice = choice_of(names, mention, several(facts, names)) if mention is not None else None
    if choice is None or choice.node is not value:
        raise edits.CannotEdit("the context manager is chosen in a way that cannot be followed")
    return choice.passes


def _replaced(facts: Facts, names: Names, statement: ast.stmt, model: ast.expr, passes: str) -> Edit:
    every = [f"{name}.{SETTER}({passes})" for name in _optimizers(facts, names, model)]
    if len(every) > 1:
        edits.own_lines(names.source, statement)
    indent = names.source.indent(statement.lineno)
    return edits.replace(names.source, statement, f"{names.source.newline}{indent}".join(every))


def several(facts: Facts, names: Names) -> str:
    """The test for several processes, which hasattr(model, "no_sync") was."""
    return f"{horovod_name(facts, names)}.size() > 1"


def _optimizers(facts: Facts, names: Names, model: ast.expr) -> list[str]:
    found = trainers_of(facts, names, model)
    if not found:
        raise edits.CannotEdit("the optimizer has no name where no_sync() is used")
    return found
