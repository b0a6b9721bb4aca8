"""Where names out of a checkpoint meet a model that is wrapped, or was: calls of load_state_dict()."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.checkpoints.unwrapping import asked_first, wrapped, wrapped_later
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.ranks import constant
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import kinds_of, migrates, programs_with
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.binding_order import reaching
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

MODULES = {"torch.nn.Module", "torch.nn.modules.Module"}
TRAINING = {"ddp", "single", "horovod"}


def state_loads(names: Names) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls `model.load_state_dict(...)` of a file, with their models."""
    for call in names.calls.get("load_state_dict", ()):
        if isinstance(call.func, ast.Attribute):
            yield call, call.func.value


def meets_names(facts: Facts, names: Names, model: ast.expr) -> bool:
    """Whether a model's names began with module. where it stands, and do so no more."""
    if not wrapped(facts, names, model) or wrapped_later(facts, names, model):
        return False
    return not _is_inside(facts, names, model) and not asked_first(names, model, model)


def holds_wrapped(facts: Facts, names: Names, model: ast.expr, certain: bool = False) -> bool:
    """Whether a model has a part whose wrapper goes, or, not certain, is unknown where such are trained.

    `self.net = DDP(self.net)` in a module's own code: names of its checkpoints have module. inside.
    """
    holders = _holders(facts)
    if not holders or _is_inside(facts, names, model):
        return False
    values = facts.flow.values(names, model)
    if all(value.unknown for value in values):
        return not certain and any(
            holders.keys() & set(program.files) for program in programs_with(facts, names)
        )
    made = {base for value in values if value.kind == "object" for _, base in facts.flow.classes(value)}
    return any(made & classes for classes in holders.values())


@once
def _holders(facts: Facts) -> dict[Names, set[ast.AST]]:
    """The modules of trainings that wrap what they keep as an attribute, by file."""
    found: dict[Names, set[ast.AST]] = {}
    for names in facts.files if find_wraps(facts) else ():
        if not migrates(facts, names):
            continue
        for target, binding in (pair for pairs in names.stores.values() for pair in pairs):
            owner = names.class_around(target)
            if owner is None or binding.value is None:
                continue
            if MODULES & facts.flow.bases(Value("class", owner.name, owner, names)):
                if wrapped(facts, names, binding.value):
                    found.setdefault(names, set()).add(owner)
    return found


def passes_over(names: Names, call: ast.Call) -> bool:
    """Whether names that the model does not have, or lacks, are no error: strict=False, and a filter."""
    strict = given(call, 1, "strict")
    return (isinstance(strict, ast.Constant) and strict.value is False) or _fills_up(names, call)


