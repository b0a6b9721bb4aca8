"""Whether the training of a model that is wrapped in DDP goes through the wrapper.

Gradients are averaged for what the wrapper's forward() computes: a call of the model itself, of a part of it
or of a method of its own leaves them as each rank computed them, without any error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.models.freezing import switches
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.parameter_roots import in_caller
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names

CALLED = ("forward", "__call__")
NO_GRAD = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad")
# Methods of torch.nn.Module that compute nothing that is trained.
MODULE = frozenset(
    (
        *(
            "add_module",
            "apply",
            "bfloat16",
            "buffers",
            "children",
            "cpu",
            "cuda",
            "double",
            "eval",
            "extra_repr",
        ),
        *(
            "float",
            "get_buffer",
            "get_parameter",
            "get_submodule",
            "half",
            "join",
            "load_state_dict",
            "modules",
        ),
        *("named_buffers", "named_children", "named_modules", "named_parameters", "no_sync", "parameters"),
        *("register_buffer", "register_comm_hook", "register_forward_hook", "register_forward_pre_hook"),
        *("register_full_backward_hook", "register_module", "register_parameter", "requires_grad_"),
        *("share_memory", "state_dict", "to", "to_empty", "train", "type", "xpu", "zero_grad"),
    )
)


@dataclass(frozen=True)
class Around:
    """A place at which training passes by the wrapper. why: for a sentence, after the place."""

    names: Names
    node: ast.AST
    why: str


def is_wrapper(value: Value) -> bool:
    """Whether a value is a model in DDP."""
    return value.kind == "made" and value.name in words.DDP


@once
def wrapped_models(facts: Facts) -> frozenset[Value]:
    """The models that the project wraps in DDP."""
    calls = [site for site in facts.calls(*words.DDP) if site.node.args]
    inner = (facts.flow.values(site.names, site.node.args[0]) for site in calls)
    return frozenset(value for values in inner for value in facts.flow.unwrap(values) if not value.is_none)


def runs_below_wraps(
    facts: Facts, names: Names, node: ast.AST, inside: frozenset[ast.AST] = frozenset()
) -> bool:
    """Whether code runs after all models were wrapped: below, or in a function that is called only there."""
    wraps = facts.calls(*words.DDP)
    function = names.function(node)
    here = [w for w in wraps if w.names is names and names.function(w.node) is function]
    if len(here) == len(wraps):
        return all(names.statement(w.node) in _above(names, node) for w in here)
    if function is None or function in inside:
        return False
    sites = facts.flow.call_sites(names, function)
    return bool(sites) and all(runs_below_wraps(facts, *site, inside | {function}) for site in sites)


def runs_above_wraps(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether code runs before any model is wrapped: above all wraps, in the function that makes them."""
    here = {node, *names.ancestors(node)}
    return all(
        wrap.names is names
        and names.function(wrap.node) is names.function(node)
        and not here.isdisjoint(_above(names, wrap.node))
        for wrap in facts.calls(*words.DDP)
    )


