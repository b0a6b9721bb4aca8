"""Where a program says how large a step is: to an optimizer, to its groups, to a schedule, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.programs.programs import files_with
from hvdkit.migrate.values.arguments import given, keyword, unpacks
from hvdkit.migrate.values.lookups import OPTIMIZER
from hvdkit.source.index.names import Names

# What torch.optim takes where no rate is given, the same in every version that has a default there. Left out:
# Rprop, which looks at signs, LBFGS, which finds its step, Adafactor and Muon, whose rates are relative.
DEFAULTS = {
    f"torch.optim.{name}": rate
    for name, rate in (
        ("ASGD", 0.01),
        ("Adadelta", 1.0),
        ("Adagrad", 0.01),
        ("Adam", 0.001),
        ("AdamW", 0.001),
        ("Adamax", 0.002),
        ("NAdam", 0.002),
        ("RAdam", 0.001),
        ("RMSprop", 0.01),
        ("SGD", 0.001),
        ("SparseAdam", 0.001),
    )
}
TORCH = "torch.optim."
# Schedules that forget the optimizer's rate, and where they are given theirs.
SCHEDULES = {
    "CyclicLR": ((1, "base_lr"), (2, "max_lr")),
    "OneCycleLR": ((1, "max_lr"),),
}
MAX_STEPS = 3  # through variables
KEEPING = ("append", "extend", "insert", "update", "setdefault")  # functions that keep what they are given


def learning_rate(optimizer: Optimizer) -> ast.expr | None:
    """The rate as it is given; all optimizers of torch.optim take it second."""
    name, call = optimizer.value.name, optimizer.node
    by_position = name.startswith(TORCH) and name != OPTIMIZER
    rate = given(call, 1, "lr") if by_position else keyword(call, "lr")
    return None if isinstance(rate, ast.Starred) else rate


def default_rate(optimizer: Optimizer) -> float | None:
    """What an optimizer takes for its rate where it, or one of its groups, is given none."""
    call = optimizer.node
    if unpacks(call) or len(call.args) > 1 or keyword(call, "lr") or all(_rates_of_list(call)):
        return None
    return DEFAULTS.get(optimizer.value.name)


def _rates_of_list(call: ast.Call) -> list[bool]:
    """Of each group in a list that is written out, whether it has its own rate; [False] of anything else."""
    groups = given(call, 0, "params")
    if not isinstance(groups, (ast.List, ast.Tuple)) or not groups.elts:
        return [False]
    return [group_rate(group) is not None for group in groups.elts]


def group_rate(node: ast.expr) -> ast.expr | None:
    """The rate in `{"params": parameters, "lr": rate}` and `dict(params=parameters, lr=rate)`."""
    items: dict[object, ast.expr] = {}
    if isinstance(node, ast.Dict):
        items = {getattr(key, "value", None): value for key, value in zip(node.keys, node.values)}
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        items = {item.arg: item.value for item in node.keywords}
    if "params" not in items or isinstance(items["params"], (ast.Dict, ast.Constant)):
        return None  # settings of something else
    return items.get("lr")


def group_rates(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The rates of groups of parameters, as they are written."""
    for names in facts.files:
        for node in names.of_kind(ast.Dict, ast.Call):
            rate = group_rate(node)
            if rate is not None:
                yield names, rate


