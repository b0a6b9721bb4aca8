"""Commands that a Python file runs, and that start processes with a launcher of torch's.

What such a file reads of its environment is about hosts, not ranks: the ranks are in the processes it starts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hvdkit.source.index.names import Names

MODULES = ("torch.distributed.launch", "torch.distributed.run")
_COMMAND = re.compile(r"(?:^|[\s/])torchrun\s|-m\s+torch\.distributed\.(?:launch|run)\s")
_RUNS = {
    "os": ("system", "popen", "execv", "execvp", "execvpe"),
    "subprocess": ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"),
}
# Methods that put a command together.
_JOINS = frozenset(("append", "extend", "format", "join", "split"))


def starts_launcher(names: Names) -> bool:
    """Whether a file only starts torch's launcher, by a command: it makes no process group of its own."""
    makes_group = any(
        "torch.distributed.init_process_group" in names.qualified(call.func)
        for call in names.calls.get("init_process_group", ())
    )
    return not makes_group and next(launch_commands(names), None) is not None


def launch_commands(names: Names) -> Iterator[tuple[ast.expr, str]]:
    """Texts with a command of the launcher, in a file that runs commands; of a list the text that names it.

    What is put into an f-string stands in the text as the source has it.
    """
    if "torchrun" not in names.source.text and "torch.distributed." not in names.source.text:
        return
    if not any(_runs(names, call, module) for module in _RUNS for call in _called(names, module)):
        return
    for node in names.of_kind(ast.Constant, ast.JoinedStr):
        if isinstance(node, ast.Constant) and isinstance(names.parents[node], ast.JoinedStr):
            continue
        text = _text(node)
        if (_COMMAND.search(text) or _is_word(names, node, text)) and _is_run(names, node):
            yield node, text


def _called(names: Names, module: str) -> Iterator[ast.Call]:
    for function in _RUNS[module]:
        yield from names.calls.get(function, ())


def _runs(names: Names, call: ast.Call, module: str) -> bool:
    return any(f"{module}.{function}" in names.qualified(call.func) for function in _RUNS[module])


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_word(names: Names, node: ast.expr, text: str) -> bool:
    """Whether a text is the launcher in a list of words: `["torchrun", "train.py"]`."""
    return isinstance(names.parents[node], (ast.List, ast.Tuple)) and text in ("torchrun", *MODULES)


def _is_run(names: Names, node: ast.expr) -> bool:
    """Whether a text is kept, or given to what runs it: not printed, raised or said in a docstring."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.Call):
            name = getattr(parent.func, "attr", "")
            if name not in _JOINS and not any(_runs(names, parent, module) for module in _RUNS):
                return False
        if isinstance(parent, ast.stmt):
            docstring = isinstance(parent, ast.Expr) and parent.value is node
            return not docstring and isinstance(parent, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return))
    return False
