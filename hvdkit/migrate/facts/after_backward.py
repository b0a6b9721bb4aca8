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
from hvdkit.migrate.facts.coverage import may_train, trained_wraps, unknown_steps
from hvdkit.migrate.facts.flow import Value
from hvdkit.migrate.facts.loops import backward_calls, library_backwards
from hvdkit.migrate.facts.losses import reached_models
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers import Optimizer
from hvdkit.migrate.facts.programs import ProgramFacts
from hvdkit.migrate.facts.spelling import spelled
from hvdkit.migrate.facts.starts import run_by_nobody, runs_in
from hvdkit.migrate.facts.syncing import Sync, sync_of
from hvdkit.migrate.facts.updates import copied_gradients, weight_updates
from hvdkit.migrate.facts.wraps import Wrap, find_wraps
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

RULE = "HVD416"
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
    """wraps: the DDP calls that are translated so; problems: those that would have to be, and cannot."""

    wraps: frozenset[ast.Call]
    passes: tuple[Pass, ...]
    problems: dict[ast.Call, str]


@once
def with_copies(facts: Facts) -> AfterBackward:
    """The models of programs whose optimizers step what the gradients are copied to."""
    asked = [
        (program, wrap)
        for program in facts.programs
        if program.kind == "ddp" and _copies(facts, program)
        for wrap in find_wraps(facts)
        if wrap.name in words.DDP
        and wrap.names in program.files
        and runs_in(facts, program, wrap.names, wrap.node)
    ]
    return _translated(facts, asked)


@once
def after_backward(facts: Facts) -> AfterBackward:
    """Those, and the models of programs in which no optimizer was found that trains them."""
    copies = with_copies(facts)
    lost = _translated(facts, list(without_optimizers(facts)))
    return AfterBackward(
        copies.wraps | lost.wraps, (*copies.passes, *lost.passes), {**copies.problems, **lost.problems}
    )


def without_optimizers(facts: Facts) -> Iterator[tuple[ProgramFacts, Wrap]]:
    """The models that DDP wraps, and something trains that is not known."""
    done = with_copies(facts).wraps
    for program, wrap, optimizers in trained_wraps(facts):
        if before_steps(facts, program).adds_up:
            continue  # one average for each step does it (HVD417)
        if not optimizers and wrap.node not in done and _uses_gradients(facts, program):
            # A model that is wrapped and never trained, such as a teacher, has nobody who would train it.
            if unknown_steps(facts, program) or not any(o.names in program.files for o in facts.optimizers):
                yield program, wrap


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


def left_alone(facts: Facts, every: Iterable[Optimizer]) -> Iterator[Optimizer]:
    """The optimizers, of all, that are not wrapped, since the gradients they get are averages already."""
    done = with_copies(facts).wraps
    wraps = [wrap for wrap in find_wraps(facts) if wrap.node in done] if done else []
    files = {names for wrap in wraps for p in facts.programs if wrap.names in p.files for names in p.files}
    for optimizer in every:
        if optimizer.names in files and any(
            may_train(optimizer, wrap) or not optimizer.whole for wrap in wraps
        ):
            yield optimizer


def averaged_below(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether what stands right below a backward pass begins to average gradients."""
    below = edits.following(names, names.statement(call))
    return below is not None and any(
        words.HVD_IN_PLACE & facts.flow.qualified(names, site.func)
        and any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in site.args)
        for site in names.calls_in(below)
    )


def gets_averages(facts: Facts, program: ProgramFacts) -> bool:
    """Whether all models of a program that DDP wraps have averages as gradients after backward()."""
    mine = [w for w in find_wraps(facts) if w.name in words.DDP and w.names in program.files]
    wraps = [wrap.node for wrap in mine if runs_in(facts, program, wrap.names, wrap.node)]
    return bool(wraps) and after_backward(facts).wraps.issuperset(wraps)


def _copies(facts: Facts, program: ProgramFacts) -> bool:
    return any(
        runs_in(facts, program, names, statement)
        for names in program.files
        for statement in copied_gradients(names)
    )


def _translated(facts: Facts, asked: list[tuple[ProgramFacts, Wrap]]) -> AfterBackward:
    """Each model in all of its programs, or in none."""
    if asked and not facts.options.allows(RULE):
        return AfterBackward(frozenset(), (), {wrap.node: f"{RULE} was not chosen" for _, wrap in asked})
    problems: dict[ast.Call, str] = {}
    found: dict[ast.Call, dict[str, Names]] = {}
    wraps = [wrap for _, wrap in asked]
    for program, wrap in asked:
        try:
            for names, call, model in _places(facts, program, wrap, wraps):
                found.setdefault(call, {})[model] = names
        except NotShown as problem:
            problems[wrap.node] = str(problem)
    if problems:  # what one backward pass makes is averaged there, or by hooks, and never half of it
        return AfterBackward(
            frozenset(), (), dict.fromkeys((w.node for w in wraps), next(iter(problems.values())))
        )
    passes = [
        Pass(next(iter(models.values())), call, tuple(sorted(models))) for call, models in found.items()
    ]
    return AfterBackward(frozenset(wrap.node for wrap in wraps), tuple(passes), {})


def _places(
    facts: Facts, program: ProgramFacts, wrap: Wrap, wraps: list[Wrap]
) -> Iterator[tuple[Names, ast.Call, str]]:
    """The backward passes of a program after which a model's gradients are averaged, and its name there."""
    _refuse_unlike(facts, program, wrap)
    every = [at for at in backward_calls(facts) if at[0] in program.files and runs_in(facts, program, *at)]
    models = frozenset().union(*(each.models for each in wraps))
    reaching = 0
    for names, call in every:
        reached = reached_models(facts, names, call, models)
        if (reached and not reached & wrap.models) or sync_of(names, call) is Sync.NEVER:
            continue
        reaching += 1
        yield names, call, _name(facts, names, call, wrap, wraps)
    if not reaching:
        raise NotShown("the backward pass that makes its gradients was not found")


def _refuse_unlike(facts: Facts, program: ProgramFacts, wrap: Wrap) -> None:
    """What all ranks have to agree on: which parameters have a gradient, and that it is a plain tensor."""
    if any(is_on(keyword(wrap.node, name)) for name in MAY_BE_MISSING):
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
