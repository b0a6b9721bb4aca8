"""Where the models of a Horovod program are wrapped in DDP, and what keeps them from it.

Horovod averages what an optimizer holds, DDP what a module holds: a model is wrapped where its weights are
broadcast, since it is loaded and on its device there, and DDP broadcasts them in turn.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.decisions.averages_before_steps import averaging_before_steps
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.moves import moves_of
from hvdkit.migrate.facts.models.optimizers import every_optimizer, groups_added
from hvdkit.migrate.facts.models.parameter_roots import in_caller
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.horovod_wraps import Wrapped, called, wraps
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.rewrites.ddp_arguments import NotWrapped, arguments_of
from hvdkit.migrate.rewrites.ddp_helpers import in_file
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.value import Value
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import LOOPS, Names

STATE = ("state_dict", "named_parameters")
DISTRIBUTED = "DDP({}, broadcast_buffers=False)"


@dataclass(frozen=True)
class Wrapping:
    """What becomes of a DistributedOptimizer. problem: why it stays, at a place; then there are no edits.

    Where DDP would not average all that it trains, it averages before each step.
    """

    wrap: Wrapped
    edits: tuple[tuple[Names, Edit], ...] = ()
    problem: str = ""
    at: tuple[Names, ast.AST] | None = None


@dataclass(frozen=True)
class Broadcast:
    """`hvd.broadcast_parameters(model.state_dict(), root_rank=0)`. buffers: whether it sends these, too."""

    names: Names
    node: ast.Call
    model: ast.expr
    values: frozenset[Value]
    buffers: bool


@dataclass(frozen=True)
class _Place:
    """The statement that becomes the wrap, or above which it is written, and the model as it is written."""

    names: Names
    statement: ast.stmt
    model: str
    replaces: bool
    buffers: bool


@once
def ddp_wraps(facts: Facts) -> list[Wrapping]:
    """What becomes of every DistributedOptimizer of a project."""
    return [_wrapping(facts, wrap) for wrap in wraps(facts)]


@once
def model_broadcasts(facts: Facts) -> list[Broadcast]:
    """The broadcasts of the state or the parameters of one model."""
    found = []
    for site in called(facts, "broadcast_parameters", modules=words.HOROVOD):
        sent = given(site.node, 0, "params")
        if isinstance(sent, ast.Call) and isinstance(sent.func, ast.Attribute) and sent.func.attr in STATE:
            model = sent.func.value
            values = facts.flow.unwrap(facts.flow.values(site.names, model))
            whole = sent.func.attr == STATE[0]
            found.append(Broadcast(site.names, site.node, model, values, whole))
    return found


def _wrapping(facts: Facts, wrap: Wrapped) -> Wrapping:
    ways = (averaging_before_steps,) if _is_said_literally(facts, wrap) else (_edits, averaging_before_steps)
    problems: list[Wrapping] = []
    for way in ways:
        try:
            return Wrapping(wrap, tuple(way(facts, wrap)))
        except NotWrapped as error:
            problems.append(Wrapping(wrap, (), str(error), error.at or (wrap.names, wrap.node)))
        except edits.CannotEdit as error:
            problems.append(Wrapping(wrap, (), error.obstacle.said, (wrap.names, wrap.node)))
    return problems[-1]


def _is_said_literally(facts: Facts, wrap: Wrapped) -> bool:
    """Whether DDP is said literally in a program with this optimizer."""
    mine = (each for each in programs_of(facts) if each.entry.source.path in facts.literally)
    return any(wrap.names in program.files for program in mine)


def _edits(facts: Facts, wrap: Wrapped) -> Iterator[tuple[Names, Edit]]:
    """The edits that replace the optimizer's wrapper by one around each of its models. Raises NotWrapped."""
    arguments = arguments_of(facts, wrap)
    places = {(place.names, place.statement, place.model): place for place in _places(facts, wrap)}
    own = wrap.names.statement(wrap.node)
    below: list[str] = list(arguments.stops)
    for place in places.values():
        hooks = arguments.hooks(place.model)
        together = place.names is wrap.names and place.names.function(place.statement) is (
            wrap.names.function(own)
        )
        if hooks and not together:
            raise NotWrapped("its compression or op is given in a function that does not wrap the model")
        early = place.replaces and place.statement.lineno < own.lineno
        if early:
            below += hooks
        yield from ((place.names, edit) for edit in _wrapped(facts, place, [] if early else hooks))
    if arguments.helper:
        helper, name = in_file(wrap.names, arguments.helper)
        assert name == arguments.helper, "the hook's text names it"
        yield wrap.names, helper
    yield from ((wrap.names, edit) for edit in _unwrapped(wrap, own, below))


def _wrapped(facts: Facts, place: _Place, hooks: list[str]) -> Iterator[Edit]:
    """The wrap of one model, in the place of its broadcast or above its optimizer's wrapper."""
    source, model = place.names.source, place.model
    lines = []
    if place.buffers and _loads(facts):
        lines = [f"for buffer in {model}.buffers():", "    dist.broadcast(buffer, src=0)"]
    lines += [f"{model} = {DISTRIBUTED.format(model)}", *hooks]
    if place.replaces:
        yield _instead(place.names, place.statement, lines)
    else:
        yield edits.before(source, place.statement, lines)


def _instead(names: Names, statement: ast.stmt, lines: list[str]) -> Edit:
    """Lines in the place of a statement, at its indentation."""
    source = names.source
    start, _ = edits.own_lines(source, statement)
    indent = source.indent(source.line_at(start))
    text = f"{source.newline}{indent}".join(lines).replace("    ", source.unit_in(indent))
    return edits.replace(source, statement, text)