def _above(names: Names, node: ast.AST) -> Iterator[ast.stmt]:
    """The statements that have run when a node does: those above it in the blocks around it."""
    child = node
    for parent in names.ancestors(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and child in block:
                yield from block[: block.index(child)]
        if isinstance(parent, FUNCTIONS):
            return
        child = parent


@once
def written_wraps(facts: Facts) -> list[Site]:
    """The calls of DDP that are written where Horovod wrapped an optimizer, and are not the program's own."""
    return [site for site in facts.calls(*words.DDP) if site.names.source.original is not None]


def trains_others(facts: Facts, optimizer: Optimizer) -> bool:
    """Whether an optimizer trains, as far as that can be followed, what is in no model in DDP."""
    return not all(
        _is_held(facts, *in_caller(where, root, optimizer.passed)) for where, root in optimizer.roots
    )


def _is_held(facts: Facts, names: Names, root: ast.expr) -> bool:
    """Whether a module, or what it is a part of, is wrapped."""
    while True:
        if facts.flow.unwrap(facts.flow.values(names, root)) & wrapped_models(facts):
            return True
        if not isinstance(root, (ast.Attribute, ast.Subscript)):
            return False
        root = root.value


@once
def passes_around(facts: Facts) -> list[Around]:
    """Every place at which training passes by the wrapper of its model."""
    models = wrapped_models(facts)
    return [*_calls_around(facts, models), *_shared_graphs(facts), *_switched(facts, models)]


def _calls_around(facts: Facts, models: frozenset[Value]) -> Iterator[Around]:
    for names in facts.files if models else ():
        for call in names.of_kind(ast.Call):
            found = _around(facts, names, call, models)
            if found is not None and _trains(facts, names, call):
                yield found


def _around(facts: Facts, names: Names, call: ast.Call, models: frozenset[Value]) -> Around | None:
    func = call.func
    forward = isinstance(func, ast.Attribute) and func.attr == "forward"
    called = facts.flow.values(names, func.value if forward and isinstance(func, ast.Attribute) else func)
    if called & models and not any(map(is_wrapper, called)) and not _inside(names, call, models):
        return Around(names, call, "the model itself is called, and not its wrapper")
    if any(map(is_wrapper, called)) or (isinstance(func, ast.Attribute) and func.attr in MODULE):
        return None
    holder = func
    while isinstance(holder, (ast.Attribute, ast.Subscript)):
        holder = holder.value
        values = facts.flow.values(names, holder)
        if facts.flow.unwrap(values) & models:
            part = f"{func.attr}()" if isinstance(func, ast.Attribute) else "a part of it"
            why = f"{part} is called, and DDP only knows of forward()"
            return None if _inside(names, call, models) else Around(names, call, why)
    return None


def _inside(names: Names, call: ast.Call, models: frozenset[Value]) -> bool:
    """Whether a call is in the class of a model that is wrapped: what forward() does, DDP knows of."""
    owner = names.class_around(call)
    return owner is not None and any(value.node is owner for value in models)


def _shared_graphs(facts: Facts) -> Iterator[Around]:
    """The backward passes after which a graph is kept: a second one of the same forward() is not averaged."""
    for path in training_loops(facts).paths:
        if is_on(keyword(path.backward, "retain_graph")):
            yield Around(path.names, path.backward, "several backward() may be called for one forward()")


def _switched(facts: Facts, models: frozenset[Value]) -> Iterator[Around]:
    """Parameters that are frozen or unfrozen once they are wrapped.

    A model that is frozen for the steps of a different one, and was not when it was wrapped, is right.
    """
    mine = [switch for switch in switches(facts) if switch.models & models]
    late = [switch for switch in mine if switch.training or runs_below_wraps(facts, switch.names, switch.at)]
    early = [switch for switch in mine if switch not in late and switch.value is not True]
    for switch in late:
        alike = {other.value for other in late if other.models & switch.models}
        if alike != {False, True} or any(other.models & switch.models for other in early):
            yield Around(switch.names, switch.at, "requires_grad is changed after the model was wrapped")


def _trains(facts: Facts, names: Names, node: ast.AST, inside: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a node runs where gradients are computed: beside a backward(), or in what is called there."""
    function, innermost = names.function(node), _innermost(facts)
    for parent in names.ancestors(node):
        if isinstance(parent, ast.With) and _no_grad(names, (item.context_expr for item in parent.items)):
            return False
        if parent in innermost:
            return True
        if parent is function:
            break
    if function is None or _no_grad(names, getattr(function, "decorator_list", ())):
        return False
    if function in innermost:
        return True
    if names.class_around(function) is not None and getattr(function, "name", "") in CALLED:
        return True  # of what is called as a function: its callers are not all seen
    if function in inside:
        return False
    sites = facts.flow.call_sites(names, function)
    return any(_trains(facts, *site, inside | {function}) for site in sites)


@once
def _innermost(facts: Facts) -> set[ast.AST]:
    """The innermost loop around each backward(), or its function where no loop is in it."""
    found: set[ast.AST] = set()
    for path in training_loops(facts).paths:
        function = path.names.function(path.backward)
        loop = path.loops[0] if path.loops else None
        here = loop is not None and loop.names is path.names and loop.names.function(loop.node) is function
        if here and loop is not None:
            found.add(loop.node)
        elif isinstance(function, FUNCTIONS):
            found.add(function)
    return found


def _no_grad(names: Names, expressions: object) -> bool:
    return any(
        name in NO_GRAD
        for part in expressions  # type: ignore[attr-defined]
        for name in names.qualified(part.func if isinstance(part, ast.Call) else part)
    )
