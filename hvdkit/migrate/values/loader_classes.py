"""The project's own DataLoader classes that take what DataLoader takes, and hand it on untouched."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import positional
from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names

# DataLoader's parameters, in their order, as far as the rules ask for them.
PARAMETERS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler")


def constructions(flow: Asking, files: list[Names]) -> Iterator[tuple[Names, ast.Call]]:
    """The calls in the project of such classes."""
    own = {owner for names in files for owner in names.of_kind(ast.ClassDef) if is_loader(flow, names, owner)}
    for names in files if own else ():
        for call in (*names.class_calls, *names.variable_calls):
            classes = {value.node for value in flow.values(names, call.func) if value.kind == "class"}
            if classes & own:
                yield names, call


def is_loader(flow: Asking, names: Names, owner: ast.AST) -> bool:
    """Whether calling a class makes a DataLoader of the arguments of the call, as DataLoader itself would."""
    if not isinstance(owner, ast.ClassDef) or len(owner.bases) != 1:
        return False
    base = owner.bases[0]
    if not (names.qualified(base) and words.LOADER in flow.qualified(names, base)):
        return False
    made = [binding.node for binding in names.scopes[owner].names.get("__init__", ())]
    return all(isinstance(function, FUNCTIONS) and _hands_on(names, function) for function in made)


def _hands_on(names: Names, function: FunctionNode) -> bool:
    """Whether __init__ gives all that it is not asked for by name to DataLoader's."""
    own = positional(function)[1:]
    every, named = function.args.vararg, function.args.kwarg
    if named is None or (own and every) or set(PARAMETERS).intersection(own):
        return False
    above = [call for call in names.calls.get("__init__", ()) if names.function(call) is function]
    if len(above) != 1:
        return False
    (call,) = above
    # `super().__init__(*args, **kwargs)`, and `DataLoader.__init__(self, *args, **kwargs)`
    stars = [argument.value for argument in call.args if isinstance(argument, ast.Starred)]
    plain = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    bound = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
    given = [keyword.arg for keyword in call.keywords]
    return (
        len(plain) == (0 if bound else 1)
        and [getattr(star, "id", "") for star in stars] == ([every.arg] if every else [])
        and any(k.arg is None and getattr(k.value, "id", "") == named.arg for k in call.keywords)
        and not set(PARAMETERS).intersection(given)
    )
