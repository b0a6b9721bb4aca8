"""What steps are made of: a step, a backward pass, and the optimizers that share steps."""

from __future__ import annotations

import ast
from typing import Union

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.models.syncing import Sync
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names

Region = Union[FunctionNode, ast.Module]


@dataclass(frozen=True)
class Step:
    """`target.step()`, or `scaler.step(target)`. optimizers: what the target may be, wrappers removed."""

    names: Names
    call: ast.Call
    target: ast.expr
    optimizers: frozenset[Value]
    scaled: bool


@dataclass(frozen=True)
class Backward:
    """A backward pass as a function sees it. anchor: the call itself, or the one there that leads to it."""

    names: Names
    call: ast.Call
    where: Names
    anchor: ast.Call
    sync: Sync


@dataclass(frozen=True)
class Group:
    """Optimizers that share steps, the steps of one function, and how the gradients come to them.

    reason: why the reduction must be waited for; empty where step() may do it. reduce_after: the backward
    passes after which to wait. reduce_before: statements (with their file) before which to wait
    instead, since whether the backward passes before them reduce depends on a test. postponed: whether some
    backward passes leave the reduction to a later one. unreduced: whether all of them do, and no later one
    is there.
    """

    optimizers: frozenset[Value]
    steps: tuple[Step, ...]
    reason: str
    reduce_after: tuple[Backward, ...]
    reduce_before: tuple[tuple[Names, ast.stmt], ...]
    postponed: bool
    unreduced: bool


def region_of(names: Names, node: ast.AST) -> Region:
    """The function that a node runs in, else the module."""
    function = names.function(node)
    return function if isinstance(function, FUNCTIONS) else names.source.tree
