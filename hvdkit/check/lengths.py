"""How long the shares are that ranks run over: not alike, unless the whole divides by the number of ranks."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.dependence import Dependence, from_callers
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import given, keyword
from hvdkit.migrate.values.binding_order import held_at
from hvdkit.source.index.names import Names

# What gives its argument's elements, each once.
HANDS_ON = frozenset(("enumerate", "iter", "list", "reversed", "sorted", "tqdm", "tuple"))
SPLITS = frozenset(("numpy.array_split", "torch.chunk", "torch.tensor_split"))
SUBSET = "torch.utils.data.Subset"
TENSORS = "torch.utils.data.TensorDataset"
# What makes as many rows as its first argument says.
ROWS = frozenset(
    f"{module}.{name}"
    for module, names in (
        ("torch", ("rand", "randn", "zeros", "ones", "arange")),
        ("numpy", ("zeros", "ones", "arange")),
        ("numpy.random", ("rand", "randn")),
    )
    for name in names
)
MAX_STEPS = 12


@dataclass(frozen=True)
class Share:
    """What a rank has of a whole of so many elements, None if unknown, drawn in batches of so many.

    last: whether a last batch that is not full is drawn.
    """

    count: int | None
    batch: int = 1
    last: bool = True

    @property
    def uneven(self) -> bool:
        """Whether two ranks draw different numbers of batches; of an unknown whole, one by one, they may."""
        if self.count is None:
            return self.batch == 1
        shares = (self.count + 1) // 2, self.count // 2
        full = 0 if not self.last else self.batch - 1
        return (shares[0] + full) // self.batch != (shares[1] + full) // self.batch


class _BySize(Dependence):
    """What is trimmed or padded to the number of ranks: something of it is calculated from that number."""

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if isinstance(part, (ast.Name, ast.Attribute, ast.Call)):
            return True if "size" in rank_kinds(self.facts).of(names, part) else None
        return None


@once
def _by_size(facts: Facts) -> _BySize:
    """One search for all questions: what it knows is not looked for again."""
    return _BySize(facts)


def share_of(facts: Facts, names: Names, node: ast.expr, steps: int = 0) -> Share | None:
    """The share of this rank that an expression certainly is; None for all else, and for equal shares."""
    if steps > MAX_STEPS:
        return None
    if isinstance(node, ast.Name):
        found = {share_of(facts, where, value, steps + 1) for where, value in _held(facts, names, node)}
        return found.pop() if len(found) == 1 else None
    if isinstance(node, ast.Subscript):
        return _cut(facts, names, node)
    if isinstance(node, ast.ListComp) and len(node.generators) == 1:
        each = node.generators[0]
        if not each.ifs:
            return share_of(facts, names, each.iter, steps + 1)
        if len(each.ifs) == 1 and _takes_turns(facts, names, each.ifs[0]):
            return _whole(facts, names, each.iter)
    if isinstance(node, ast.Call):
        return _called(facts, names, node, steps)
    return None


def _held(facts: Facts, names: Names, node: ast.Name) -> list[tuple[Names, ast.expr]]:
    """What a variable certainly holds, for each way that it may come by it; nothing if that is not known."""
    found: list[tuple[Names, ast.expr]] = []
    for binding in held_at(names, node):
        if binding.kind == "param" and isinstance(binding.node, ast.arg):
            found += from_callers(facts, names, binding.node)
        elif binding.kind == "assign" and binding.value is not None and not binding.path:
            found.append((names, binding.value))
        else:
            return []
    return found


def _called(facts: Facts, names: Names, call: ast.Call, steps: int) -> Share | None:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name == "range" and len(call.args) == 3:
        begins, step = (rank_kinds(facts).of(names, call.args[position]) for position in (0, 2))
        if "rank" in begins and "size" in step:
            bound = call.args[1]
            counted = (
                bound.args[0]
                if isinstance(bound, ast.Call) and getattr(bound.func, "id", "") == "len"
                else None
            )
            return _whole(facts, names, counted if counted is not None else bound, number=counted is None)
    if name in HANDS_ON and call.args:
        return share_of(facts, names, call.args[0], steps + 1)
    qualified = facts.flow.qualified(names, call.func)
    if SUBSET in qualified:
        indices = given(call, 1, "indices")
        return share_of(facts, names, indices, steps + 1) if indices is not None else None
    if TENSORS in qualified and call.args:
        return share_of(facts, names, call.args[0], steps + 1)
    loader = next((each for each in every_loader(facts) if each.node is call), None)
    if loader is not None and loader.dataset is not None and loader.sampler is loader.batch_sampler is None:
        share = share_of(facts, names, loader.dataset, steps + 1)
        batch = given(call, 1, "batch_size")
        size = 1 if batch is None else getattr(batch, "value", None)
        drop = getattr(keyword(call, "drop_last"), "value", False)
        return Share(share.count, size, not drop) if share is not None and isinstance(size, int) else None
    return None


def _cut(facts: Facts, names: Names, node: ast.Subscript) -> Share | None:
    """`things[rank::size]`, `array_split(things, size)[rank]`, and blocks whose length is rounded up."""
    index = node.slice
    kinds = rank_kinds(facts)
    if isinstance(index, ast.Slice) and index.lower is not None:
        if index.step is not None:
            strides = "size" in kinds.of(names, index.step) and "rank" in kinds.of(names, index.lower)
            return _whole(facts, names, node.value) if strides and index.upper is None else None
        if kinds.inside(names, index.lower) and _rounds_up(names, index.lower):
            return _whole(facts, names, node.value)
        return None
    call = node.value
    if isinstance(call, ast.Name):
        held = held_at(names, call)
        call = held[0].value if len(held) == 1 and held[0].value is not None and not held[0].path else call
    if isinstance(call, ast.Call) and call.args and "rank" in kinds.of(names, index):
        if facts.flow.qualified(names, call.func) & SPLITS:
            return _whole(facts, names, call.args[0])
    return None


def _rounds_up(names: Names, node: ast.expr) -> bool:
    """Whether `rank * each` has an `each` that comes from math.ceil()."""
    for part in ast.walk(node):
        values = [part]
        if isinstance(part, ast.Name):
            values = [b.value for b in names.bindings(part.id, part) if b.kind == "assign" and b.value]
        if any(
            {"math.ceil", "numpy.ceil"} & set(names.qualified(c.func))
            for v in values
            for c in names.calls_in(v)
        ):
            return True
    return False


def _takes_turns(facts: Facts, names: Names, test: ast.expr) -> bool:
    """`number % size == rank`."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    ranks = any("rank" in rank_kinds(facts).of(names, side) for side in sides)
    turns = [side.right for side in sides if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod)]
    return ranks and any("size" in rank_kinds(facts).of(names, turn) for turn in turns)


