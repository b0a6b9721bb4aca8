"""What is remembered while a program runs: one dictionary, and journals of what a branch wrote to it.

A key is a pair of a holder and a name: a frame and its variable, an object and its attribute, a library and
its random state. A branch costs what it writes, and not what there is.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from itertools import count
from typing import Callable, Optional

from hvdkit.job.columns import Value

Key = tuple[Hashable, Hashable]
Journal = dict[Key, Optional[Value]]
_serial = count()


class Frame:
    """The names of a module, a class body or one call of a function.

    module: that of the code. jumps: the keys that say whether the call returned, or a loop was left.
    gate: the machine's, where the call begins. elsewhere: names that are global or nonlocal, by frame.
    bound: the names of the frame, in order. receive: what a generator gives its values to.
    """

    def __init__(self, module: Module, outer: Frame | None, node: ast.AST, gate: Value | None = None) -> None:
        self.module = module
        self.outer = outer
        self.node = node
        self.serial = next(_serial)
        self.is_class = isinstance(node, ast.ClassDef)
        self.jumps: list[Key] = []
        self.jumped = False
        self.gate = gate
        self.receive: Callable[[Value], None] | None = None
        self.elsewhere: dict[str, Frame] = {}
        self.bound: dict[str, None] = {}

    @property
    def top(self) -> Frame:
        """The frame of its module."""
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame


class Module:
    """A file of the program. file: whatever the caller knows it by."""

    def __init__(self, name: str, file: Hashable, tree: ast.Module) -> None:
        self.name = name
        self.file = file
        self.tree = tree
        self.frame = Frame(self, None, tree)


class Store:
    """All that is remembered."""

    def __init__(self) -> None:
        self.values: dict[Key, Value] = {}
        self._journals: list[Journal] = []

    def put(self, key: Key, value: Value) -> None:
        """Remember a value; the branch that is being run remembers what was there."""
        if self._journals:
            journal = self._journals[-1]
            if key not in journal:
                journal[key] = self.values.get(key)
        self.values[key] = value

    def begin(self) -> int:
        """Begin a branch."""
        self._journals.append({})
        return next(_serial)

    def undo(self, begun: int) -> dict[Key, Value]:
        """End a branch: what it wrote, which is taken back but for the frames that began in it."""
        written: dict[Key, Value] = {}
        for key, old in self._journals.pop().items():
            if isinstance(key[0], Frame) and key[0].serial > begun:
                continue
            written[key] = self.values[key]
            if old is None:
                del self.values[key]
            else:
                self.values[key] = old
        return written

    def keep(self, begun: int) -> Journal:
        """End a branch whose writes stay: what each of its keys was before."""
        journal = self._journals.pop()
        if self._journals:
            outer = self._journals[-1]
            for key, old in journal.items():
                outer.setdefault(key, old)
        return {
            key: old
            for key, old in journal.items()
            if not (isinstance(key[0], Frame) and key[0].serial > begun)
        }
