"""What expressions hold where gradients are averaged by hand: parameters, gradients, or a list of them.

Gradients that are laid end to end are cut again by torch's function for it, or at an offset that is moved
behind each of them.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.laid_end_to_end import FLATTEN, IN_FLOAT32, UNFLATTEN, copies
from hvdkit.migrate.facts.models.wraps import STAND_STILL
from hvdkit.migrate.index.names import Names

PARAMETERS, NAMED, PARAMETER = "parameters", "parameters with names", "a parameter"
GRADIENT, GRADIENTS, FLAT, PARTS, PART = "a gradient", "gradients", "flat", "parts", "a part"
BUCKETS, KEY = "parameters by type", "a type"
ROW, ROWS, CUT, COUNT = "a gradient as a row", "gradients as rows", "a cut", "how many numbers"
BEFORE, WITHIN, BEHIND = "an offset before", "an offset within", "an offset behind"
EACH = "each"
COLLECTIONS = (PARAMETERS, GRADIENTS, ROWS, BUCKETS)
ELEMENTS = {GRADIENT: GRADIENTS, PARAMETER: PARAMETERS, ROW: ROWS}
_SAME_LIST = ("list", "tuple")
SKIPS = (
    "a parameter without a gradient was skipped; Horovod gives it a gradient of zeros, so momentum and "
    "weight decay keep moving it. Where that matters, " + STAND_STILL.format("took no part in it")
)
WIDENS = "gradients in float16 were summed in float32; Horovod sums them in float16, as DDP does"
NEVER = (
    "the test around it was never true, since a parameter is a torch.nn.Parameter: nothing was averaged, and "
    "now it is"
)


class NotAveraged(Exception):
    """What keeps the gradients from being averages, or from being known to be; names, node: where."""

    def __init__(self, names: Names, node: ast.AST, why: str) -> None:
        super().__init__(why)
        self.names = names
        self.node = node


class Things:
    """The variables of such statements, and the model whose parameters they are about."""

    def __init__(self, facts: Facts, names: Names) -> None:
        self._facts = facts
        self._names = names
        self._things: dict[str, str] = {}  # variables, and what they hold
        self._loops: list[str] = []  # what the loops around go over
        self._root: ast.expr | None = None
        self._given = False
        self._notes: list[str] = []  # in what Horovod's average differs
        self._flat_in: list[str] = []  # the loops around the place where they were laid end to end
        self._flat_of = ""
        self._flat_at: ast.Call | None = None
        self._way: list[str] = []  # the loops and the choices of parameters around
        self._zeroed: dict[str, list[str]] = {}  # offsets, and the loops around the place where they begin
        self._laid: tuple[ast.AST, list[str]] | None = None  # where rows went into a list, and on which way
        self._done = {GRADIENT: (0, 0), FLAT: (0, 0)}  # how often summed, and divided

    def _unknown(self, node: ast.AST) -> NotAveraged:
        return NotAveraged(
            self._names, node, "an operation is applied that is not known to preserve averages"
        )

    def _chooses(self, test: ast.expr) -> bool:
        """Whether a test leaves out parameters that get no gradient."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return all(self._chooses(value) for value in test.values)
        return self._asks(test, ast.IsNot) or self._is_trained(test)

    def _asks(self, test: ast.expr, operator: type[ast.cmpop]) -> bool:
        """`p.grad is None`, or `is not`."""
        found = (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], operator)
            and isinstance(test.comparators[0], ast.Constant)
            and test.comparators[0].value is None
            and self._thing(test.left) == GRADIENT
        )
        if found and SKIPS not in self._notes:
            self._notes.append(SKIPS)
        return found

    def _is_trained(self, test: ast.expr) -> bool:
        is_flag = isinstance(test, ast.Attribute) and test.attr == "requires_grad"
        return is_flag and self._thing(test.value) == PARAMETER  # type: ignore[attr-defined]

    def _bind(self, target: ast.expr, thing: str | None, iterated: ast.expr) -> str:
        """What a loop's variables hold; given back is what the loop goes over: types, or each of them."""
        single = {PARAMETERS: PARAMETER, GRADIENTS: GRADIENT, BUCKETS: KEY}.get(thing or "")
        if isinstance(target, ast.Name) and single:
            self._things[target.id] = single
            return KEY if single == KEY else EACH
        pair = [item.id for item in getattr(target, "elts", ()) if isinstance(item, ast.Name)]
        if len(pair) == 2 and thing == NAMED:
            self._things[pair[1]] = PARAMETER
        elif len(pair) == 2 and thing == "pairs":
            self._things[pair[0]], self._things[pair[1]] = GRADIENT, PART
        else:
            raise self._unknown(iterated)
        return EACH

    def _iterated(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip" and len(node.args) == 2:
            pair = [self._thing(argument) for argument in node.args]
            return "pairs" if pair == [GRADIENTS, PARTS] and self._is_flat(node.args[0]) else None
        thing = self._thing(node)
        if thing is None and isinstance(node, ast.Name) and self._is_given(node):
            if self._given:
                raise NotAveraged(self._names, node, "parameters() can be iterated only once")
            self._rooted(node, True)
            return PARAMETERS
        return thing

    def _is_given(self, node: ast.Name) -> bool:
        """Whether a variable is a parameter of the function, never assigned to."""
        bindings = self._names.bindings(node.id, node)
        return [b.kind for b in bindings] == ["param"]

    def _rooted(self, root: ast.expr, given: bool) -> None:
        if self._root is not None and ast.dump(self._root) != ast.dump(root):
            raise NotAveraged(self._names, root, "the parameters of several models are averaged together")
        self._root, self._given = root, given

    def _thing(self, node: ast.expr | None) -> str | None:
        if isinstance(node, ast.Name):
            return self._things.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._thing(node.value)
            if node.attr == "grad" and base == PARAMETER:
                return GRADIENT
            return base if node.attr == "data" and base in self._done else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._cut(node.value, node.slice)
        if isinstance(node, ast.Subscript):
            key = self._things.get(getattr(node.slice, "id", ""))
            return PARAMETERS if key == KEY and self._thing(node.value) == BUCKETS else None
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._comprehension(node)
        return self._made(node) if isinstance(node, ast.Call) else None

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> str | None:
        each = node.generators[0]
        over = self._iterated(each.iter) if len(node.generators) == 1 else None
        if over is None:
            return None
        outer = dict(self._things)
        self._bind(each.target, over, each.iter)
        chosen = all(self._chooses(test) for test in each.ifs)
        inside = ELEMENTS.get(self._thing(node.elt) or "")
        self._things = outer
        if not chosen and inside:
            raise NotAveraged(self._names, node, "only some of the parameters are used")
        if inside == ROWS:
            self._lay(node, [*self._way, *map(ast.unparse, (each.iter, *each.ifs))])
        return inside

    def _made(self, call: ast.Call) -> str | None:
        called, arguments = call.func, [self._thing(argument) for argument in call.args]
        if isinstance(called, ast.Attribute) and called.attr in ("parameters", "named_parameters"):
            if not call.args and not call.keywords:
                if KEY in self._loops:
                    raise NotAveraged(self._names, call, "all of the parameters are used again for each type")
                self._rooted(called.value, False)
                return PARAMETERS if called.attr == "parameters" else NAMED
        if isinstance(called, ast.Attribute) and not call.keywords:
            held = self._method(self._thing(called.value), called.attr, call)
            if held is not None:
                return held
        if isinstance(called, ast.Name) and called.id in _SAME_LIST and len(arguments) == 1:
            return arguments[0]
        rows = arguments == [ROWS] and not call.keywords and "torch.cat" in self._names.qualified(called)
        if rows or (arguments == [GRADIENTS] and not self._laid and self._flattens(called)):
            if self._flat_at not in (None, call):
                raise NotAveraged(self._names, call, "they are concatenated more than once")
            self._done[FLAT] = self._done[GRADIENT]
            self._flat_in, self._flat_of = list(self._loops), ast.dump(call.args[0])
            self._flat_at = call
            return FLAT
        if (
            arguments == [FLAT, GRADIENTS]
            and self._is_flat(call.args[1])
            and copies(self._facts, self._names, called, UNFLATTEN)
        ):
            return PARTS
        return None

    def _method(self, held: str | None, method: str, call: ast.Call) -> str | None:
        """What a method of a parameter, of a gradient or of a cut gives."""
        if held == GRADIENT and method == "detach" and not call.args:
            return GRADIENT
        if held == GRADIENT and ast.unparse(call).endswith((".view(-1)", ".reshape(-1)", ".flatten()")):
            return ROW
        if held in (GRADIENT, PARAMETER) and method == "numel" and not call.args:
            return COUNT
        shaped = [self._thing(argument) for argument in call.args]
        return PART if held == CUT and method == "view_as" and shaped in ([GRADIENT], [PARAMETER]) else None

    def _flattens(self, called: ast.expr) -> bool:
        widens = copies(self._facts, self._names, called, IN_FLOAT32)
        if widens and WIDENS not in self._notes:
            self._notes.append(WIDENS)
        return widens or copies(self._facts, self._names, called, FLATTEN)

    def _lay(self, node: ast.AST, way: list[str]) -> None:
        at = self._laid[0] if self._laid else None
        if at is not node and (at or self._flat_at):
            raise NotAveraged(self._names, node, "they are concatenated more than once")
        self._laid = node, way

    def _cut(self, cut: ast.expr, between: ast.Slice) -> str | None:
        """`flat[offset : offset + p.numel()]`, on the same way through the parameters as they were laid."""
        begins, ends = between.lower, between.upper
        if between.step or not (isinstance(ends, ast.BinOp) and isinstance(ends.op, ast.Add)):
            return None
        offset = begins.id if isinstance(begins, ast.Name) else ""
        if self._things.get(offset) != BEFORE or getattr(ends.left, "id", "") != offset or not self._laid:
            return None
        same = self._loops == [*self._flat_in, EACH] == [*self._zeroed[offset], EACH]
        fits = [self._thing(cut), self._thing(ends.right)] == [FLAT, COUNT]
        return CUT if fits and same and self._way == self._laid[1] else None

    def _is_flat(self, node: ast.expr) -> bool:
        """Whether a list of gradients is the one that was laid end to end."""
        return ast.dump(node) == self._flat_of
