"""Methods of what libraries gave: models, optimizers, samplers, random generators, paths, lists, texts."""

from __future__ import annotations

import ast

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import Split, Value, columns, joined, lift
from hvdkit.job.computed import apply
from hvdkit.job.container_methods import CONTAINERS, Method
from hvdkit.job.containers import (
    make_tuple,
)
from hvdkit.job.libraries import CALLED, contents, give, unknown
from hvdkit.job.machine import Machine
from hvdkit.job.operators import is_short
from hvdkit.job.options import OPTIONS
from hvdkit.job.randomness import STATE, draw, draw_numbers, draw_order, state_key
from hvdkit.job.record import Stepped
from hvdkit.job.terms import Term
from hvdkit.job.training import (
    AVERAGES,
    EPOCH,
    backward,
    change_by,
    copied,
    is_averaged_by_another,
    is_of_optimizer,
    meet,
    move,
    overwrite,
    parts,
    root,
    set_by,
    set_weights,
    snapshot,
)
from hvdkit.job.writing import is_path, is_writing, write_file
from hvdkit.library import effect
from hvdkit.library.effects import Makes
from hvdkit.library.methods import (
    DRAWN_IN_PLACE,
    IN_PLACE,
    MOVES,
    REPLACES,
    SAME,
    WEIGHTS_OF,
    WRITES_FIRST,
)

# Of a text, without those that may give a long one.
OF_TEXT = frozenset(
    (
        "startswith",
        "endswith",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "title",
        "capitalize",
        "isdigit",
        "removeprefix",
        "removesuffix",
        "split",
        "rsplit",
        "partition",
        "rpartition",
        "find",
        "rfind",
        "index",
        "rindex",
        "count",
        "replace",
        "zfill",
        "format",
    )
)


def call_method(machine: Machine, term: Term, given: Arguments, site: ast.AST) -> Value:
    """Call `holder.name(...)` where the program itself defines no such method."""
    name, holder = term.parts
    assert isinstance(name, str) and isinstance(holder, Term)
    container = CONTAINERS.get(holder.kind, {}).get(name)
    if container is not None:
        return container(machine, holder, given, site)
    method = METHODS.get(name)
    give(machine, given)
    if method is not None:
        return method(machine, holder, given, site)
    if holder.kind == "const" and name in (*OF_TEXT, "join") and isinstance(holder.parts[0], str):
        return _of_text(machine, holder, name, given, site)
    if holder.kind == "made" and holder.parts[0] == "state" and name not in ("get_state", "set_state"):
        return _of_state(machine, holder, name, given, site)
    if holder.kind != "made" and is_of_optimizer(holder):
        for value in given:
            change_by(machine, value, site)
    return unknown(machine, term, given, site)


# Terms of these kinds have no attributes that a program set, and no weights.
PLAIN = frozenset(("call", "each", "op", "text", "agreed"))


def call_alike(machine: Machine, callee: Split, given: Arguments, site: ast.AST) -> Value | None:
    """Call one method of what differs by process, at once for all; None where it takes each apart."""
    names = {
        term.parts[0] if term.kind == "attribute" and term.inner[0].kind in PLAIN else None for term in callee
    }
    name = names.pop()
    if names or not isinstance(name, str):
        if any(_makes_optimizer(term) for term in callee):
            set_by(machine, callee, site)
        return None
    holder = joined([term.inner[0] for term in callee])
    if name == "backward":
        backward(machine, holder, site)
        return machine.terms.none
    if METHODS.get(name) in (_same, _moved):
        return holder
    if name in METHODS or any(isinstance(value, Term) and value.kind in CALLED for value in given):
        return None
    machine.risks += 1
    return machine.site("call", site, callee, *given)


def _makes_optimizer(term: Term) -> bool:
    found = effect(str(term.parts[0])) if term.kind == "library" else None
    return isinstance(found, Makes) and found.kind == "optimizer"


def _of_text(machine: Machine, holder: Term, name: str, given: Arguments, site: ast.AST) -> Value:
    method = getattr(holder.parts[0], name)

    def of(*terms: Term) -> Term:
        short = is_short(holder.parts[0], *(part.parts[0] for part in terms if part.kind == "const"))
        return (apply(machine, method, *terms) if short else None) or machine.terms.make(
            "call", name, holder, *terms
        )

    values = contents(machine, given)
    return lift(of, *values) if values else of()


ORDERS = ("permutation", "permuted", "shuffle", "choice", "sample", "choices")


def _of_state(machine: Machine, holder: Term, name: str, given: Arguments, site: ast.AST) -> Value:
    """A draw from a generator of its own."""
    if name in ("manual_seed", "seed"):
        number = given.get(0, "seed")
        seeded = machine.own("a random seed", site) if number is None else number
        machine.write((holder, STATE), lift(lambda term: machine.terms.make("seeded", term), seeded))
        return holder
    if name in ORDERS:
        return draw_order(machine, (holder, STATE), given, site, False, name == "shuffle")
    return draw_numbers(machine, (holder, STATE), site, *given.positional)


