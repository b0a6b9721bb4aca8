"""Functions that make a model average its gradients by hooks, as DDP does: NVIDIA's apply_gradient_allreduce.

A hook of each parameter asks autograd to call a function when the backward pass is over; that function
averages the gradients, once after each forward pass. The model's state may be broadcast, too.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.averages.averaging_statements import Averaged, averaged_by_statements
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.inert import is_inert, read_nowhere_else
from hvdkit.migrate.facts.models.gradient_expressions import NotAveraged
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.arguments import is_constant

_QUEUE = "_execution_engine.queue_callback"
_ENGINES = ("torch.autograd.Variable.", "torch.autograd.variable.Variable.")
_STATES = ("state_dict", "parameters", "named_parameters", "buffers", "values")


def averaged_by_hooks(facts: Facts, names: Names, function: ast.FunctionDef) -> Averaged:
    """What a function makes a model average. Raises NotAveraged unless it is its only parameter's, whole."""
    given = function.args
    if [len(given.args), given.vararg, given.kwarg, len(given.kwonlyargs)] != [1, None, None, 0]:
        raise NotAveraged(names, function, "the function around the hooks takes more than a model")
    return _Hooks(facts, names, function, given.args[0].arg).result()


class _Hooks:
    """One look at the statements of such a function."""

    def __init__(self, facts: Facts, names: Names, function: ast.FunctionDef, model: str) -> None:
        self._facts = facts
        self._names = names
        self._function = function
        self._model = model
        self._inside = {part.name: part for part in function.body if isinstance(part, ast.FunctionDef)}
        self._queued: ast.FunctionDef | None = None
        self._flag = ""

    def result(self) -> Averaged:
        *_, last = self._function.body
        for statement in self._function.body:
            if not self._known(statement) or (isinstance(statement, ast.Return) and statement is not last):
                raise NotAveraged(
                    self._names, statement, "the function around the hooks does something else here"
                )
        if self._queued is None or not self._flag:
            raise NotAveraged(
                self._names, self._function, "no hooks were found that run it after each backward pass"
            )
        if not isinstance(last, ast.Return):
            raise NotAveraged(
                self._names, self._function, "the function around the hooks does not return the model"
            )
        body = self._once_a_pass(self._queued)
        found = averaged_by_statements(self._facts, self._names, body, self._function)
        if not self._is_model(found.root):
            raise NotAveraged(
                self._names, found.root, "the parameters are not those of the model that gets the hooks"
            )
        return found

    def _is_model(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and node.id == self._model

    def _known(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.FunctionDef):
            return not node.decorator_list
        if isinstance(node, ast.Return):
            return self._is_model(node.value)
        if isinstance(node, ast.For):
            return self._broadcasts(node) or self._registers(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute) and called.attr == "register_forward_hook":
                return self._is_model(called.value) and self._sets_flag(node.value)
        return is_inert(self._facts, self._names, node, self._function)

    def _broadcasts(self, node: ast.For) -> bool:
        """`for p in module.state_dict().values(): dist.broadcast(p, 0)`, non-tensors passed by."""
        iterated: ast.AST = node.iter
        while isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute):
            if iterated.func.attr not in _STATES or iterated.args:
                return False
            iterated = iterated.func.value
        *above, last = node.body
        call = last.value if isinstance(last, ast.Expr) else None
        sent = self._facts.flow.qualified(self._names, call.func) if isinstance(call, ast.Call) else None
        skips = all(
            isinstance(s, ast.If)
            and len(s.body) == 1
            and isinstance(s.body[0], ast.Continue)
            and ast.unparse(s.test) == f"not torch.is_tensor({ast.unparse(node.target)})"
            for s in above
        )
        return self._is_model(iterated) and sent == frozenset(("torch.distributed.broadcast",)) and skips

    def _registers(self, node: ast.For) -> bool:
        """`for p in module.parameters(): if p.requires_grad: p.register_hook(hook)`, the hook made inside."""
        every = f"{self._model}.parameters()"
        if ast.unparse(node.iter) not in (every, f"list({every})") or not isinstance(node.target, ast.Name):
            return False
        hooks = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
        param = node.target.id
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                continue
            if not isinstance(part, ast.If) or ast.unparse(part.test) != f"{param}.requires_grad":
                return False
            for inner in part.body:
                hook = next((h for h in hooks if ast.unparse(inner) == f"{param}.register_hook({h})"), None)
                if hook is not None and self._queues(hooks[hook]):
                    continue
                if not is_inert(self._facts, self._names, inner, self._function):
                    return False
        return self._queued is not None

    def _queues(self, hook: ast.FunctionDef) -> bool:
        """Whether a hook does nothing but ask autograd to call a function of those inside afterwards."""
        only = hook.body[0] if len(hook.body) == 1 else None
        call = only.value if isinstance(only, ast.Expr) else None
        if not isinstance(call, ast.Call) or len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
            return False
        self._queued = self._inside.get(call.args[0].id)
        queues = {f"{engine}{_QUEUE}" for engine in _ENGINES} & set(self._names.qualified(call.func))
        return bool(queues) and self._queued is not None

    def _sets_flag(self, call: ast.Call) -> bool:
        """Whether the forward pass sets an attribute of the model, and nothing else."""
        hook = self._inside.get(ast.unparse(call.args[0])) if len(call.args) == 1 else None
        only = hook.body[0] if hook is not None and len(hook.body) == 1 else None
        target = only.targets[0] if isinstance(only, ast.Assign) and len(only.targets) == 1 else None
        if hook is None or not isinstance(target, ast.Attribute) or not is_constant(only.value, True):  # type: ignore[union-attr]
            return False
        self._flag = target.attr
        first = hook.args.args[0].arg if hook.args.args else ""
        owns = read_nowhere_else(self._facts, self._names, target, self._function)
        return owns and ast.unparse(target.value) == first

    def _once_a_pass(self, queued: ast.FunctionDef) -> list[ast.stmt]:
        """What stands under `if module.flag: module.flag = False`, which the forward pass sets again."""
        only = queued.body[0] if len(queued.body) == 1 else None
        flag = f"{self._model}.{self._flag}"
        if not isinstance(only, ast.If) or only.orelse or ast.unparse(only.test) != flag:
            raise NotAveraged(
                self._names, queued, "it is not seen that the hooks average once after each backward pass"
            )
        if ast.unparse(only.body[0]) != f"{flag} = False":
            raise NotAveraged(
                self._names, only, "it is not seen that the hooks average once after each backward pass"
            )
        return only.body[1:]
