"""Which scripts a project starts with, what each imports, and how each is distributed today."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import starmap

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.code.loops import backward_calls, library_backwards
from hvdkit.migrate.facts.code.main_guards import has_main_guard
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras.evidence import tensorflow_evidence
from hvdkit.migrate.facts.models.weight_updates import weight_updates
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

TALKS = ("torch.distributed.", *words.DDP)
OTHERS = ("mxnet", "paddle", "mindspore", "jittor")


@dataclass(frozen=True)
class ProgramFacts:
    """kind: "ddp" (torch.distributed, DDP), "single" (DataParallel too), "horovod", "none" (no training).

    TensorFlow's: "tf-strategy" (tf.distribute), "tf-single", "tf-horovod".
    """

    entry: Names
    kind: str
    files: frozenset[Names]

    @property
    def migrates(self) -> bool:
        """Whether it trains with PyTorch, and not yet with Horovod."""
        return self.kind in ("ddp", "single")


@once
def programs_of(facts: Facts) -> list[ProgramFacts]:
    """Entry scripts with the files they import, and what kind of program each is.

    One program per file that no other file imports, or that has a main guard.
    """
    if not facts.project.uses_framework:
        given = [names for names in facts.files if names.source.path in facts.project.opened]
        return [ProgramFacts(names, "none", frozenset((names,))) for names in given]
    imported = {module for names in facts.files for module in facts.project.imports(names)}
    evidence = _evidence(facts)
    passes = _places([*backward_calls(facts), *library_backwards(facts)])
    updates = _places(weight_updates(facts))
    talks = _places((site.names, site.node) for site in facts.calls(*TALKS))
    starts = _places((site.names, site.node) for site in facts.calls(words.INIT, *words.DDP))
    found: list[tuple[Names, frozenset[Names], set[str], set[Names]]] = []
    for names in facts.files:
        if names in imported and not has_main_guard(names):
            continue
        closure = imported_by(facts, names)
        files = frozenset(closure)
        if _of_another_framework(files):
            found.append((names, files, set(), set()))
            continue
        seen = set().union(*(evidence[file] for file in closure))
        talking = {file for file in closure if "talks" in evidence[file]}
        runs = partial(call_graph(facts).runs, names, files)
        if all(any(starmap(runs, _within(part, closure))) for part in (passes, updates)):
            # A training that shares helpers with a distributed one may never come to what starts the ranks.
            seen = seen - {"ddp"} | {"trains"}
            if any(starmap(runs, _within(starts, closure))):
                seen.add("ddp")
            talking = {where for where, node in _within(talks, closure) if runs(where, node)}
        found.append((names, files, seen, talking))
    started = {file for _, files, seen, _ in found if "ddp" in seen for file in files}
    for _, _, seen, talking in found:
        # Helpers that talk between the ranks, in a script that never starts them, are another program's.
        if talking - started:
            seen.add("ddp")
    return [ProgramFacts(entry, _kind(seen), files) for entry, files, seen, _ in found]


def _places(places: Iterable[tuple[Names, ast.AST]]) -> dict[Names, list[ast.AST]]:
    """Places in files, by file."""
    found: dict[Names, list[ast.AST]] = {}
    for names, node in places:
        found.setdefault(names, []).append(node)
    return found


def _within(places: dict[Names, list[ast.AST]], files: list[Names]) -> Iterator[tuple[Names, ast.AST]]:
    """The places that are in some files."""
    return ((names, node) for names in files for node in places.get(names, ()))


@once
def _by_file(facts: Facts) -> dict[Names, list[ProgramFacts]]:
    found: dict[Names, list[ProgramFacts]] = {}
    for program in programs_of(facts):
        for names in program.files:
            found.setdefault(names, []).append(program)
    return found


def programs_with(facts: Facts, names: Names) -> list[ProgramFacts]:
    """The programs that a file belongs to: only these may come to its code."""
    return _by_file(facts).get(names, [])


def files_with(facts: Facts, names: Names) -> set[Names]:
    """All files of the programs that a file belongs to."""
    return {file for program in programs_with(facts, names) for file in program.files}


def imported_by(facts: Facts, names: Names) -> list[Names]:
    """A file and those that it imports, and so on."""
    closure = [names]
    for file in closure:
        closure += [module for module in facts.project.imports(file) if module not in closure]
    return closure


def _of_another_framework(files: frozenset[Names]) -> bool:
    """Whether a program trains with MXNet or the like, whose backward() and step() are not PyTorch's."""
    return any(file.imported(top) for file in files for top in OTHERS) and not any(
        file.imported(top) for file in files for top in ("torch", "horovod", "hvdkit", "tensorflow", "keras")
    )


def _evidence(facts: Facts) -> dict[Names, set[str]]:
    """What each file shows of its kind."""
    found: dict[Names, set[str]] = {names: set() for names in facts.files}
    for site in facts.calls(*TALKS):
        found[site.names].add("talks")
    for site in facts.calls(words.INIT):
        found[site.names].add("ddp")
    for site in facts.calls(*words.HVD_INIT):
        found[site.names].add("horovod")
    for names, kind in tensorflow_evidence(facts):
        found[names].add(kind)
    return found


def _kind(seen: set[str]) -> str:
    if "ddp" in seen:
        return "ddp"
    if "horovod" in seen:
        return "horovod"
    if "trains" in seen:
        return "single"
    if "tf-horovod" in seen or "tf-single" not in seen:
        return "tf-horovod" if "tf-horovod" in seen else "none"
    return "tf-strategy" if "tf-strategy" in seen else "tf-single"


def kinds_of(facts: Facts, names: Names) -> set[str]:
    """Kinds ("ddp", "single", "horovod", "none") of the programs that a file belongs to."""
    return {program.kind for program in programs_with(facts, names)}


def migrates(facts: Facts, names: Names) -> bool:
    """Whether a file belongs to a program that trains with PyTorch, and is not Horovod's yet."""
    return any(program.migrates for program in programs_with(facts, names))
