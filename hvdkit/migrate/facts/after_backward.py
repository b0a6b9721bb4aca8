"""DDP's models whose gradients are averaged right after backward(), since no optimizer can do it.

That is what DDP does, said literally: when backward() returns, the gradients of all parameters of the
model are the ranks' average, whatever reads them then. It needs nothing of the optimizer, which may be made
by a name in a configuration, step copies of the parameters, or be patched by apex. An average of averages is
the average again, and adding up and averaging may change places: so it may follow each of several passes that
add up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate import edits
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.arguments import is_on, keyword
from hvdkit.migrate.facts.before_steps import before_steps
from hvdkit.migrate.facts.coverage import trained_wraps, unknown_steps
from hvdkit.migrate.facts.flow import Value
from hvdkit.migrate.facts.loops import backward_calls, library_backwards
from hvdkit.migrate.facts.losses import reached_models
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers import Optimizer
from hvdkit.migrate.facts.programs import ProgramFacts
from hvdkit.migrate.facts.spelling import spelled
from hvdkit.migrate.facts.starts import run_by_nobody, runs_in
from hvdkit.migrate.facts.syncing import Sync, sync_of
from hvdkit.migrate.facts.updates import weight_updates
from hvdkit.migrate.facts.wraps import Wrap, find_wraps
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

MAY_BE_MISSING = ("find_unused_parameters", "delay_allreduce")


@dataclass(frozen=True)
class Pass:
    """A backward pass, and the models, as they are written there, whose gradients are averaged below it."""

    names: Names
    call: ast.Call
    models: tuple[str, ...]


class NotShown(Exception):
    """Why it cannot be shown that averaging after backward() does what DDP does."""


@dataclass(frozen=True)
class AfterBackward:
    """wraps: the DDP calls that are said so, in programs; problems: why others, that were to be, are not."""

    programs: tuple[ProgramFacts, ...]
    wraps: frozenset[ast.Call]
    passes: tuple[Pass, ...]
    problems: dict[ast.Call, str]


@once
def after_backward(facts: Facts) -> AfterBackward:
    """What is said so, of the programs for which that was asked and of those that share a model with them."""
    wraps = {program: _wraps(facts, program) for program in facts.programs if program.kind == "ddp"}
    asked = [program for program in wraps if program.entry.source.path in facts.literally and wraps[program]]
    asked = _sharing(asked, wraps)
    problems: dict[ast.Call, str] = {}
    while True:
        every = [wrap for program in asked for wrap in wraps[program]]
        passes: dict[ast.Call, dict[str, Names]] = {}
        failed = []
        for program in asked:
            try:
                for names, call, model in _places(facts, program, wraps[program], every):
                    passes.setdefault(call, {})[model] = names
            except NotShown as problem:
                failed.append(program)
                problems.update((wrap.node, str(problem)) for wrap in wraps[program])
        if not failed:
            break
        lost = _sharing(failed, wraps)
        asked = [program for program in asked if program not in lost]
    return AfterBackward(
        tuple(asked),
        frozenset(wrap.node for wrap in every),
        tuple(
            Pass(next(iter(models.values())), call, tuple(sorted(models))) for call, models in passes.items()
        ),
        problems,
    )


def _wraps(facts: Facts, program: ProgramFacts) -> list[Wrap]:
    """The models that DDP wraps in a program which trains."""
    here = [wrap for wrap in find_wraps(facts) if wrap.name in words.DDP and wrap.names in program.files]
    return [wrap for wrap in here if runs_in(facts, program, wrap.names, wrap.node)]


def _sharing(programs: list[ProgramFacts], wraps: dict[ProgramFacts, list[Wrap]]) -> list[ProgramFacts]:
    """Programs, and those that wrap a model by the same call."""
    found = list(programs)
    for program in found:
        nodes = {wrap.node for wrap in wraps[program]}
        found += [p for p in wraps if p not in found and any(wrap.node in nodes for wrap in wraps[p])]
    return found


def without_optimizers(facts: Facts) -> Iterator[tuple[ProgramFacts, Wrap]]:
    """The models that DDP wraps, and something trains that is not known."""
    for program, wrap, optimizers in trained_wraps(facts):
        if before_steps(facts, program).averages:
            continue  # one average for each step does it (HVD417)
        if (
            not optimizers
            and wrap.node not in after_backward(facts).wraps
            and _uses_gradients(facts, program)
        ):
            # A model that is wrapped and never trained, such as a teacher, has nobody who would train it.
            if unknown_steps(facts, program) or not any(o.names in program.files for o in facts.optimizers):
                yield program, wrap


def left_alone(facts: Facts, every: Iterable[Optimizer]) -> Iterator[Optimizer]:
    """The optimizers, of all, that are not wrapped, since the gradients they get are averages already."""
    files = frozenset().union(*(program.files for program in after_backward(facts).programs))
    return (optimizer for optimizer in every if optimizer.names in files)


def _uses_gradients(facts: Facts, program: ProgramFacts) -> bool:
    """Whether weights change in a program, or gradients are read: else it only looks at what a model sees."""
    libraries = [(names, call) for names, call in library_backwards(facts) if names in program.files]
    uses = [
        *weight_updates(facts),
        *((names, node) for names in program.files for node in names.attributes.get("grad", ())),
    ]
    return bool(libraries) or any(
        names in program.files and (runs_in(facts, program, names, node) or run_by_nobody(facts, names, node))
        for names, node in uses
    )


def averaged_below(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether what stands right below a backward pass begins to average gradients."""
    below = edits.following(names, names.statement(call))
    return below is not None and any(
        words.HVD_IN_PLACE & facts.flow.qualified(names, site.func)
        and any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in site.args)
        for site in names.calls_in(below)
    )


