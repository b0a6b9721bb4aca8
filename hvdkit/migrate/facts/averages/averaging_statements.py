"""Whether statements sum each gradient of a model over all ranks and divide it by their number, once.

The statements are followed one by one; what is not understood raises NotAveraged, with the line and the
reason. Gradients may be taken one at a time, as a list, or laid end to end and copied back.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.collectives.collectives import collectives, reduction
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.inert import is_inert
from hvdkit.migrate.facts.launch.several_processes import holds_in_jobs, is_size
from hvdkit.migrate.facts.models.gradient_expressions import (
    BEFORE,
    BEHIND,
    BUCKETS,
    COLLECTIONS,
    COUNT,
    CUT,
    EACH,
    ELEMENTS,
    FLAT,
    GRADIENT,
    KEY,
    NEVER,
    PARAMETER,
    PART,
    ROW,
    WITHIN,
    NotAveraged,
    Things,
)
from hvdkit.migrate.index.names import FUNCTIONS, Names


@dataclass(frozen=True)
class Averaged:
    """root: x of the `x.parameters()` that are averaged, or the variable that holds the parameters.

    given: whether root is that variable. notes: in what Horovod's average differs.
    """

    root: ast.expr
    given: bool
    notes: tuple[str, ...]


def averaged_by_statements(
    facts: Facts, names: Names, statements: Sequence[ast.stmt], whole: ast.AST
) -> Averaged:
    """What statements average. Raises NotAveraged. whole: the function, or the statement, that they fill."""
    walk = _Walk(facts, names, whole)
    walk.run(statements)
    return walk.result(whole)


class _Walk(Things):
    """One walk through the statements. A loop's body stands for all of its elements."""

    def __init__(self, facts: Facts, names: Names, whole: ast.AST) -> None:
        super().__init__(facts, names)
        self._whole = whole
        # A call that may do anything, told where nothing worse is seen.
        self._doubt: NotAveraged | None = None
        self._reduces = {call.node: call for call in collectives(facts, "all_reduce")}

    def result(self, at: ast.AST) -> Averaged:
        sums, divisions = self._done[GRADIENT]
        if self._root is None or not sums:
            raise NotAveraged(self._names, at, "the sums are not copied back into the gradients")
        if sums > 1:
            raise NotAveraged(self._names, at, "they are summed more than once")
        if divisions != 1:
            said = "never" if not divisions else "more than once"
            raise NotAveraged(self._names, at, f"the sum is {said} divided by the world size")
        if self._doubt is not None:
            raise self._doubt
        return Averaged(self._root, self._given, tuple(self._notes))

    def run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.For) and not node.orelse:
            self._for(node)
        elif isinstance(node, ast.With) and without_gradients(self._names, node):
            self.run(node.body)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node, node.targets[0])
        elif isinstance(node, ast.AugAssign) and (held := self._thing(node.target)) is not None:
            if held in self._done:
                self._scaled(node, held, node.op, node.value)
            else:
                self._moved(node, held)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._call(node, node.value)
        elif isinstance(node, ast.Assert):
            self._doubt = self._doubt or self._unknown(node)
        elif not self._inert(node) and not (isinstance(node, ast.Return) and self._ends(node)):
            raise self._unknown(node)

    def _ends(self, node: ast.Return) -> bool:
        """The last statement of a function; nobody gets the value, since its calls are statements."""
        plain = node.value is None or isinstance(node.value, ast.Constant)
        return plain and node is getattr(self._whole, "body", [None])[-1]

    def _inert(self, node: ast.stmt) -> bool:
        return is_inert(self._facts, self._names, node, self._whole)

    # --- tests and loops -----------------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        only = node.body[0] if len(node.body) == 1 else None
        leaves = isinstance(only, ast.Continue) or (isinstance(only, ast.Return) and only.value is None)
        if leaves and not node.orelse:
            if isinstance(only, ast.Continue) and self._passes_by(node.test):
                self._way.append(f"not {self._text(node.test)}")
                return
            inside = isinstance(self._whole, FUNCTIONS)
            if (
                isinstance(only, ast.Return)
                and inside
                and holds_in_jobs(self._facts, self._names, node.test, False)
            ):
                return
            raise NotAveraged(
                self._names, node, f"where `{self._text(node.test)}` holds they are not averaged"
            )
        if _leaves_nothing(node.orelse) and holds_in_jobs(self._facts, self._names, node.test):
            self.run(node.body)
        elif node.orelse:
            if not self._inert(node):
                raise self._unknown(node)
        elif self._chooses(node.test):
            depth = len(self._way)
            self._way.append(ast.unparse(node.test))
            self.run(node.body)
            del self._way[depth]
        elif holds_in_jobs(self._facts, self._names, node.test):
            self.run(node.body)
        elif self._never_holds(node.test):
            self._meant(node)
        elif not self._opens_bucket(node) and not self._fills(node) and not self._inert(node):
            raise NotAveraged(
                self._names, node, f"they are averaged only where `{self._text(node.test)}` holds"
            )

    def _meant(self, node: ast.If) -> None:
        """What stands under a test that no parameter passes: with --suggested, as if it were not there."""
        if not self._facts.options.suggested:
            why = f"`{self._text(node.test)}` is never true, since a parameter is a torch.nn.Parameter. "
            raise NotAveraged(
                self._names, node, f"{why}Without the test, or with --suggested, they are averaged"
            )
        self._notes.append(NEVER)
        self.run(node.body)

    def _never_holds(self, test: ast.expr) -> bool:
        """`type(p) is torch.Tensor`, as an old tutorial has it, which leaves every parameter out."""
        text = ast.unparse(test)
        name = text.removeprefix("type(").partition(")")[0]
        plain = text in (f"type({name}) is torch.Tensor", f"type({name}) == torch.Tensor")
        return plain and self._things.get(name) == PARAMETER

    def _passes_by(self, test: ast.expr) -> bool:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            return all(self._passes_by(value) for value in test.values)
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        return self._asks(test, ast.Is) or (negated and self._is_trained(test.operand))  # type: ignore[attr-defined]

    def _for(self, node: ast.For) -> None:
        outer, way = dict(self._things), list(self._way)
        self._way.append(ast.unparse(node.iter))
        self._loops.append(self._bind(node.target, self._iterated(node.iter), node.iter))
        if len(set(self._loops)) < len(self._loops):
            raise NotAveraged(self._names, node, "one loop over all of them is nested in another")
        self.run(node.body)
        self._loops.pop()
        self._way = way
        if WITHIN in self._things.values():
            raise NotAveraged(self._names, node, "the offset does not move, and all get the same numbers")
        filled = {name: self._things.get(name) for name in outer}
        # What one round of the loop knows is over; a list that was filled holds all of it, and an offset
        # that was moved is at the end.
        kept = {name: thing for name, thing in filled.items() if thing in (*COLLECTIONS, BEHIND)}
        self._things = {**outer, **kept}

    # --- what is done --------------------------------------------------------------------------

    def _assign(self, node: ast.Assign, target: ast.expr) -> None:
        held = self._thing(target) if not isinstance(target, ast.Name) else None
        if held in self._done and isinstance(node.value, ast.BinOp):
            if self._thing(node.value.left) == held:
                self._scaled(node, held, node.value.op, node.value.right)
                return
        if isinstance(node.value, ast.Call) and node.value in self._reduces:
            self._reduced(node.value)
        made = self._thing(node.value)
        if isinstance(target, ast.Name):
            self._things.pop(target.id, None)
        if held is None and isinstance(target, ast.Name) and made is not None:
            self._things[target.id] = made
            if made in (CUT, PART):
                self._taken(node.value)
        elif isinstance(target, ast.Name) and _is_empty(node.value):
            self._things[target.id] = "empty list" if isinstance(node.value, ast.List) else "empty dict"
        elif isinstance(target, ast.Name) and _number(node.value) == 0 and self._inert(node):
            self._things[target.id] = BEFORE
            self._zeroed[target.id] = list(self._loops)
        elif held is not None or not self._inert(node):
            raise self._unknown(node)

    def _scaled(self, node: ast.AST, thing: str | None, operator: ast.operator, by: ast.expr) -> None:
        inverse = isinstance(by, ast.BinOp) and isinstance(by.op, ast.Div) and _number(by.left) == 1
        divides = isinstance(operator, ast.Div) and is_size(self._facts, self._names, by)
        if isinstance(operator, ast.Mult) and inverse:
            divides = is_size(self._facts, self._names, by.right)  # type: ignore[attr-defined]
        if thing is None or not divides:
            raise NotAveraged(self._names, node, "they are changed by something other than the world size")
        self._once(node, thing)
        sums, divisions = self._done[thing]
        self._done[thing] = sums, divisions + 1

    def _once(self, node: ast.AST, thing: str) -> None:
        """What is done in a loop must be done once to each gradient, or once to what is laid end to end."""
        wanted = self._flat_in if thing == FLAT else [loop for loop in self._loops if loop == KEY] + [EACH]
        if self._loops != wanted:
            raise NotAveraged(self._names, node, "how often this is done to each gradient is not known")

    def _call(self, node: ast.stmt, call: ast.Call) -> None:
        if call in self._reduces:
            self._reduced(call)
            return
        called, method = call.func, getattr(call.func, "attr", "")
        held = self._thing(called.value) if isinstance(called, ast.Attribute) else None
        one = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if held in self._done and one is not None and method in ("div_", "mul_"):
            self._scaled(node, held, ast.Div() if method == "div_" else ast.Mult(), one)
        elif held == GRADIENT and method == "copy_" and one is not None and self._copied(one):
            pass
        elif method == "append" and one is not None and isinstance(called, ast.Attribute):
            self._appended(node, called.value, self._thing(one))
        elif held is not None or any(self._thing(argument) for argument in call.args):
            raise self._unknown(node)
        elif not self._inert(node):
            self._doubt = self._doubt or self._unknown(node)

    def _copied(self, one: ast.expr) -> bool:
        """`p.grad.copy_(part)`, or `part / size`; an offset that it was cut at must move on then."""
        size = one.right if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div) else None
        divided = size is not None and is_size(self._facts, self._names, size)
        part = one.left if divided else one  # type: ignore[attr-defined]
        if self._thing(part) != PART:
            return False
        sums, divisions = self._done[FLAT]
        self._done[GRADIENT] = sums, divisions + divided
        self._taken(part)
        return True

    def _taken(self, part: ast.expr) -> None:
        """The offset that a part was cut at has to be moved behind it now."""
        for name in ast.walk(part):
            if isinstance(name, ast.Name) and self._thing(name) == BEFORE:
                self._things[name.id] = WITHIN

    def _moved(self, node: ast.AugAssign, held: str) -> None:
        """`offset += p.numel()`, wherever something was cut."""
        same = self._laid is not None and self._way == self._laid[1]
        adds = isinstance(node.op, ast.Add) and self._thing(node.value) == COUNT
        if not (held == WITHIN and adds and same and isinstance(node.target, ast.Name)):
            raise self._unknown(node)
        self._things[node.target.id] = BEHIND

    def _reduced(self, call: ast.Call) -> None:
        collective = self._reduces[call]
        if collective.problem or collective.group is not None:
            why = collective.problem or "it works on a group of ranks"
            raise NotAveraged(self._names, call, f"of their all_reduce, {why}")
        if collective.waits is not None:
            raise NotAveraged(self._names, call, "their all_reduce is asynchronous")
        operation = reduction(self._facts, self._names, collective.given.get("op"))
        thing = self._thing(collective.given.get("tensor"))
        if operation not in ("Sum", "Average"):
            raise NotAveraged(self._names, call, "their all_reduce is not known to sum")
        if thing not in self._done:
            raise NotAveraged(
                self._names, call, "it is not seen that all_reduce gets each gradient of a model as it is"
            )
        self._once(call, thing)
        sums, divisions = self._done[thing]
        self._done[thing] = sums + 1, divisions + (operation == "Average")

    def _appended(self, node: ast.stmt, collection: ast.expr, thing: str | None) -> None:
        """`grads.append(p.grad)`, and `buckets[type].append(p)` in a loop over all parameters."""
        name = collection.value if isinstance(collection, ast.Subscript) else collection
        held = self._things.get(name.id) if isinstance(name, ast.Name) else None
        if isinstance(collection, ast.Name) and held == "empty list" and thing in ELEMENTS:
            self._things[collection.id] = ELEMENTS[thing]
            if thing == ROW:
                self._lay(node, list(self._way))
        elif isinstance(name, ast.Name) and held == "opened dict" and thing == PARAMETER:
            self._things[name.id] = BUCKETS
        else:
            raise self._unknown(node)

    def _fills(self, node: ast.If) -> bool:
        """`if p.grad is None: p.grad = torch.zeros_like(p)`, as Horovod does."""
        name = ast.unparse(node.test).removesuffix(".grad is None")
        filled = [f"{name}.grad = torch.zeros_like({name}{data})" for data in ("", ".data")]
        return self._things.get(name) == PARAMETER and "\n".join(map(ast.unparse, node.body)) in filled

    def _opens_bucket(self, node: ast.If) -> bool:
        """`if key not in buckets: buckets[key] = []`."""
        test, body = node.test, node.body[0]
        if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) and len(node.body) == 1):
            return False
        name = test.comparators[0]
        if not (isinstance(name, ast.Name) and self._things.get(name.id) == "empty dict"):
            return False
        wanted = f"{name.id}[{ast.unparse(test.left)}] = []"
        if ast.unparse(body) != wanted:
            return False
        self._things[name.id] = "opened dict"
        return True

    def _text(self, node: ast.AST) -> str:
        return self._names.source.segment(node)


def _leaves_nothing(block: list[ast.stmt]) -> bool:
    """Whether a block is `return` or `return None`, and no more."""
    only = block[0] if len(block) == 1 else None
    return isinstance(only, ast.Return) and (only.value is None or getattr(only.value, "value", 0) is None)


def _is_empty(node: ast.expr) -> bool:
    return (isinstance(node, ast.List) and not node.elts) or (isinstance(node, ast.Dict) and not node.keys)


def _number(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def without_gradients(names: Names, node: ast.AST) -> bool:
    """Whether a statement is `with torch.no_grad():`."""
    items = node.items if isinstance(node, ast.With) else []
    called = [getattr(item.context_expr, "func", None) for item in items]
    return bool(called) and all(func and "torch.no_grad" in names.qualified(func) for func in called)
