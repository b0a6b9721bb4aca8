"""Models whose gradients are averaged right after backward(), since no optimizer can do it.

They are those of DDP, and those that a program of one process steps by hand.

That is what DDP does, said literally: when backward() returns, the gradients of all parameters of the
model are the ranks' average, whatever reads them then. It needs nothing of the optimizer, which may be made
by a name in a configuration, step copies of the parameters, or be patched by apex. An average of averages is
the average again, and adding up and averaging may change places: so it may follow each of several passes that
add up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field, replace

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts.code.loops import backward_calls, library_backwards
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.gradient_collectives import COLLECTIVES, hand_reductions
from hvdkit.migrate.facts.models.losses import reached_models
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.models.syncing import Sync, choice_of, context_of, mention_in, sync_of
from hvdkit.migrate.facts.models.weight_updates import weight_updates
from hvdkit.migrate.facts.models.wraps import MAY_BE_UNUSED, Wrap, changes_average, find_wraps
from hvdkit.migrate.facts.models.written_models import NotShown, name_at
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.hand_rates import own_rates
from hvdkit.migrate.facts.optimizers.hand_starts import Start, starts_of_training
from hvdkit.migrate.facts.optimizers.hand_steps import TENSOR, HandSteps, stepped_by_hand, steps_by_hand
from hvdkit.migrate.facts.optimizers.sparse_gradients import sparse_gradients
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.reached_code import run_by_nobody, runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.source.index.names import LOOPS, Names
from hvdkit.source.project.files import does_more_than_define

_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Pass:
    """A backward pass, and what gradients are averaged of below it: models and tensors, as written there.

    statement: below which that is; window: the same, or the `with` around it that goes. unlike: whether one
    rank may have a gradient of a parameter that another has not. unless: the test, as text, under which
    no_sync() leaves it to a later pass; empty for none.
    """

    names: Names
    call: ast.Call
    statement: ast.stmt
    window: ast.stmt
    models: tuple[str, ...]
    unlike: bool
    unless: str = ""
    tensors: tuple[str, ...] = ()
    by_hand: bool = False


@dataclass(frozen=True)
class AfterBackward:
    """wraps: the DDP calls that are said so, in programs; problems: why others, that were to be, are not.

    starts: where programs that step by hand begin to train; unshown: why others of them are not said so.
    """

    programs: tuple[ProgramFacts, ...]
    wraps: frozenset[ast.Call]
    passes: tuple[Pass, ...]
    problems: dict[ast.Call, str]
    starts: tuple[Start, ...] = ()
    unshown: dict[ProgramFacts, str] = field(default_factory=dict)

    @property
    def files(self) -> frozenset[Names]:
        """The files of these programs: nothing in them is averaged by an optimizer."""
        return frozenset().union(*(program.files for program in self.programs))


@once
def after_backward(facts: Facts) -> AfterBackward:
    """What is said so, of the programs for which that was asked and of those that share a model with them."""
    wraps = {program: _wraps(facts, program) for program in programs_of(facts) if program.kind == "ddp"}
    unshown: dict[ProgramFacts, str] = {}
    sure = dict(_stepping(facts, unshown))
    wraps.update((program, [*steps.wraps]) for program, steps in sure.items())
    asked = [program for program in wraps if program.entry.source.path in facts.literally]
    asked = [program for program in asked if wraps[program] or reduces_by_hand(facts, program, COLLECTIVES)]
    asked = _sharing(facts, asked, wraps)
    problems: dict[ast.Call, str] = {}
    while True:
        failed = []
        every = [wrap for program in asked for wrap in wraps[program]]
        found: list[Pass] = []
        starts: list[Start] = []
        for program in asked:
            try:
                _refuse_others(facts, program, wraps[program])
                passes = [*_passes(facts, program, wraps[program], every)]
                if program in sure:
                    passes = [_stepped(one, sure[program], passes) for one in passes]
                    starts += starts_of_training(facts, program, wraps[program], every)
                found += passes
            except NotShown as problem:
                failed.append(program)
                problems.update((wrap.node, str(problem)) for wrap in wraps[program])
                if program in sure:
                    unshown[program] = str(problem)
        if not failed:
            nodes = frozenset(wrap.node for wrap in every)
            return AfterBackward(tuple(asked), nodes, _joined(found), problems, tuple(starts), unshown)
        lost = _sharing(facts, failed, wraps)
        asked = [program for program in asked if program not in lost]


def _stepping(facts: Facts, unshown: dict[ProgramFacts, str]) -> Iterator[tuple[ProgramFacts, HandSteps]]:
    """The programs of one process that are asked about, and step by hand, with what they step."""
    for program in programs_of(facts):
        if program.kind == "single" and program.entry.source.path in facts.literally:
            try:
                steps = stepped_by_hand(facts, program)
            except NotShown as problem:
                unshown[program] = str(problem)
            else:
                if steps is not None:
                    yield program, steps


def rate_tests(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The tests of each rank's own numbers by which programs that step by hand set their rates."""
    programs = [program for program in after_backward(facts).programs if program.kind == "single"]
    found = {
        rate.test: rate.names
        for program in programs
        for names, statement in steps_by_hand(facts, program)
        for rate in own_rates(facts, names, statement)
        if rate.test is not None
    }
    return ((names, test) for test, names in found.items())


