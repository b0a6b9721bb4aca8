"""The places where a model is wrapped in DDP or DataParallel, and what is left once the wrappers are gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once, once_all
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# DDP's arguments (torch's and apex's) that say what is averaged.
MEANINGS = (
    "process_group",
    "device_mesh",
    "param_to_hook_all_reduce",
    "delay_all_reduce_named_params",
    "mixed_precision",
    "gradient_average",
)
# How a parameter stands still that has no gradient of its own. Freezing it is no help: Horovod fixes which
# gradients have to arrive when it wraps the optimizer, and reduces zeros for those that do not.
STAND_STILL = (
    "call optimizer.synchronize() before the step, set .grad = None for each parameter that {}, and step "
    "under `with optimizer.skip_synchronize():`"
)
# Arguments with which a parameter may go unused: torch's, and apex's.
MAY_BE_UNUSED = ("find_unused_parameters", "delay_allreduce")
POSITIONS = (
    "module",
    "device_ids",
    "output_device",
    "dim",
    "broadcast_buffers",
    "init_sync",
    "process_group",
)
PARTIAL = "functools.partial"


@dataclass(frozen=True)
class Wrap:
    """One wrapping call: the wrapper's name, the expression wrapped, and what that may be, unwrapped."""

    names: Names
    node: ast.Call
    name: str
    inner: ast.expr | None
    models: frozenset[Value]

    @property
    def value(self) -> Value:
        """The wrapped model as a value."""
        return Value("made", self.name, self.node, self.names)


@once
def find_wraps(facts: Facts) -> list[Wrap]:
    """Every DDP, apex DDP and DataParallel call."""
    found = []
    for site in facts.calls(*words.WRAPS):
        call = site.node
        inner = given(call, 0, "module")
        models = facts.flow.unwrap(facts.flow.values(site.names, inner))
        found.append(Wrap(site.names, call, site.name, inner, models))
    return found


@once
def chosen_wraps(facts: Facts) -> list[tuple[Names, ast.Call]]:
    """Calls of DDP by what may hold its class: a choice, a table, a partial(), a parameter."""
    known = {wrap.node for wrap in find_wraps(facts)}
    direct = {wrap.node.func for wrap in find_wraps(facts)}
    named = mentions(facts, tuple(words.DDP))
    if all(node in direct or qualified not in words.DDP for _, node, qualified, _ in named):
        return []
    calls = ((names, call) for names in facts.files for call in names.of_kind(ast.Call))
    return [(names, call) for names, call in calls if call not in known and _calls_ddp(facts, names, call)]


def _calls_ddp(facts: Facts, names: Names, call: ast.Call) -> bool:
    for value in facts.flow.values(names, call.func):
        if value.kind == "name" and value.name in words.DDP:
            return True
        bound = value.node.args[:1] if value.name == PARTIAL and isinstance(value.node, ast.Call) else []
        if bound and words.DDP & facts.flow.qualified(value.names, bound[0]):
            return True
    return False


def changes_average(wrap: Wrap) -> str:
    """An argument of DDP that changes the arithmetic and is given a value of its own; empty for none."""
    given = dict(zip(POSITIONS, wrap.node.args)) if wrap.name.startswith("torch.") else {}
    given.update({keyword.arg: keyword.value for keyword in wrap.node.keywords if keyword.arg})
    for name, value in given.items():
        default = isinstance(value, ast.Constant) and value.value in (None, True, 1.0)
        if name in MEANINGS and not default:
            return name
    return ""


@once_all
def own_data_parallel(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Calls of the project's own classes that derive from DataParallel."""
    classes = {
        node
        for names in facts.files
        for node in names.scopes
        if isinstance(node, ast.ClassDef)
        if words.DATA_PARALLEL & facts.flow.bases(Value("class", node.name, node, names))
    }
    for names in facts.files:
        for call in (call for node in classes for call in names.calls.get(node.name, ())):
            if any(value.node in classes for value in facts.flow.values(names, call.func)):
                yield names, call


def removed(facts: Facts) -> frozenset[str]:
    """The wrappers that this run takes away, by the rules that were chosen."""
    by_rule = {"HVD201": words.DDP, "HVD203": words.DATA_PARALLEL, "HVD204": words.SYNC_BATCH_NORM}
    return frozenset().union(*(found for rule, found in by_rule.items() if facts.options.allows(rule)))


def core(facts: Facts, names: Names, node: ast.expr) -> ast.expr:
    """An expression without the wrapping calls around it that this run takes away."""
    gone = removed(facts)
    while isinstance(node, ast.Call) and node.args and set(names.qualified(node.func)) & gone:
        if set(names.qualified(node.func)) & words.SYNC_BATCH_NORM and (node.keywords or node.args[1:]):
            break  # left to you
        node = node.args[0]
    return node