def _backward(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    backward(machine, holder, site)
    for value in given:
        backward(machine, value, site)
    return machine.terms.none


def _same(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    return holder


def _moved(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`model.to(device)`: the object itself."""
    move(machine, holder, make_tuple(machine, [*given]), site)
    return holder


def _weights_of(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`model.state_dict()`, `model.parameters()`: the weights themselves, and no copy."""
    return machine.terms.make("weights of", holder)


def _load(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`model.load_state_dict(state)`."""
    machine.risks += 1
    value = given.get(0, "state_dict") or given.get(0, "weights")
    if value is not None and parts(machine, root(holder)):

        def of(term: Term) -> Value:
            return (snapshot(machine, term) if term.kind == "weights of" else None) or term

        set_weights(machine, holder, machine.each(value, of), site)
        copied(machine, holder)
    return machine.terms.none


def _compile(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`model.compile(optimizer, jit_compile=True)`: XLA compiles the step, and what averages in it."""
    optimizer = given.get(0, "optimizer") or machine.terms.none
    averages = any(machine.read((term, AVERAGES)) is machine.terms.true for term in columns(optimizer))
    if averages and given.named.get("jit_compile") is machine.terms.true:
        machine.record.by_xla.append(machine.place(site))
    return unknown(machine, machine.terms.make("attribute", "compile", holder), given, site)


def _gradient(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`tape.gradient(loss, variables)`, of a tape that averages."""
    if machine.read((holder, AVERAGES)) is machine.terms.true:
        meet(machine, "gradients", site)
    return unknown(machine, machine.terms.make("attribute", "gradient", holder), given, site)


def _set_epoch(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    value = given.get(0, "epoch")
    if value is not None:
        machine.set_attribute(holder, EPOCH, value)
        machine.told[holder] = machine.place(site)
    return machine.terms.none


def _step(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`optimizer.step()`, and `scaler.step(optimizer)`, of one that averages."""
    stepping = (holder, *(part for value in given for part in columns(value)))
    true, false = machine.terms.true, machine.terms.false
    marks = [columns(machine.read((term, AVERAGES)) or false) for term in stepping]
    averages = joined([machine.terms.truth(true in each) for each in zip(*marks)])
    if true in columns(averages):
        meet(machine, "gradients", site)
    if false in columns(averages) and is_averaged_by_another(machine, holder):
        bare = lift(machine.terms.both, machine.active, lift(machine.terms.negated, averages))
        machine.record.stepped.append(Stepped(machine.place(site), bare))
    if holder.kind == "made" and holder.parts[0] == "scheduler":
        change_by(machine, given.get(0) or machine.terms.none, site)
    return machine.site("call", site, holder)


def _in_place(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parameter.data.copy_(other)` and the like."""
    name = site.func.attr if isinstance(site, ast.Call) and isinstance(site.func, ast.Attribute) else ""
    overwrite(machine, holder, [*given], site, keeps=name not in REPLACES)
    return holder


def _drawn_in_place(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parameter.data.normal_()`."""
    value = draw(machine, state_key("torch"), site)
    if parts(machine, root(holder)):
        set_weights(machine, holder, value, site)
    return holder


def _clone(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`parameter.detach().clone()`: the weights as they are now."""
    return snapshot(machine, holder) or holder


def _cut(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`tensor.chunk(number)`."""
    count = given.get(0, "chunks") or machine.terms.none
    return lift(lambda number: machine.terms.make("pieces", holder, number), count)


def _apply(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`model.apply(function)`."""
    function = given.get(0, "fn")
    if function is not None:
        machine.call(function, Arguments([holder]), site)
    return holder


def _write(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`path.write_text(text)`."""
    write_file(machine, holder, site)
    return machine.terms.none


def _write_first(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`frame.to_csv(path)`."""
    path = given.get(0)
    if path is not None:
        write_file(machine, path, site)
    return machine.terms.none


def _renamed(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`path.replace(other)`, and that of a text."""
    if holder.kind == "const":
        return _of_text(machine, holder, "replace", given, site)
    if is_path(holder):
        return _write_first(machine, holder, given, site)
    return unknown(machine, machine.terms.make("attribute", "replace", holder), given, site)


def _open(machine: Machine, holder: Term, given: Arguments, site: ast.AST) -> Value:
    """`path.open("w")`."""
    machine.risks += 1
    if is_writing(given.get(0, "mode")):
        write_file(machine, holder, site)
    return machine.site("call", site, holder, *given)


METHODS: dict[str, Method] = {
    "backward": _backward,
    "apply": _apply,
    "chunk": _cut,
    "tensor_split": _cut,
    "load_state_dict": _load,
    "set_weights": _load,
    "compile": _compile,
    "gradient": _gradient,
    "set_epoch": _set_epoch,
    "step": _step,
    "write_text": _write,
    "write_bytes": _write,
    "rename": _renamed,
    "replace": _renamed,
    **dict.fromkeys(WRITES_FIRST, _write_first),
    "open": _open,
    **OPTIONS,
    "clone": _clone,
    **dict.fromkeys(SAME, _same),
    **dict.fromkeys(MOVES, _moved),
    **dict.fromkeys(WEIGHTS_OF, _weights_of),
    **dict.fromkeys(IN_PLACE, _in_place),
    **dict.fromkeys(DRAWN_IN_PLACE, _drawn_in_place),
}