def _unwrapped(wrap: Wrapped, own: ast.stmt, lines: list[str]) -> Iterator[Edit]:
    """`x = hvd.DistributedOptimizer(x)` gone, or the optimizer alone in the place of the call."""
    source, optimizer = wrap.names.source, wrap.given
    if optimizer is None:
        raise NotWrapped("the optimizer is not given by itself")
    same = (
        isinstance(own, ast.Assign)
        and own.value is wrap.node
        and ast.dump(own.targets[0]).replace("Store()", "Load()") == ast.dump(optimizer)
        and len(own.targets) == 1
    )
    if same and lines:
        yield _instead(wrap.names, own, lines)
    elif same:
        yield edits.delete(wrap.names, own)
    else:
        yield from edits.unwrap(source, wrap.node, optimizer)
        if lines:
            yield edits.after(source, own, lines)


def _places(facts: Facts, wrap: Wrapped) -> Iterator[_Place]:
    """Where each model that the optimizer trains is wrapped. Raises NotWrapped.

    Horovod stops where named_parameters does not name all that the optimizer trains.
    """
    later = groups_added(facts, wrap.value)
    if later:
        raise NotWrapped("parameters are added to it later", later[0])
    named = given(wrap.node, 1, "named_parameters")
    if isinstance(named, ast.Call) and isinstance(named.func, ast.Attribute) and named.func.attr == STATE[1]:
        yield _place(facts, wrap, wrap.names, named.func.value)
        return
    optimizers = [each for each in every_optimizer(facts) if each.value in wrap.optimizers]
    if not optimizers or not all(each.roots for each in optimizers):
        raise NotWrapped("the model that it trains could not be followed")
    for optimizer in optimizers:
        if not optimizer.whole:
            raise NotWrapped(
                "it trains a tensor that may be in no module, and DDP averages what a module holds",
                (optimizer.names, optimizer.node),
            )
        for where, root in optimizer.roots:
            yield _place(facts, wrap, *in_caller(where, root, optimizer.passed))


def _place(facts: Facts, wrap: Wrapped, names: Names, root: ast.expr) -> _Place:
    """Where the module that holds some parameters is wrapped."""
    part: ast.expr = root
    while True:
        values = facts.flow.unwrap(facts.flow.values(names, part))
        found = [each for each in model_broadcasts(facts) if each.values & values]
        alike = [each for each in found if ast.dump(each.model) == ast.dump(part)]
        found = alike or found  # two models that one function makes have the same values
        if found or not isinstance(part, (ast.Attribute, ast.Subscript)):
            break
        part = part.value
    if found:
        last = max(found, key=lambda each: (each.names is wrap.names, each.node.lineno))
        statement = last.names.statement(last.node)
        if not (isinstance(statement, ast.Expr) and statement.value is last.node):
            raise NotWrapped("the broadcast of its weights is part of a larger statement", _at(last))
        place = _Place(last.names, statement, _written(last.names, last.model), True, last.buffers)
        _check(facts, wrap, place, last.model)
        return place
    own = wrap.names.statement(wrap.node)
    if names is not wrap.names or names.function(root) is not names.function(own):
        raise NotWrapped("the weights of its model are not broadcast, and it is built elsewhere")
    place = _Place(names, own, _written(names, root), False, False)
    _check(facts, wrap, place, root)
    return place


def _check(facts: Facts, wrap: Wrapped, place: _Place, model: ast.expr) -> None:
    """Raises NotWrapped where a model cannot be wrapped at a place."""
    names, statement = place.names, place.statement
    if facts.flow.made(names, model) & words.WRAPS:
        raise NotWrapped("its model is in DataParallel or DDP already", (names, statement))
    if any(isinstance(parent, LOOPS) for parent in names.ancestors(statement)):
        raise NotWrapped("its model would be wrapped again in each turn of a loop", (names, statement))
    if isinstance(model, ast.Name):
        scope = names.scope(model)
        if scope.owner(model.id) is not scope:
            raise NotWrapped(
                f"{model.id} is a variable of a different function than the one that wraps it",
                (names, statement),
            )
    mine = (each for each in every_optimizer(facts) if each.value in wrap.optimizers)
    for where, call in (move for optimizer in mine for move in moves_of(facts, optimizer)):
        below = call.lineno > (statement.end_lineno or statement.lineno)
        if where is names and below and names.function(call) is names.function(statement):
            raise NotWrapped("its model is moved to a device below its broadcast", (where, call))


def _written(names: Names, model: ast.expr) -> str:
    """The model as it can be assigned to: a variable, or an attribute of one. Raises NotWrapped."""
    holder = model
    while isinstance(holder, ast.Attribute):
        holder = holder.value
    if not isinstance(holder, ast.Name):
        raise NotWrapped("its model is no variable that could be assigned the wrapper", (names, model))
    return names.source.segment(model)


def _at(broadcast: Broadcast) -> tuple[Names, ast.AST]:
    return broadcast.names, broadcast.node


@once
def _loads(facts: Facts) -> bool:
    """Whether buffers may differ between ranks: some rank loads a state, or a module registers its own.

    Those of PyTorch's layers are the same constants on all ranks.
    """
    own = any(names.calls.get("register_buffer") for names in facts.files)
    return own or bool(facts.methods("load_state_dict"))
