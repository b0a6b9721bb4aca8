"""What the arguments of Horovod's DistributedOptimizer become with DDP: a hook, a stop, or nothing."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.horovod_wraps import Wrapped
from hvdkit.migrate.values.arguments import given, is_on, unpacks
from hvdkit.source.index.names import Names

ORDER = ("optimizer", "named_parameters", "compression", "backward_passes_per_step", "op")
NO_ADASUM = "Adasum is a reduction of Horovod, and DDP averages"
ELSEWHERE = {"sparse_as_dense": "sparse gradients", "process_set": "a process set"}
SUM = "sum_gradients"


class NotWrapped(Exception):
    """Why a DistributedOptimizer cannot be replaced by DDP. at: where, if not at itself."""

    def __init__(self, reason: str, at: tuple[Names, ast.AST] | None = None) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(frozen=True)
class Arguments:
    """stops: lines that stop the script where an option asks for what DDP does not have.

    hook: the hook, as it is written. test: under which it is registered. helper: a function that it needs.
    """

    stops: tuple[str, ...] = ()
    hook: str = ""
    test: str = ""
    helper: str = ""

    @property
    def half(self) -> str:
        """Whether gradients are sent as float16: a test, or "" for never."""
        if not self.hook:
            return ""
        named = self.test == self.hook  # a variable, which is a hook or none
        return f"bool({self.test})" if named else self.test or "True"

    def hooks(self, model: str) -> list[str]:
        """The lines that register the hook with a wrapped model."""
        if not self.hook:
            return []
        line = f"{model}.register_comm_hook(None, {self.hook})"
        return [f"if {self.test}:", f"    {line}"] if self.test else [line]


def arguments_of(facts: Facts, wrap: Wrapped) -> Arguments:
    """What DDP needs in the place of the arguments. Raises NotWrapped.

    gradient_predivide_factor, num_groups and groups change nothing about an average, and DDP sums the passes
    of backward_passes_per_step as Horovod does.
    """
    call = wrap.node
    if unpacks(call):
        raise NotWrapped("its arguments are not written out")
    for name, what in ELSEWHERE.items():
        if is_on(given(call, -1, name)):
            raise NotWrapped(f"it has {what}, and DDP has none")
    hook, test = _compression(facts, wrap.names, given(call, ORDER.index("compression"), "compression"))
    op = given(call, ORDER.index("op"), "op")
    stops, sums = _reduction(facts, wrap.names, op)
    if sums and hook:
        raise NotWrapped("it compresses gradients that are summed, and one hook of DDP does one of both")
    return Arguments(stops, SUM if sums else hook, "" if sums else test, SUM if sums else "")


def _compression(facts: Facts, names: Names, node: ast.expr | None) -> tuple[str, str]:
    """The hook for a compression, and the test under which it is registered."""
    if node is None:
        return "", ""
    kinds = {name.rpartition(".")[2] for name in all_names(facts, names, node)}
    if not kinds or not kinds <= {"fp16", "none"}:
        raise NotWrapped("its compression is not Horovod's fp16, or could not be followed", (names, node))
    if kinds == {"none"}:
        return "", ""
    text = names.source.segment(node)
    if kinds == {"fp16"}:
        return text, ""
    if isinstance(node, ast.IfExp):
        taken = all_names(facts, names, node.body)
        if all(name.endswith(".fp16") for name in taken):
            return names.source.segment(node.body), names.source.segment(node.test)
        return names.source.segment(node.orelse), f"not ({names.source.segment(node.test)})"
    return text, text


def _reduction(facts: Facts, names: Names, op: ast.expr | None) -> tuple[tuple[str, ...], bool]:
    """The lines that stop the script where it asks for Adasum, and whether it sums."""
    if op is None:
        return (), False
    kinds = _kinds(facts, names, op)
    if kinds == {"Average"}:
        return (), False
    if kinds == {"Sum"}:
        return (), True
    if isinstance(op, ast.IfExp):
        chosen, other = _kinds(facts, names, op.body), _kinds(facts, names, op.orelse)
        test = names.source.segment(op.test)
        if (chosen, other) == ({"Adasum"}, {"Average"}):
            return (f"if {test}:", f'    raise SystemExit("{NO_ADASUM}")'), False
        if (chosen, other) == ({"Average"}, {"Adasum"}):
            return (f"if not ({test}):", f'    raise SystemExit("{NO_ADASUM}")'), False
    if kinds == {"Adasum"}:
        raise NotWrapped(f"{NO_ADASUM}: write op=hvd.Average, with the learning rate for it", (names, op))
    raise NotWrapped("its reduction could not be followed", (names, op))


def _kinds(facts: Facts, names: Names, node: ast.expr) -> set[str]:
    return {name.rpartition(".")[2] for name in all_names(facts, names, node)}


def all_names(facts: Facts, names: Names, node: ast.expr) -> set[str]:
    """The qualified names that an expression may be, "" for what is none."""
    direct = facts.flow.qualified(names, node)
    if direct:
        return {*direct}
    return {value.name if value.kind == "name" else "" for value in facts.flow.values(names, node)}
