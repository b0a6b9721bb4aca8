"""Which rank a number is: the global one, the one within a node, a size, a constant, or something else.

Followed through variables, attributes, arguments, returned values and the usual arithmetic, before and after
migration alike. Where the numbers are first read is ranks.py's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.ranks import launch_tests, rank_reads
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import default, passed, received, spawned
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.vocabulary import EVERY_HOROVOD, INIT, LIBRARY_STARTS, OWN_GROUP, STARTED
from hvdkit.source.index.names import FUNCTIONS, Binding, Names

UNKNOWN, CONSTANT = "unknown", "constant"
_UNKNOWN = frozenset([UNKNOWN])
QUESTIONS = ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
_HVD = {f"{module}.{name}": name for module in EVERY_HOROVOD for name in QUESTIONS}
MAX_STEPS = 4
_PLAIN = ("int", "str", "float", "abs", "max", "min")


class RankKinds:
    """What numbers of a project are, remembered."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._memo: Memo[str] = Memo()

    @cached_property
    def _reads(self) -> dict[ast.AST, str]:
        return {read.node: read.function for read in rank_reads(self._facts)}

    @cached_property
    def launch_tests(self) -> frozenset[ast.AST]:
        """Tests that a launcher started several processes."""
        return frozenset(
            test.node for names in self._facts.files for test in launch_tests(names) if not test.negated
        )

    def of(self, names: Names, node: ast.AST) -> frozenset[str]:
        """Everything that an expression may be; a variable that is computed from itself adds nothing."""
        return self._memo.ask(node, self._kinds, names, node)

    def _or_unknown(self, found: Iterable[str]) -> frozenset[str]:
        return self._memo.otherwise(frozenset(found), lambda: _UNKNOWN)

    def inside(self, names: Names, node: ast.AST, kind: str = "rank") -> bool:
        """Whether an expression is made from a rank: in an f-string, a joined path, a sum, a device."""
        waiting, seen = [(node, 0)], {node}
        while waiting:
            whole, steps = waiting.pop()
            for part in names.walk(whole):
                if not isinstance(part, (ast.Name, ast.Attribute, ast.Call)):
                    continue
                if kind in self.of(names, part):
                    return True
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and steps < MAX_STEPS:
                    for binding in names.bindings(part.id, part):
                        value = binding.value if binding.kind == "assign" else None
                        if value is not None and value not in seen:
                            seen.add(value)
                            waiting.append((value, steps + 1))
        return False

    def _kinds(self, names: Names, node: ast.AST) -> frozenset[str]:
        if node in self._reads:
            return frozenset([self._reads[node]])
        if isinstance(node, ast.Constant):
            return frozenset([CONSTANT])
        if isinstance(node, ast.Name):
            bindings = names.bindings(node.id, node)
            # One question for all uses of a variable: a thousand lines of `x = x + f(x)` are a knot of them.
            return self._memo.ask(id(bindings), self._union, names, bindings) if bindings else _UNKNOWN
        if isinstance(node, ast.Attribute):
            return self._attribute(names, node)
        if isinstance(node, ast.Subscript):
            return self._entry(names, node)
        if isinstance(node, ast.Call):
            return self._call(names, node)
        if isinstance(node, ast.IfExp):
            return self.of(names, node.body) | self.of(names, node.orelse)
        if isinstance(node, ast.BoolOp):
            return frozenset().union(*(self.of(names, value) for value in node.values))
        if isinstance(node, ast.UnaryOp):
            return self.of(names, node.operand)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(names, node)
        return _UNKNOWN

    def _union(self, names: Names, bindings: list[Binding]) -> frozenset[str]:
        found = frozenset().union(*(self._binding(names, binding) for binding in bindings))
        return found if bindings else _UNKNOWN

    def _binding(self, names: Names, binding: Binding) -> frozenset[str]:
        if binding.kind == "assign" and binding.value is not None:
            return self._part(names, binding.value, binding.path)
        if binding.kind == "param" and isinstance(binding.node, ast.arg):
            return self._parameter(names, binding.node)
        if binding.kind == "import":
            return self._imported(names, binding)
        if binding.kind == "each" and any(launch_of(self._facts).numbers(names, binding.node)):
            return frozenset(["local_rank"])
        return _UNKNOWN

    def _part(self, names: Names, value: ast.expr, path: tuple[int, ...]) -> frozenset[str]:
        """What a part of a tuple counts: `rank, size = (get_rank(), 4) if several else (0, 1)`."""
        if not path:
            return self.of(names, value)
        if isinstance(value, ast.IfExp):
            return self._part(names, value.body, path) | self._part(names, value.orelse, path)
        if isinstance(value, (ast.Tuple, ast.List)) and path[0] < len(value.elts):
            return self._part(names, value.elts[path[0]], path[1:])
        return self._unpacked(names, value, path[0])

    def _unpacked(self, names: Names, call: ast.expr, position: int) -> frozenset[str]:
        """`rank, size = setup()`, of the project's own functions."""
        found: set[str] = set()
        if isinstance(call, ast.Call):
            for where, function in self._facts.flow.functions(names, call):
                for result in where.returns.get(function, ()):
                    if isinstance(result, ast.Tuple) and position < len(result.elts):
                        found |= self.of(where, result.elts[position])
        return self._or_unknown(found)

    def _imported(self, names: Names, binding: Binding) -> frozenset[str]:
        head, _, member = binding.qualified.rpartition(".")
        module = self._facts.project.module(head, names.source.path) if head else None
        if module is None:
            return _UNKNOWN
        return self._union(module, module.module.names.get(member, []))

    def _parameter(self, names: Names, arg: ast.arg) -> frozenset[str]:
        function = names.parents[names.parents[arg]]
        if not isinstance(function, FUNCTIONS):
            return _UNKNOWN
        found: set[str] = set()
        for where, call in self._facts.flow.call_sites(names, function):
            given = passed(names, function, where, call, arg.arg)
            if given is not None:
                found |= self.of(where, given)
            elif spawned(where, call) is not None and received(names, function)[:1] == [arg.arg]:
                found.add("local_rank")  # mp.spawn numbers the processes of one machine
        unless_given = default(function, arg)
        if unless_given is not None:
            return self._memo.otherwise(frozenset(found), lambda: self.of(names, unless_given))
        return self._or_unknown(found)

    def _attribute(self, names: Names, node: ast.Attribute) -> frozenset[str]:
        flow = self._facts.flow
        found: set[str] = set()
        for value in flow.values(names, node.value):
            if value.kind == "module":
                found |= self._union(value.names, value.names.module.names.get(node.attr, []))
        for where, binding in flow.stored(names, node):
            found |= self._binding(where, binding)
        if node.attr in STARTED and self._put_by_library(names, node):
            found.add(STARTED[node.attr])
        return self._or_unknown(found)

    def _put_by_library(self, names: Names, node: ast.Attribute) -> bool:
        """Whether a library that starts the ranks writes them into this object."""
        flow = self._facts.flow
        return any(
            flow.values(site.names, site.node.args[0]) & flow.values(names, node.value)
            for site in self._facts.calls(INIT, OWN_GROUP)
            if site.name in LIBRARY_STARTS and site.node.args
        )

    def _entry(self, names: Names, node: ast.Subscript) -> frozenset[str]:
        """`options["rank"]`: what was stored under that key; if the dict may be one nobody knows, in any."""
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
            return _UNKNOWN
        key, flow = f"[{node.slice.value!r}]", self._facts.flow
        holders = flow.values(names, node.value)
        stored = flow.stored_under(key, holders)
        if not stored and (not holders or any(value.kind == "param" for value in holders)):
            stored = [
                (where, binding) for where in self._facts.files for _, binding in where.stores.get(key, ())
            ]
        return self._or_unknown(kind for where, binding in stored for kind in self._binding(where, binding))

    def _call(self, names: Names, node: ast.Call) -> frozenset[str]:
        for name in self._facts.flow.qualified(names, node.func):
            if name in _HVD:
                return frozenset([_HVD[name]])
        if isinstance(node.func, ast.Name) and node.func.id in _PLAIN and len(node.args) == 1:
            return self.of(names, node.args[0])
        found: set[str] = set()
        for where, function in self._facts.flow.functions(names, node):
            for result in where.returns.get(function, ()):
                found |= self.of(where, result)
        return self._or_unknown(found)

    def _arithmetic(self, names: Names, node: ast.BinOp) -> frozenset[str]:
        """`node * n + local` is a rank, `rank % n` the one within a node, `rank // n` the node's."""
        left, right = self.of(names, node.left), self.of(names, node.right)
        if (isinstance(node.op, ast.Mod) or _is_rest(node)) and "rank" in left:
            return frozenset(["local_rank"])
        if isinstance(node.op, ast.FloorDiv) and "rank" in left:
            return frozenset(["cross_rank"])
        several = isinstance(node.left, ast.BinOp) or isinstance(node.right, ast.BinOp)
        if isinstance(node.op, ast.Add) and several and "local_rank" in left | right:
            return frozenset(["rank"])
        if isinstance(node.op, ast.Mult) and {"size", "local_size"} & (left | right):
            return frozenset(["size"])
        return self._or_unknown(())


def _is_rest(node: ast.BinOp) -> bool:
    """`rank - n * (rank // n)`, which is `rank % n`."""
    product = node.right if isinstance(node.op, ast.Sub) else None
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return False
    for count, hosts in ((product.left, product.right), (product.right, product.left)):
        if isinstance(hosts, ast.BinOp) and isinstance(hosts.op, ast.FloorDiv):
            if ast.dump(hosts.left) == ast.dump(node.left) and ast.dump(hosts.right) == ast.dump(count):
                return True
    return False


@once
def rank_kinds(facts: Facts) -> RankKinds:
    """Which rank, size or another number an expression is."""
    return RankKinds(facts)