def _places(
    facts: Facts, program: ProgramFacts, wraps: list[Wrap], every: list[Wrap]
) -> Iterator[tuple[Names, ast.Call, str]]:
    """The backward passes of a program below which gradients are averaged, and the models' names there."""
    _refuse_unlike(facts, program, wraps)
    passes = [at for at in backward_calls(facts) if at[0] in program.files and runs_in(facts, program, *at)]
    models = frozenset().union(*(wrap.models for wrap in every))
    reduced = False
    for names, call in passes:
        reached = reached_models(facts, names, call, models)
        through = [wrap for wrap in wraps if not reached or reached & wrap.models]
        if sync_of(names, call) is Sync.NEVER:
            continue
        for wrap in through:
            reduced = True
            yield names, call, _name(facts, names, call, wrap, every)
    if passes and not reduced:
        raise NotShown("every backward pass of it is under no_sync()")
    if not passes and _uses_gradients(facts, program):
        raise NotShown("the backward pass that makes its gradients was not found")


def _refuse_unlike(facts: Facts, program: ProgramFacts, wraps: list[Wrap]) -> None:
    """What all ranks have to agree on: which parameters have a gradient, and that it is a plain tensor."""
    if any(is_on(keyword(wrap.node, name)) for wrap in wraps for name in MAY_BE_MISSING):
        raise NotShown("which of its parameters have a gradient may differ between the ranks")
    for names, call in library_backwards(facts):
        if names in program.files and runs_in(facts, program, names, call):
            raise NotShown(f"a library makes the backward pass at {names.source.path.name}:{call.lineno}")
    for names in program.files:
        for call in names.of_kind(ast.Call):
            if is_on(keyword(call, "sparse")) and runs_in(facts, program, names, call):
                raise NotShown(f"gradients are sparse at {names.source.path.name}:{call.lineno}")


def _name(facts: Facts, names: Names, call: ast.Call, wrap: Wrap, wraps: list[Wrap]) -> str:
    """The model as it is written at a backward pass."""
    place = f"{names.source.path.name}:{call.lineno}"
    name = spelled(facts.flow, names, call, _values(wrap))
    if name is None:
        raise NotShown(f"it has no name where backward() is called ({place})")
    every = frozenset().union(*(_values(each) for each in wraps))
    held = facts.flow.named(names, name, call) if name.isidentifier() else frozenset()
    if facts.flow.unwrap(held) - facts.flow.unwrap(every):
        raise NotShown(f"{name} may be another model where backward() is called ({place})")
    others = {spelled(facts.flow, names, call, _values(each)) for each in wraps} - {None}
    both = [
        e
        for e in wraps
        if e.node is not wrap.node and name.isidentifier() and held & _values(e) - _values(wrap)
    ]
    if both and len(others) > 1:
        raise NotShown(f"{name} may be either of two models where backward() is called ({place})")
    return name


def _values(wrap: Wrap) -> frozenset[Value]:
    return wrap.models | {wrap.value}
