"""Calls of torch.distributed's collectives: their arguments by name, group, reduction and handle.

The rules HVD501 and up turn what is found here into Horovod's calls; nothing is decided here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.code.complete_values import is_complete, may_only_be
from hvdkit.migrate.facts.collectives.handles import handle_waits
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.values.arguments import is_constant, keyword, unpacks
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Parameters by position, as torch 2.x declares them (torch/distributed/distributed_c10d.py).
SIGNATURES = {
    "all_reduce": ("tensor", "op", "group", "async_op"),
    "reduce": ("tensor", "dst", "op", "group", "async_op", "group_dst"),
    "broadcast": ("tensor", "src", "group", "async_op", "group_src"),
    "broadcast_object_list": ("object_list", "src", "group", "device", "group_src"),
    "all_gather": ("tensor_list", "tensor", "group", "async_op"),
    "all_gather_into_tensor": ("output_tensor", "input_tensor", "group", "async_op"),
    "_all_gather_base": ("output_tensor", "input_tensor", "group", "async_op"),
    "all_gather_object": ("object_list", "obj", "group"),
    "gather": ("tensor", "gather_list", "dst", "group", "async_op", "group_dst"),
    "gather_object": ("obj", "object_gather_list", "dst", "group", "group_dst"),
    "scatter_object_list": (
        "scatter_object_output_list",
        "scatter_object_input_list",
        "src",
        "group",
        "group_src",
    ),
}

# torch's ReduceOp -> Horovod's of the same meaning. The bitwise ones and PREMUL_SUM have none.
OPERATIONS = {"SUM": "Sum", "AVG": "Average", "MAX": "Max", "MIN": "Min", "PRODUCT": "Product"}
_ENUMS = ("torch.distributed.ReduceOp.", "torch.distributed.reduce_op.")
_WORLD = (
    "torch.distributed.group.WORLD",
    "torch.distributed.GroupMember.WORLD",
    "horovod.torch.global_process_set",
    "hvdkit.torch.global_process_set",
)
NEW_GROUP = "torch.distributed.new_group"
_REDUCTIONS = frozenset(enum + name for enum in _ENUMS for name in OPERATIONS)
# None is the default everywhere; 0 was the world's number before torch 1.0, and is nothing today.
_NUMBERS = (None, 0)
ADD_PROCESS_SET = frozenset(("horovod.torch.add_process_set", "hvdkit.torch.add_process_set"))


@dataclass(frozen=True)
class Collective:
    """One call. problem: why it cannot be rewritten, "" when it can.

    group: None for all ranks, else the expression of a process set. waits: the `.wait()` and
    `.is_completed()` calls on its handle when it is asynchronous, None when it is not.
    """

    names: Names
    node: ast.Call
    function: str
    given: Mapping[str, ast.expr]
    group: ast.expr | None
    waits: tuple[ast.Call, ...] | None
    problem: str

    @property
    def statement(self) -> ast.stmt:
        """The statement that holds the call."""
        return self.names.statement(self.node)

    @property
    def in_tuple(self) -> bool:
        """Whether commas make one statement of several calls: `all_reduce(a), all_reduce(b)`."""
        return isinstance(self.names.parents[self.node], ast.Tuple)

    @property
    def whole(self) -> ast.expr | ast.stmt:
        """What a call without a handle stands for: itself, with its own `.wait()`, or with `handle =`."""
        if isinstance(self.statement, ast.Expr):
            return self.node if self.in_tuple else self.statement.value
        return self.node if isinstance(self.statement, ast.Return) else self.statement


def collectives(facts: Facts, *functions: str) -> Iterator[Collective]:
    """The calls of some of torch.distributed's collectives."""
    for site in facts.calls(*(f"torch.distributed.{name}" for name in functions)):
        yield _collective(facts, site)


