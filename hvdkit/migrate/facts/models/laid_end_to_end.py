"""Functions of torch that lay tensors end to end, also where a project carries a copy of their old source."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.index.names import Names

FLATTEN, UNFLATTEN = "_flatten_dense_tensors", "_unflatten_dense_tensors"
IN_FLOAT32 = "_flatten_dense_tensors in float32"
# The SHA-256 of each body, as ast.unparse writes it, in torch/_utils.py of PyTorch 1.0, which NVIDIA's and
# fairseq's programs copied; NVIDIA's mellotron added .float().
_BODIES = {
    FLATTEN: "aab79f476eed54b5637bc523ea93efeecb42fee97e19ebfe5c2406ead1327d1a",
    UNFLATTEN: "ba4d0935a19ba58bf4567b887b1965b3260f8036cadf290730ab6aafd1ef6a6f",
    IN_FLOAT32: "6518def99077362ab50049a6927342792eb48b64ff7fff25e427987cadf6f599",
}
_PARAMETERS = {FLATTEN: ["tensors"], UNFLATTEN: ["flat", "tensors"], IN_FLOAT32: ["tensors"]}


def copies(facts: Facts, names: Names, called: ast.expr, wanted: str) -> bool:
    """Whether a function is torch._utils' of that name, imported or copied word for word."""
    values = facts.flow.values(names, called)
    return bool(values) and all(
        value.name == f"torch._utils.{wanted}"
        if value.kind == "name"
        else isinstance(value.node, ast.FunctionDef) and _is_copy(value.names, value.node, wanted)
        for value in values
    )


def _is_copy(names: Names, function: ast.FunctionDef, wanted: str) -> bool:
    import hashlib  # slow to import, and few projects have such a copy

    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    parameters = [argument.arg for argument in function.args.args]
    text = "\n".join(map(ast.unparse, body))
    same = hashlib.sha256(text.encode()).hexdigest() == _BODIES[wanted]
    torch = all(names.qualified(u) == ("torch",) for u in names.uses.get("torch", ()) if u.id == "torch")
    return same and torch and parameters == _PARAMETERS[wanted]