def _whole(facts: Facts, names: Names, node: ast.expr, number: bool = False) -> Share | None:
    """A share of the whole that an expression is; None where it is made to divide by the number of ranks."""
    if _by_size(facts).holds(names, node):
        return None
    count = node.value if number and isinstance(node, ast.Constant) else _count(facts, names, node, 0)
    return Share(count if isinstance(count, int) else None)


def _count(facts: Facts, names: Names, node: ast.expr, steps: int) -> int | None:
    """How many elements there certainly are."""
    if steps > MAX_STEPS:
        return None
    if isinstance(node, (ast.List, ast.Tuple)):
        return None if any(isinstance(e, ast.Starred) for e in node.elts) else len(node.elts)
    if isinstance(node, ast.Name):
        held = _held(facts, names, node)
        return _count(facts, *held[0], steps + 1) if len(held) == 1 else None
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        return _count(facts, names, node.generators[0].iter, steps + 1)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name = getattr(node.func, "id", "")
    if name == "range" or facts.flow.qualified(names, node.func) & ROWS:
        one = len(node.args) == 1 or name != "range"
        value = getattr(node.args[0], "value", None) if one else None
        return value if isinstance(value, int) else None
    if facts.flow.qualified(names, node.func) & {TENSORS} or name in HANDS_ON:
        return _count(facts, names, node.args[0], steps + 1)
    return None