def _collective(facts: Facts, site: Site) -> Collective:
    function = site.name.rpartition(".")[2]
    call, names = site.node, site.names
    given = dict(zip(SIGNATURES[function], call.args))
    given.update({item.arg: item.value for item in call.keywords if item.arg})
    given = {name: value for name, value in given.items() if not is_constant(value, None)}
    group = given.pop("group", None)
    asynchronous = given.pop("async_op", None)
    problem = ""
    if unpacks(call):
        problem = "its arguments are passed by * or **"
    elif unknown := set(given) - set(SIGNATURES[function]) | ({"group_src", "group_dst"} & set(given)):
        problem = f"Horovod has no equivalent of its {', '.join(sorted(unknown))}"
    elif group is not None and not _known_group(facts, names, group):
        problem = "it works on a group of ranks that is not known to be a process set"
    waits: tuple[ast.Call, ...] | None = None
    if asynchronous is not None and not is_constant(asynchronous, False):
        found = handle_waits(names, call) if is_constant(asynchronous, True) else None
        if found is None:
            problem = (
                problem or "it is asynchronous, and not every use of its handle is a wait() that was found"
            )
        waits = tuple(found or ())
    elif not problem and not (_statement(names, call) or _returned_to_nobody(facts, names, call)):
        problem = "its result is used, although torch returns None"
    world = group is None or is_world(facts, names, group)
    return Collective(names, call, function, given, None if world else group, waits, problem)


def reduction(facts: Facts, names: Names, node: ast.expr | None) -> str | None:
    """Horovod's name for a ReduceOp that is written out; torch's default is the sum. None when unknown."""
    if node is None:
        return "Sum"
    for name in sorted(facts.flow.qualified(names, node)) if isinstance(node, ast.Attribute) else ():
        if name.startswith(_ENUMS):
            return OPERATIONS.get(name.rpartition(".")[2])
    return None


def passes_reduction(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression, a variable say, can only be ReduceOps that Horovod has."""
    values = facts.flow.values(names, node)
    return bool(values) and all(value.kind == "name" and value.name in _REDUCTIONS for value in values)


def reduction_constants(facts: Facts) -> Iterator[tuple[Names, ast.Attribute, str]]:
    """Every `ReduceOp.X` in the project that Horovod has, with its name there."""
    for names in facts.files:
        for torch_name, horovod_name in OPERATIONS.items():
            for attribute in names.attributes.get(torch_name, ()):
                if facts.flow.qualified(names, attribute) & _REDUCTIONS:
                    yield names, attribute, horovod_name


def _known_group(facts: Facts, names: Names, group: ast.expr) -> bool:
    if is_world(facts, names, group):
        return True
    values = facts.flow.values(names, group) if is_complete(facts, names, group) else frozenset()
    return bool(values) and all(value.kind == "made" and value.name in ADD_PROCESS_SET for value in values)


def is_world(facts: Facts, names: Names, group: ast.expr) -> bool:
    """Whether a group is None or the world, whichever way it is spelled.

    A parameter that is the world where none is given, `if group is None: group = everybody()`, is it also
    where nobody is seen to give one.
    """
    return may_only_be(facts, names, group, partial(_is_all, facts))


def _is_all(facts: Facts, value: Value) -> bool:
    if value.kind == "literal":
        return any(is_constant(value.node, number) for number in _NUMBERS)
    if value.name == NEW_GROUP and isinstance(value.node, ast.Call):
        return of_all_ranks(facts, value.names, value.node)
    return value.name in _WORLD


def of_all_ranks(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a new_group call names no ranks, or all of them: `new_group(list(range(size)))`."""
    given = call.args[0] if call.args else keyword(call, "ranks")
    if given is None or is_constant(given, None):
        return True
    if isinstance(given, ast.Call) and getattr(given.func, "id", "") in ("list", "tuple") and given.args:
        given = given.args[0]
    if isinstance(given, (ast.ListComp, ast.GeneratorExp)):
        (one, *others), number = given.generators, given.elt
        same = (
            isinstance(number, ast.Name) and isinstance(one.target, ast.Name) and number.id == one.target.id
        )
        given = one.iter if same and not others and not one.ifs else given
    if not isinstance(given, ast.Call) or getattr(given.func, "id", "") != "range" or len(given.args) != 1:
        return False
    return launch_of(facts).meaning(names, given.args[0]) == {"size"}


def _statement(names: Names, call: ast.Call) -> bool:
    """Whether nobody uses a call's result: alone, or as one of several between commas."""
    parent = names.parents[call]
    return isinstance(names.parents[parent] if isinstance(parent, ast.Tuple) else parent, ast.Expr)


def _returned_to_nobody(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a function only returns the None that it is given, and each of its calls is a statement."""
    function = names.function(call)
    if not isinstance(names.parents[call], ast.Return) or not isinstance(function, ast.FunctionDef):
        return False
    sites = facts.flow.call_sites(names, function)
    ways = call_graph(facts).ways(names, function)
    known = bool(sites) and all(isinstance(place, ast.Call) for _, place in ways)
    return known and all(isinstance(where.parents[site], ast.Expr) for where, site in sites)
