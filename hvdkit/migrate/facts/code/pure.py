"""Functions of the project that only compute what they return, which one rank may do without the others."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import FunctionNode, Names

MAX_CALLS = 3
_MODULES = ("numpy.", "math.", "torch.", "datetime.", "os.path.", "time.")
# ... but for what draws, keeps or sets something.
_OTHER = (
    *("numpy.random.", "numpy.save", "numpy.load", "numpy.set", "numpy.put", "numpy.copyto"),
    *("torch.load", "torch.save", "torch.set_", "torch.manual_seed", "torch.seed", "torch.use_"),
    *("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "torch.empty"),
    *("torch.autograd.", "torch.backends.", "torch.cuda.", "torch.distributed.", "torch.hub.", "torch.nn."),
    *("torch.optim.", "torch.utils.", "time.sleep"),
)
_BUILTINS = {"abs", "float", "int", "len", "list", "max", "min", "range", "round", "str", "sum", "tuple"}
_METHODS = {
    *(
        "abs",
        "add",
        "astype",
        "byte",
        "clamp",
        "clip",
        "clone",
        "contiguous",
        "cpu",
        "detach",
        "div",
        "float",
    ),
    *(
        "item",
        "max",
        "mean",
        "min",
        "mul",
        "numpy",
        "permute",
        "repeat",
        "reshape",
        "round",
        "size",
        "squeeze",
    ),
    *("sub", "sum", "to", "tolist", "transpose", "type", "unsqueeze", "view"),
    *("format", "isoformat", "lower", "strftime", "strip", "upper", "zfill"),
}
_STATEMENTS = (ast.Assign, ast.Return, ast.Expr, ast.If, ast.FunctionDef)


def only_computes(facts: Facts, names: Names, function: FunctionNode, depth: int = 0) -> bool:
    """Whether a function, no method, has no other effect than its result, and draws no random numbers.

    `def denorm(x): return ((x + 1) / 2).clamp(0, 1)`.
    """
    if isinstance(names.parents.get(function), ast.ClassDef):
        return False
    if not isinstance(function, ast.Lambda) and function.decorator_list:
        return False
    parts = names.walk(function)
    if not all(isinstance(part, _STATEMENTS) for part in parts if isinstance(part, ast.stmt)):
        return False
    stored = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    if not all(isinstance(part, (ast.Name, ast.Tuple)) for part in stored):
        return False
    return all(_computes(facts, names, call, depth) for call in names.calls_in(function))


def _computes(facts: Facts, names: Names, call: ast.Call, depth: int) -> bool:
    qualified = names.qualified(call.func)
    if qualified:
        return all(n.startswith(_MODULES) and not n.startswith(_OTHER) for n in qualified)
    own = facts.flow.functions(names, call)
    if own:
        return depth < MAX_CALLS and all(only_computes(facts, *one, depth + 1) for one in own)
    if isinstance(call.func, ast.Name):
        return call.func.id in _BUILTINS and not names.bindings(call.func.id, call)
    if not isinstance(call.func, ast.Attribute):
        return False
    # A text's replace() takes two; a path's takes one, and moves the file.
    return call.func.attr in _METHODS or (call.func.attr == "replace" and len(call.args) == 2)