def loads_into_wrapped(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Loads of checkpoints as they are into a wrapped model, in programs that read what the training writes.

    Such a program trains nothing and keeps its DataParallel; the training's goes, and module. with it.
    """
    if not writes_wrapped(facts):
        return
    for names in facts.files:
        for call, model in () if kinds_of(facts, names) & TRAINING else state_loads(names):
            function = names.function(call)
            wraps = [value for value in facts.flow.values(names, model) if value.name in words.WRAPS]
            above = [
                wrap
                for wrap in wraps
                if wrap.names is not names
                or names.function(wrap.node) is not function
                or getattr(wrap.node, "lineno", 0) < call.lineno
            ]
            if (
                above
                and not _is_inside(facts, names, model)
                and _as_written(names, given(call, 0, "state_dict"))
            ):
                yield names, call


def readers(facts: Facts) -> set[Names]:
    """Files of programs that train nothing, and load checkpoints whose names the training gives module."""
    if not writes_wrapped(facts):
        return set()
    written = {constant(given(site.node, 1, "f")) for site in facts.calls("torch.save")}
    return {
        site.names
        for site in facts.calls("torch.load")
        if not kinds_of(facts, site.names) & TRAINING
        and constant(given(site.node, 0, "f")) in {None, *written}
    }


def loaded_for(facts: Facts, names: Names, node: ast.Constant) -> list[ast.expr]:
    """What a loop over names takes from checkpoints that its function loads: `checkpoint["state_dict"]`."""
    loop = loop_over_names(names, node)
    if loop is None or isinstance(names.parents[node], ast.JoinedStr):
        return []
    used = {part.id for part in ast.walk(loop) if isinstance(part, ast.Name)}
    return [
        statement.value
        for statement in names.walk(names.function(node) or names.source.tree)
        if isinstance(statement, ast.Assign)
        and names.function(statement) is names.function(node)
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id in used
        and isinstance(statement.value, ast.Subscript)
        and isinstance(statement.value.slice, ast.Constant)
        and isinstance(statement.value.value, (ast.Name, ast.Call))
        and _is_loaded(facts, names, statement.value.value)
        and _keyed(loop, statement.targets[0].id)
    ]


def loop_over_names(names: Names, node: ast.AST) -> ast.For | None:
    return next((parent for parent in names.ancestors(node) if isinstance(parent, ast.For)), None)


def is_of_file(facts: Facts, names: Names, state: ast.expr) -> bool:
    """Whether names are what a file has, as a whole or under a key: `torch.load(path)["state_dict"]`."""
    while isinstance(state, ast.Subscript):
        state = state.value
    return _is_loaded(facts, names, state)


@once
def writes_wrapped(facts: Facts) -> bool:
    """Whether a training asks a model for its names that is wrapped there."""
    return bool(_asking_wrapped(facts))


def reads_names(facts: Facts, names: Names, model: ast.expr) -> bool:
    """Whether a checkpoint has the wrapper's names: a program writes such, or the model is just wrapped."""
    programs = programs_with(facts, names)
    if any(file in _asking_wrapped(facts) for program in programs for file in program.files):
        return True
    made = reaching(names, model.id, model) if isinstance(model, ast.Name) else ()
    values = [binding.value for binding in made if binding.kind == "assign" and not binding.path]
    calls = [value for value in values if isinstance(value, ast.Call) and wrapped(facts, names, value)]
    return bool(calls) and len(calls) == len(made)


@once
def _asking_wrapped(facts: Facts) -> set[Names]:
    return {
        names
        for names, _, model in facts.methods("state_dict")
        if migrates(facts, names) and meets_names(facts, names, model)
    }


def _is_inside(facts: Facts, names: Names, model: ast.expr) -> bool:
    """Whether a variable is given what a wrapper holds: `inner = model.module if several else model`."""
    bindings = reaching(names, model.id, model) if isinstance(model, ast.Name) else ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
    arms = [arm for value in values for arm in (getattr(value, "body", None), getattr(value, "orelse", None))]
    return any(isinstance(each, ast.Attribute) and each.attr == "module" for each in (*values, *arms))


def _fills_up(names: Names, call: ast.Call) -> bool:
    """`known = model.state_dict(); known.update(what it has, too); model.load_state_dict(known)`."""
    state = given(call, 0, "state_dict")
    if not isinstance(state, ast.Name):
        return False
    bindings = names.bindings(state.id, state)
    asked = any(
        isinstance(binding.value, ast.Call) and getattr(binding.value.func, "attr", "") == "state_dict"
        for binding in bindings
    )
    owner = names.scope(state).owner(state.id)
    return asked and any(
        isinstance(filled, ast.Name)
        and filled.id == state.id
        and names.scope(filled).owner(filled.id) is owner
        for filled in (getattr(update.func, "value", None) for update in names.calls.get("update", ()))
    )


def _as_written(names: Names, state: ast.expr | None) -> bool:
    """Whether names are loaded as a file has them: `torch.load(path)`, an entry of it, or a variable's."""
    if isinstance(state, ast.Name):
        values = [binding.value for binding in names.bindings(state.id, state)]
        return bool(values) and all(value is not None and _is_read(names, value) for value in values)
    return state is not None and _is_read(names, state)


def _is_read(names: Names, state: ast.expr) -> bool:
    if isinstance(state, ast.Subscript):
        return isinstance(state.slice, ast.Constant) and isinstance(state.value, (ast.Name, ast.Call))
    return isinstance(state, ast.Call) and "torch.load" in names.qualified(state.func)


def _is_loaded(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a function itself loads a checkpoint: `torch.load(path)`, or a variable that holds it."""
    if isinstance(node, ast.Call):
        return "torch.load" in facts.flow.qualified(names, node.func)
    bindings = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    values = [binding.value for binding in bindings]
    return bool(values) and all(isinstance(v, ast.Call) and _is_loaded(facts, names, v) for v in values)


def _keyed(loop: ast.For, name: str) -> bool:
    """Whether a loop runs over a dict's names, or looks some up in it: `for k in list(d.keys())`, `d[k]`."""
    asked = (part for part in ast.walk(loop) if isinstance(part, (ast.Attribute, ast.Subscript)))
    return any(
        isinstance(part.value, ast.Name)
        and part.value.id == name
        and (isinstance(part, ast.Subscript) or part.attr in ("keys", "items"))
        for part in asked
    )
