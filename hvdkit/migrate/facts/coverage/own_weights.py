"""Modules that start from random weights of each rank's own: no broadcast reaches them, and no seed is set.

Those in an optimizer are broadcast. A frozen target, a teacher or an average that nothing copies is not,
unless somebody thinks of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.data.random_splits import libraries_seeded
from hvdkit.migrate.facts.data.training_loaders import seeds
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values.handed_out import assigned_to
from hvdkit.migrate.values.value import Value
from hvdkit.migrate.values.vocabulary import HVD_BROADCAST
from hvdkit.migrate.values.wrappers import RETURNS_SELF
from hvdkit.source.index.names import COMPREHENSIONS, FUNCTIONS, Names

# Layers that draw their first weights: https://pytorch.org/docs/stable/nn.html
_NUMBERED = tuple(f"{name}{n}d" for name in ("Conv", "ConvTranspose", "LazyConv") for n in (1, 2, 3))
_LAYERS = (
    *("Linear", "LazyLinear", "Bilinear", "Embedding", "EmbeddingBag", "MultiheadAttention", *_NUMBERED),
    *("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"),
    *("Transformer", "TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoderLayer"),
)
LAYERS = tuple(f"torch.nn.{name}" for name in _LAYERS)
DRAWS = tuple(f"torch.{name}" for name in ("rand", "randn", "randint", "randperm", "normal", "bernoulli"))
_STATES = ("state_dict", "named_parameters", "parameters", "named_buffers", "buffers")
_INSIDE = (ast.Call, ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.keyword, *COMPREHENSIONS)


@dataclass(frozen=True)
class Planned:
    """What broadcasts that are still to be written will reach: models, and how these are written."""

    models: frozenset[Value] = frozenset()
    written: frozenset[str] = frozenset()


NOTHING = Planned()


def own_weights(
    facts: Facts, program: ProgramFacts, planned: Planned = NOTHING
) -> list[tuple[Names, ast.Call]]:
    """Where a program makes modules whose first weights no broadcast and no common seed makes the same."""
    if all_draw_alike(facts, program):
        return []
    sent = _sent(facts, program, planned.models)
    shared = {value.node for value in _with_parts(facts, sent)}
    found = [at for at in _outside_of_state(facts) if at[0] in program.files and runs_in(facts, program, *at)]
    for names, call, owner in _constructions(facts):
        if names not in program.files or not runs_in(facts, program, names, call):
            continue
        if _built_for_others(names, call) or _seeded_alike_above(facts, program, names, call):
            continue
        if owner is None:
            if (
                call not in shared
                and not _inside(names, call) & shared
                and not _part_of(facts, names, call) & shared
            ):
                found.append((names, call))
        elif owner not in shared or _another_is_shared(facts, program, names, call, shared, planned):
            parts = _parts(facts, owner, {value.node for value in sent})
            found += [(names, call)] if parts is None else parts
    return list(dict.fromkeys(found))


def all_draw_alike(facts: Facts, program: ProgramFacts) -> bool:
    """Whether every rank of a program draws the same weights: torch is seeded on each, and alike."""
    by_rank = any(apart for _, _, apart in seeds(facts, program))
    return "torch" in libraries_seeded(facts, program) and not by_rank


@once
def _outside_of_state(facts: Facts) -> list[tuple[Names, ast.Call]]:
    """Random tensors that a module keeps outside of its state: `self.frequencies = torch.randn(8)`."""
    return [
        (site.names, site.node)
        for site in facts.calls(*DRAWS)
        if _in_module(facts, site) is not None and _stored_as_it_is(site.names, site.node)
    ]


def _stored_as_it_is(names: Names, call: ast.Call) -> bool:
    """Whether a tensor, or what is computed from it, becomes an attribute, and no Parameter."""
    statement = names.statement(call)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return False
    around = (parent for parent in names.ancestors(call) if isinstance(parent, ast.Call))
    return not any(name.endswith(".Parameter") for parent in around for name in names.qualified(parent.func))


def _sent(facts: Facts, program: ProgramFacts, planned: frozenset[Value]) -> set[Value]:
    """What is broadcast, or loads a state, by its own name."""
    values = set(planned)
    for site in facts.calls(*HVD_BROADCAST):
        if site.names in program.files:
            for given in (*site.node.args, *(item.value for item in site.node.keywords)):
                values |= _modules(facts, site.names, wholes(site.names, given))
    for names, _, receiver in facts.methods("load_state_dict"):
        if names in program.files:
            values |= _modules(facts, names, [receiver])
    for names, model in _through_groups(facts, program):
        values |= _modules(facts, names, [model])
    return values


def _with_parts(facts: Facts, modules: set[Value]) -> set[Value]:
    """Modules, and those that they are made of."""
    found, new = set(modules), modules
    while new:
        new = {part for value in new for part in _given_to(facts, value)} - found
        found |= new
    return found


def _given_to(facts: Facts, module: Value) -> set[Value]:
    """The modules that a module is made of: what its call is given, or what its class stores and hands on."""
    names, node = module.names, module.node
    if isinstance(node, ast.Call):
        return _modules(facts, names, [*node.args, *(item.value for item in node.keywords)])
    if module.kind != "object" or not isinstance(node, ast.ClassDef):
        return set()
    handed: list[ast.expr] = []
    for part in names.walk(node):
        if isinstance(part, ast.Call):
            handed += [*part.args, *(item.value for item in part.keywords)]
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute):
            handed.append(part.value)
    return {value for value in _modules(facts, names, handed) if value.kind in ("made", "object")}


def wholes(names: Names, given: ast.expr) -> Iterator[ast.AST]:
    """What a broadcast is given the state of: `net.head` of `net.head.state_dict()`, and not `net`."""
    for part in names.walk(given):
        around = names.parents[part]
        if not isinstance(around, ast.Attribute) or around.attr in _STATES:
            yield part


def _modules(facts: Facts, names: Names, nodes: Iterable[ast.AST]) -> set[Value]:
    """What expressions may be, wrappers taken off and lists opened."""
    found: set[Value] = set()
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            for value in facts.flow.unwrap(facts.flow.values(names, node)):
                found.add(value)
                elements = getattr(value.node, "elts", None) or getattr(value.node, "values", None)
                for element in elements if isinstance(elements, list) else ():
                    found |= facts.flow.unwrap(facts.flow.values(value.names, element))
    return found


@once
def _constructions(facts: Facts) -> list[tuple[Names, ast.Call, ast.ClassDef | None]]:
    """The calls outside of modules that make one with random weights, and its class if it has one here."""
    found: list[tuple[Names, ast.Call, ast.ClassDef | None]] = [
        (site.names, site.node, None) for site in facts.calls(*LAYERS) if not _in_module(facts, site)
    ]
    drawing = {_in_module(facts, site) for site in facts.calls(*LAYERS)} - {None}
    for owner in drawing:
        for names in facts.files:
            for call in names.calls.get(owner.name, ()) if owner is not None else ():
                made = {value.node for value in facts.flow.values(names, call)}
                if owner in made and not _in_module(facts, Site(names, call, "")):
                    found.append((names, call, owner))
    return found


def _in_module(facts: Facts, site: Site) -> ast.ClassDef | None:
    """The module class of the project in whose body a call stands."""
    owner = site.names.class_around(site.node)
    if owner is None:
        return None
    bases = facts.flow.bases(Value("class", owner.name, owner, site.names))
    return owner if any(base.startswith("torch.nn.") for base in bases) else None


def _seeded_alike_above(facts: Facts, program: ProgramFacts, names: Names, call: ast.Call) -> bool:
    """Whether the last seed above a construction, in its function, is the same on all ranks."""
    function = names.function(call)
    above = [
        (site.lineno, apart)
        for where, site, apart in seeds(facts, program)
        if where is names and names.function(site) is function and site.lineno < call.lineno
        if "torch.manual_seed" in where.qualified(site.func)
    ]
    return bool(above) and not max(above)[1]


def _built_for_others(names: Names, call: ast.Call) -> bool:
    """Whether a function makes a layer for what it returns, or adds it to a list of layers."""
    function = names.function(call)
    returns = function is not None and any(names.returns.get(function, ()))
    around = names.parents[call]
    added = isinstance(around, ast.Call) and getattr(around.func, "attr", "") in (
        "append",
        "insert",
        "add_module",
    )
    return returns or added


def _part_of(facts: Facts, names: Names, call: ast.Call) -> set[ast.AST]:
    """The module that a layer is put into: `resnet` of `resnet.fc = nn.Linear(512, 10)`."""
    target = assigned_to(names.statement(call), call)
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        return set()
    return {value.node for value in _modules(facts, names, names.walk(target.value))}


def _inside(names: Names, call: ast.Call) -> set[ast.AST]:
    """The calls that a construction stands in: `nn.Sequential(nn.Linear(2, 1))`."""
    found: set[ast.AST] = set()
    for parent in names.ancestors(call):
        if not isinstance(parent, _INSIDE):
            break
        found.add(parent)
    return found


def _another_is_shared(
    facts: Facts,
    program: ProgramFacts,
    names: Names,
    call: ast.Call,
    shared: set[ast.AST],
    planned: Planned,
) -> bool:
    """Whether it is another object of the class that is broadcast: `net, target = Net(), Net()`."""
    target = variable_of(names, call)
    if target is None or len(names.calls.get(getattr(call.func, "id", ""), ())) < 2:
        return False
    written = ast.unparse(target)
    uses = names.uses.get(target.id, ()) if isinstance(target, ast.Name) else ()
    around = [(use, names.parents[use]) for use in uses]
    around = [(use, names.parents[up] if isinstance(up, ast.keyword) else up) for use, up in around]
    handed = any(
        isinstance(up, ast.Call)
        and use is not up.func
        and {v.node for v in facts.flow.values(names, up)} & shared
        for use, up in around
    )
    return not handed and written not in planned.written and written not in sent_by_text(facts, program)


def sent_by_text(facts: Facts, program: ProgramFacts) -> set[str]:
    """What is broadcast, or loads a state, as it is written there."""
    parts: list[ast.AST] = [
        part
        for where in program.files
        for site in (*_broadcasts(facts, where), *where.calls.get("load_state_dict", ()))
        for part in where.walk(site)
        if isinstance(part, (ast.Name, ast.Attribute))
    ]
    parts += [model for _, model in _through_groups(facts, program)]
    return {ast.unparse(part) for part in parts}


def variable_of(names: Names, call: ast.Call) -> ast.expr | None:
    """The variable that gets what a call makes, moved or not: `net` of `net = Net().to(device)`."""
    made: ast.expr = call
    while isinstance(around := names.parents[made], ast.Attribute) and around.attr in RETURNS_SELF:
        outer = names.parents[around]
        if not isinstance(outer, ast.Call):
            return None
        made = outer
    return assigned_to(names.statement(call), made)


@once
def _through_groups(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.expr]]:
    """The modules whose parameters are gathered for an optimizer, where the groups of one are broadcast.

    `params += list(self.models["pose"].parameters())`, and below it `Adam(params)`.
    """
    if not any(
        "param_groups" in ast.unparse(call) for names in program.files for call in _broadcasts(facts, names)
    ):
        return []
    found: list[tuple[Names, ast.expr]] = []
    for optimizer in averaging_optimizers(facts):
        names, given = optimizer.names, optimizer.node.args[:1]
        gathered = ast.unparse(given[0]) if given and isinstance(given[0], (ast.Name, ast.Attribute)) else ""
        for call in names.calls.get("parameters", ()) if names in program.files else ():
            statement = names.statement(call)
            grows = isinstance(statement, ast.AugAssign) and ast.unparse(statement.target) == gathered
            if grows and isinstance(call.func, ast.Attribute):
                found.append((names, call.func.value))
    return found


def _broadcasts(facts: Facts, names: Names) -> Iterator[ast.Call]:
    yield from (site.node for site in facts.calls(*HVD_BROADCAST) if site.names is names)


def _parts(facts: Facts, owner: ast.ClassDef, sent: set[ast.AST]) -> list[tuple[Names, ast.Call]] | None:
    """The layers of a class that are not broadcast, where others of it are; None where none is."""
    layers = [
        (site.names, site.node)
        for site in facts.calls(*LAYERS)
        if _in_module(facts, site) is owner and isinstance(site.names.function(site.node), FUNCTIONS)
    ]
    left = [(names, call) for names, call in layers if call not in sent and not _inside(names, call) & sent]
    return left if len(left) < len(layers) else None