def _stepped(one: Pass, steps: HandSteps, passes: list[Pass]) -> Pass:
    """A pass of a program of one process: a step that fails without a gradient shows that none is missing."""
    return replace(one, by_hand=True, unlike=not steps.all_there or len(passes) > 1)


def _joined(found: list[Pass]) -> tuple[Pass, ...]:
    """Each backward pass once, with the models of all."""
    by_call: dict[ast.Call, Pass] = {}
    for one in found:
        other = by_call.get(one.call, one)
        models = tuple(sorted({*one.models, *other.models}))
        tensors = tuple(sorted({*one.tensors, *other.tensors}))
        unlike = one.unlike or other.unlike
        by_call[one.call] = replace(one, models=models, tensors=tensors, unlike=unlike)
    return tuple(by_call.values())


def _wraps(facts: Facts, program: ProgramFacts) -> list[Wrap]:
    """The models that DDP wraps in a program."""
    here = [wrap for wrap in find_wraps(facts) if wrap.name in words.DDP and wrap.names in program.files]
    return [wrap for wrap in here if runs_in(facts, program, wrap.names, wrap.node)]


def _sharing(
    facts: Facts, programs: list[ProgramFacts], wraps: dict[ProgramFacts, list[Wrap]]
) -> list[ProgramFacts]:
    """Programs, and those of DDP that wrap a model by the same call, or make optimizers in the same file."""
    found = list(programs)
    for program in found:
        nodes = {wrap.node for wrap in wraps[program]}
        files = _making_optimizers(facts, program)
        found += [
            other
            for other in wraps
            if other not in found
            and (any(w.node in nodes for w in wraps[other]) or files & _making_optimizers(facts, other))
        ]
    return found


def _making_optimizers(facts: Facts, program: ProgramFacts) -> frozenset[Names]:
    return program.files & {optimizer.names for optimizer in every_optimizer(facts)}


def uses_gradients(facts: Facts, program: ProgramFacts) -> bool:
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


def averaged_literally(facts: Facts, names: Names, model: ast.expr) -> bool:
    """Whether an expression is a model of DDP whose gradients are averaged after a backward pass."""
    wraps = after_backward(facts).wraps
    return any(value.node in wraps for value in facts.flow.values(names, model))


def averaged_below(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether gradients are averaged right below a backward pass, as HVD416 writes it."""
    below = edits.following(names, _statement(names, call)[0])
    return below is not None and any(
        _averages_gradients(facts, names, inside)
        or any(
            _averages_gradients(facts, where, deeper)
            for where, function in facts.flow.functions(names, inside)
            for deeper in where.calls_in(function)
        )
        for inside in names.calls_in(below)
    )


def _averages_gradients(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call averages the gradient of each parameter that has one, as a loop goes over them."""
    given = any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in call.args)
    if not given or words.HVD_IN_PLACE.isdisjoint(facts.flow.qualified(names, call.func)):
        return False
    if not words.HVD_AVERAGE & facts.flow.qualified(names, keyword(call, "op") or call.func):
        return False
    loop = next(
        p for p in names.ancestors(call) if isinstance(p, (*LOOPS, ast.If, *_COMPREHENSIONS, ast.Module))
    )
    tests = [test for each in getattr(loop, "generators", ()) for test in each.ifs]
    return not isinstance(loop, ast.If) and all(_asks_for_gradient(test) for test in tests)


def _asks_for_gradient(test: ast.expr) -> bool:
    """`p.grad is not None`."""
    left = test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) else None
    return isinstance(left, ast.Attribute) and left.attr == "grad"


def _run_passes(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.Call]]:
    return [at for at in backward_calls(facts) if at[0] in program.files and runs_in(facts, program, *at)]


