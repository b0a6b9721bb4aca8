"""Whether code looks at gradients: between a backward pass and its step that needs them reduced already."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import Names

READERS = frozenset(
    f"torch.nn.utils.{name}"
    for name in (
        "clip_grad_norm_",
        "clip_grad_norm",
        "clip_grad_value_",
        "clip_grads_with_norm_",
        "get_total_norm",
    )
) | {"timm.utils.dispatch_clip_grad", "timm.utils.adaptive_clip_grad"}
READING_METHODS = frozenset(("unscale_", "clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"))
GIVES_PARAMETERS = frozenset(("parameters", "named_parameters", "master_params"))
MAX_CALLS = 4


class GradientUse:
    """Asked for single statements; the project's own functions are looked into.

    certain: a library's function that is merely given parameters does not count.
    """

    def __init__(self, facts: Facts, certain: bool = False) -> None:
        self._facts = facts
        self._certain = certain
        self._functions: dict[ast.AST, bool] = {}

    def looked_at(self, names: Names, node: ast.AST, depth: int = 0) -> bool:
        """Whether running a node reads or writes a `.grad`, or hands parameters to somebody who may."""
        return any(self._looks(names, part, depth) for part in walk_here(node))

    def _looks(self, names: Names, node: ast.AST, depth: int) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "grad" and self._facts.of_object(names, node)
        if not isinstance(node, ast.Call):
            return False
        if READERS & self._facts.flow.qualified(names, node.func):
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in READING_METHODS:
            return True
        functions = self._facts.flow.functions(names, node)
        for where, function in functions if depth < MAX_CALLS else ():
            if function not in self._functions:
                self._functions[function] = False  # a function that calls itself adds nothing
                body = function.body if isinstance(function.body, list) else [function.body]
                self._functions[function] = any(self.looked_at(where, part, depth + 1) for part in body)
            if self._functions[function]:
                return True
        return not self._certain and not functions and _is_given_parameters(node)


def _is_given_parameters(call: ast.Call) -> bool:
    """Whether a library's function gets a model's parameters, and so their gradients."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in GIVES_PARAMETERS
        for argument in given
        for part in [argument]
    )
