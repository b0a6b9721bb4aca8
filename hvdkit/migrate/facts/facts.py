"""What every fact is asked through: the files of one project, their calls and values, and earlier answers.

This lies below all facts and knows none of them. A fact is a function of it, mostly one that is answered once
(once.py), in the module of what it is about.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import InitVar, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Callable, TypeVar, cast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.options import Options
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.flow import Flow
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec  # novm

    P = ParamSpec("P")

T = TypeVar("T")

OBJECTS = frozenset(("made", "object", "literal", "param"))  # kinds of values that are no names in a module


@dataclass(frozen=True)
class Site:
    """A call in a file, and the qualified name it was found under."""

    names: Names
    node: ast.Call
    name: str


@dataclass
class Facts:
    """One project, and what was found out about it.

    literally: the entries of programs of which DDP is to be said literally, since no optimizer can average.
    On the way back: since DDP would not average all that they train.
    before: what was asked of the same project without that, whose values are the same.
    """

    project: Project
    options: Options = field(default_factory=Options)
    literally: frozenset[FilePath] = frozenset()
    before: InitVar[Facts | None] = None

    def __post_init__(self, before: Facts | None) -> None:
        self.flow: Flow = Flow(self.project) if before is None else before.flow
        self._answers: dict[tuple[object, ...], object] = {}
        self._methods: dict[str, list[tuple[Names, ast.Call, ast.expr]]] = {}
        self._sites: dict[tuple[str, ...], list[Site]] = {}
        self._sites_of: dict[tuple[str, ...], dict[Names, list[Site]]] = {}
        for names in self.project.files.values():
            names.asked = 0

    def ask(self, question: Callable[Concatenate[Facts, P], T], *about: P.args, **named: P.kwargs) -> T:
        """What a question was answered before, or its answer now: about a node, a program, a file."""
        key = (question, *about, *named.items())
        if key not in self._answers:
            self._answers[key] = question(self, *about, **named)
        return cast("T", self._answers[key])

    def forget(self) -> None:
        """Let go of all answers, which know each other: no circle is left to the garbage collector."""
        vars(self.flow).clear()
        vars(self).clear()

    @cached_property
    def files(self) -> list[Names]:
        """All parsed files, in path order."""
        return [self.project.files[path] for path in sorted(self.project.files)]

    @cached_property
    def _calls(self) -> dict[str, list[Site]]:
        found: dict[str, list[Site]] = defaultdict(list)
        for names in self.files:
            for call in names.library_calls:
                for name in self.flow.qualified(names, call.func):
                    filed = name
                    if name == words.INIT or name in words.LIBRARY_STARTS:
                        filed = words.OWN_GROUP if _of_horovod(names, call) else words.INIT
                    found[filed].append(Site(names, call, name))
        for site in self._calls_of_kept():
            found[site.name].append(site)
        return found

    def _calls_of_kept(self) -> Iterator[Site]:
        """`args.dist.barrier()`, where a file keeps torch.distributed itself: `args.dist = dist`."""
        if not any(_is_value(names, "torch", "torch.distributed") for names in self.files):
            return
        for names in self.files:
            for call in names.of_kind(ast.Call) if not names.stars else ():
                if isinstance(call.func, ast.Attribute) and not names.qualified(call.func):
                    for name in self.flow.qualified(names, call.func):
                        if name.startswith("torch.distributed."):
                            yield Site(names, call, name)

    def calls(self, *wanted: str) -> list[Site]:
        """Calls of library functions by qualified name; a trailing dot means everything below."""
        if wanted not in self._sites:  # asked for again for each program
            self._sites[wanted] = self._look_for_calls(wanted)
        return [*self._sites[wanted]]

    def calls_in(self, files: frozenset[Names], *wanted: str) -> Iterator[Site]:
        """The same of some files alone, such as a program's."""
        if wanted not in self._sites_of:
            found = self._sites_of[wanted] = defaultdict(list)
            for site in self.calls(*wanted):
                found[site.names].append(site)
        by_file = self._sites_of[wanted]
        for names in sorted(files & by_file.keys(), key=_path):
            yield from by_file[names]

    def _look_for_calls(self, wanted: tuple[str, ...]) -> list[Site]:
        found: list[Site] = []
        for name in wanted:
            if name.endswith("."):
                found += [
                    site for key, sites in self._calls.items() if key.startswith(name) for site in sites
                ]
            else:
                found += self._calls.get(name, [])
        return sorted(set(found), key=lambda site: (*_place(site.names, site.node), site.name))

    def methods(self, name: str) -> list[tuple[Names, ast.Call, ast.expr]]:
        """Calls `x.name(...)` with their receivers, module functions left out."""
        if name not in self._methods:  # asked for again for each program
            self._methods[name] = list(self._look_for_methods(name))
        return self._methods[name]

    def _look_for_methods(self, name: str) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
        for names in self.files:
            for call in names.calls.get(name, ()):
                if isinstance(call.func, ast.Attribute) and self.of_object(names, call.func):
                    yield names, call, call.func.value

    def of_object(self, names: Names, attribute: ast.Attribute) -> bool:
        """Whether an attribute is an object's, and not a member of a module: `model.grad`, not `torch.ones`.

        What one file of the project makes, and another takes from it, is an object there as well.
        """
        named = names.qualified(attribute)
        if not named:
            return True
        if not any(name.startswith(".") or self.flow.is_own(names, name.partition(".")[0]) for name in named):
            return False
        holder: ast.expr = attribute
        while isinstance(holder, ast.Attribute):  # `setup.loader.sampler.set_epoch`
            holder = holder.value
            if any(value.kind in OBJECTS for value in self.flow.values(names, holder)):
                return True
        return False


def _path(names: Names) -> str:
    return str(names.source.path)


def _place(names: Names, node: ast.AST) -> tuple[str, int, int]:
    return _path(names), getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def _of_horovod(names: Names, call: ast.Call) -> bool:
    """Whether a process group is given Horovod's rank: as an argument, or in the environment above."""
    given = [keyword(call, "rank")]
    for other in names.calls.get("update", ()):
        if names.function(other) is names.function(call) and other.lineno < call.lineno:
            given.append(keyword(other, "RANK"))
    return any(
        isinstance(part, ast.Call) and not words.HVD_RANK.isdisjoint(names.qualified(part.func))
        for value in given
        if value is not None
        for part in ast.walk(value)
    )


def _is_value(names: Names, top: str, module: str) -> bool:
    """Whether a file reads a module of a package for itself, not for something in it."""
    return any(module == whole for name in names.imported(top) for _, whole in names.readings(name))
