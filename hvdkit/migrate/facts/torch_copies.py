"""Functions of torch that lay tensors end to end, also where a project carries a copy of their old source."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

# Bodies as in torch/_utils.py of PyTorch 1.0, which NVIDIA's and fairseq's programs copied.
_SOURCES = {
    "_flatten_dense_tensors": """
if len(tensors) == 1:
    return tensors[0].contiguous().view(-1)
flat = torch.cat([t.contiguous().view(-1) for t in tensors], dim=0)
return flat
""",
    "_unflatten_dense_tensors": """
outputs = []
offset = 0
for tensor in tensors:
    numel = tensor.numel()
    outputs.append(flat.narrow(0, offset, numel).view_as(tensor))
    offset += numel
return tuple(outputs)
""",
}
_PARAMETERS = {"_flatten_dense_tensors": ["tensors"], "_unflatten_dense_tensors": ["flat", "tensors"]}
_BODIES = {name: [ast.dump(s) for s in ast.parse(text).body] for name, text in _SOURCES.items()}


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
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    parameters = [argument.arg for argument in function.args.args]
    same = [ast.dump(statement) for statement in body] == _BODIES[wanted]
    torch = all(names.qualified(u) == ("torch",) for u in names.uses.get("torch", ()) if u.id == "torch")
    return same and torch and parameters == _PARAMETERS[wanted]