def rates_set_later(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What a program puts into `group["lr"]`, and the rate of a schedule that forgets the optimizer's."""
    for names in facts.files:
        for holder, binding in names.stores.get("['lr']", ()):
            rate = binding.value if binding.kind == "assign" else None
            if rate is not None and _is_group(names, holder) and not has_read(names, rate):
                yield names, rate
    for site in facts.calls(*(f"torch.optim.lr_scheduler.{name}" for name in SCHEDULES)):
        for position, name in SCHEDULES[site.name.rpartition(".")[2]]:
            for rate in _each(given(site.node, position, name)):
                if not has_read(site.names, rate):
                    yield site.names, rate


def rates_moved(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The amounts by which a program moves a group's rate: `group["lr"] -= amount`, not made from a rate."""
    for names in facts.files:
        for moved in names.of_kind(ast.AugAssign):
            target = moved.target
            if not isinstance(moved.op, (ast.Add, ast.Sub)) or not isinstance(target, ast.Subscript):
                continue
            named = isinstance(target.slice, ast.Constant) and target.slice.value == "lr"
            if named and _is_group(names, target.value) and not has_read(names, moved.value):
                yield names, moved.value


def _each(rates: ast.expr | None) -> list[ast.expr]:
    """One rate, or one for each group."""
    if isinstance(rates, (ast.List, ast.Tuple)):
        return rates.elts
    if isinstance(rates, ast.ListComp):
        return [rates.elt]
    return [] if rates is None else [rates]


def _is_group(names: Names, holder: ast.expr) -> bool:
    """Whether an expression is one of an optimizer's param_groups."""
    made = [holder]
    if isinstance(holder, ast.Name):
        made = [b.value for b in names.bindings(holder.id, holder) if b.value is not None]
    return any(
        isinstance(part, ast.Attribute) and part.attr == "param_groups"
        for node in made
        for part in ast.walk(node)
    )


def reads(facts: Facts, names: Names) -> Iterator[tuple[Names, ast.expr]]:
    """Where the programs of a file ask an optimizer or a schedule for its rate."""
    files = files_with(facts, names)
    for file in sorted(files, key=lambda file: str(file.source.path)):
        for node in file.parents:
            if isinstance(node, ast.expr) and _reads_rate(file, node) and not _only_shown(facts, file, node):
                yield file, node


def has_read(names: Names, rate: ast.expr, steps: int = 0) -> bool:
    """Whether a rate is made from the one that an optimizer or a schedule has, also by way of variables."""
    for part in ast.walk(rate):
        if _reads_rate(names, part):
            return True
        bindings = names.bindings(part.id, part) if isinstance(part, ast.Name) and steps < MAX_STEPS else []
        values = [b.value for b in bindings if b.kind == "assign" and not b.path and b.value is not None]
        if values and len(values) == len(bindings) and all(has_read(names, v, steps + 1) for v in values):
            return True
    return False


def _only_shown(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a rate goes into a text, or to a function of a library whose result nobody takes: a log."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.JoinedStr):
            return True
        if isinstance(parent, ast.Call):
            called = getattr(parent.func, "attr", getattr(parent.func, "id", ""))
            if called == "format":
                return True
            if isinstance(names.parents[parent], ast.Expr):
                return called not in KEEPING and not facts.flow.functions(names, parent)
    return False


def _reads_rate(names: Names, node: ast.AST) -> bool:
    """`group["lr"]`, `group["initial_lr"]`, `schedule.get_last_lr()`; not `state["lr"]` of a dict."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        named = isinstance(node.slice, ast.Constant) and node.slice.value in ("lr", "initial_lr")
        return named and not _is_other_dict(names, node.value)
    return isinstance(node, ast.Attribute) and node.attr in ("get_last_lr", "get_lr", "base_lrs", "defaults")


def _is_other_dict(names: Names, holder: ast.expr) -> bool:
    """Whether something with an "lr" is settings, and no group: not of param_groups, and never changed."""
    bound = names.bindings(holder.id, holder) if isinstance(holder, ast.Name) else []
    if bound and all(isinstance(binding.value, (ast.Dict, ast.DictComp)) for binding in bound):
        return True
    if _of_groups(holder) or any(
        ast.dump(to) == ast.dump(holder) for to, _ in names.stores.get("['lr']", ())
    ):
        return False
    if isinstance(holder, ast.Subscript):
        return _is_other_dict(names, holder.value)
    if isinstance(holder, ast.Attribute):
        bound = [binding for _, binding in names.stores.get(holder.attr, ())]
    return all(b.kind != "each" and not (b.value is not None and _of_groups(b.value)) for b in bound)


def _of_groups(node: ast.AST) -> bool:
    """Whether an expression asks for param_groups."""
    return any(
        "param_groups" in (getattr(part, "attr", ""), getattr(part, "value", "")) for part in ast.walk(node)
    )