def averaged_passes(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.Call]]:
    """The backward passes below which gradients are averaged, where every other one only adds to these."""
    if not any(site.names in program.files for site in facts.calls(*words.HVD_IN_PLACE)):
        return []
    mine = _run_passes(facts, program)
    averaged = [(names, call) for names, call in mine if averaged_below(facts, names, call)]
    functions = {names.function(call) for names, call in averaged}
    return averaged if all(names.function(call) in functions for names, call in mine) else []


def _passes(facts: Facts, program: ProgramFacts, wraps: list[Wrap], every: list[Wrap]) -> Iterator[Pass]:
    """The backward passes of a program below which the gradients of its models are averaged."""
    if not wraps:
        return  # its own collectives reduce: of no pass it has to be known
    passes = _run_passes(facts, program)
    if not passes and uses_gradients(facts, program):
        raise NotShown("the backward pass that makes its gradients was not found")
    if passes and all(sync_of(*at) is Sync.NEVER for at in passes):
        raise NotShown("every backward pass of it is under no_sync()")
    known = frozenset().union(*(wrap.models for wrap in every))
    reached = {call: reached_models(facts, names, call, known) for names, call in passes}
    unseen = [wrap for wrap in wraps if not any(wrap.models & found for found in reached.values())]
    for names, call in passes:
        through = [w for w in wraps if not reached[call] or w in unseen or reached[call] & w.models]
        if through and sync_of(names, call) is not Sync.NEVER:
            written = {name_at(facts, names, call, wrap, every): wrap.name for wrap in through}
            models = tuple(sorted(name for name, kind in written.items() if kind != TENSOR))
            tensors = tuple(sorted(name for name, kind in written.items() if kind == TENSOR))
            unlike = any(is_on(keyword(wrap.node, name)) for wrap in through for name in MAY_BE_UNUSED)
            statement, window = _statement(names, call)
            unless = _left_to_later(facts, names, window)
            if window is not statement and not unless:
                place = names.place(call)
                raise NotShown(f"more code follows it where no_sync() may be active ({place})")
            yield Pass(names, call, statement, window, models, unlike, unless, tensors)


def _statement(names: Names, call: ast.Call) -> tuple[ast.stmt, ast.stmt]:
    """A backward pass, or the `with` around it that goes, since it says whether the pass reduces.

    Also that `with` where it is not the same, for more follows the pass in it.
    """
    statement = names.statement(call)
    while True:
        around = names.parents[statement]
        if not isinstance(around, ast.With) or context_of(names, around) is Sync.ALWAYS:
            return statement, statement
        if around.body[-1] is not statement:
            return statement, around
        statement = around


def _left_to_later(facts: Facts, names: Names, statement: ast.stmt) -> str:
    """The test of `with model.no_sync() if test else nullcontext():`, where it may be asked again below.

    Where the test is another one by then, or is not seen, all passes are averaged: that comes to the same,
    but where a step is in the `with`, too.
    """
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return ""
    context = statement.items[0].context_expr
    mention = mention_in(context)
    if mention is None:
        return ""
    try:
        choice = choice_of(names, mention, f"{horovod_name(facts, names)}.size() > 1")
    except edits.CannotEdit:
        return ""
    asked = {part.id for part in ast.walk(context) if isinstance(part, ast.Name)}
    changed = any(
        isinstance(part, ast.Name) and part.id in asked and not isinstance(part.ctx, ast.Load)
        for inside in statement.body
        for part in ast.walk(inside)
    )
    called = any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(choice.adds or "0")))
    return "" if choice.node is not context or changed or called else choice.adds


def reduces_by_hand(facts: Facts, program: ProgramFacts, collectives: tuple[str, ...]) -> bool:
    """Whether a program sends gradients through collectives: these stay, and nothing else averages."""
    return any(site.names in program.files for site in hand_reductions(facts, collectives))


def _refuse_others(facts: Facts, program: ProgramFacts, wraps: list[Wrap]) -> None:
    """What else trains, or is no plain gradient."""
    for wrap in wraps:
        if argument := changes_average(wrap):
            raise NotShown(f"DDP's {argument} changes what is averaged")
    for names, call in library_backwards(facts) if wraps else ():
        if names in program.files and runs_in(facts, program, names, call):
            raise NotShown(f"a library runs the backward pass at {names.place(call)}")
    for names, call in sparse_gradients(facts, program) if wraps else ():
        raise NotShown(f"gradients are sparse at {names.place(call)}")
    making = _making_optimizers(facts, program)
    for other in programs_of(facts):
        runs = other.kind == "single" and other is not program and does_more_than_define(other.entry)
        if runs and making & other.files and training_paths(facts, other):
            path = other.entry.source.path.name
            raise NotShown(f"{path}, which runs without DDP, creates its optimizer in the same file")
