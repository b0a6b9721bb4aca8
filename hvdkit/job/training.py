"""Models, loaders, samplers and optimizers: what a training works with."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import RANKS, Value, alike, columns, joined, lift
from hvdkit.job.containers import ITEMS, KEYS, elements, get_item, make_tuple
from hvdkit.job.machine import Machine
from hvdkit.job.processes import number
from hvdkit.job.randomness import draw, state_key
from hvdkit.job.record import Loaded, Met, Moved, Place, Setting, Weights, is_sampler
from hvdkit.job.terms import Term, within

WEIGHTS, EPOCH, AVERAGES, ARGUMENTS, CLASS = ":weights", ":epoch", ":averages", ":arguments", ":class"
STATISTICS = ":statistics"  # of a layer that normalizes batches, each rank's own
SHARED = "statistics of all ranks"
HOOKED, PUT = ":hooked", ":put"  # whether parameters have Horovod's hooks, and where they were moved to
GIVEN = ":given"  # what the program's own sampler gives a loader
TRACE = ("collectives", "")
PARAMETERS = {
    "loader": ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler"),
    "sampler": ("dataset", "num_replicas", "rank", "shuffle", "seed", "drop_last"),
    "optimizer": ("params",),
}

SCHEDULES = ("function", "bound", "partial")  # functions of the number of a step
HOLDERS = ("object", "made", "list", "dict", "tuple")  # what may be a model, or several


def make(machine: Machine, kind: str, given: Arguments, site: ast.AST, state: str = "torch") -> Term:
    """An object of a library. state: what the weights of a layer are drawn from."""
    made = machine.terms.make("made", kind, site, machine.context)
    machine.record.places.setdefault(site, machine.frame.module)
    machine.members.setdefault(made, {})
    names = PARAMETERS.get(kind, ())
    for name, value in (*zip(names, given.positional), *given.named.items()):
        machine.set_attribute(made, name, value)
    if kind in ("layer", "parameter"):
        of = given.get(0, "data")
        drawn = of if kind == "parameter" and of is not None else draw(machine, state_key(state), site)
        machine.write((made, WEIGHTS), drawn)
    if kind == "sampler":
        machine.write((made, EPOCH), machine.terms.unset)
    if kind == "norm":
        machine.write((made, STATISTICS), machine.terms.make("no statistics"))
    if kind in ("optimizer", "scheduler"):
        for value in (*given.positional[1:], *given.named.values(), *_of_groups(machine, given)):
            set_by(machine, _scheduled(machine, value, site), site)
    if kind == "parts":
        machine.set_attribute(
            made,
            ARGUMENTS,
            lift(lambda *terms: machine.terms.make("tuple", *terms), *given)
            if [*given]
            else machine.terms.none,
        )
    return made


def _of_groups(machine: Machine, given: Arguments) -> Iterator[Value]:
    """The settings of an optimizer's groups: `[{"params": ..., "lr": 0.1}]`."""
    for group, _ in elements(machine, given.get(0, "params") or machine.terms.none) or ():
        keys = elements(machine, group) if isinstance(group, Term) and group.kind == "dict" else None
        for key, _ in keys or ():
            if isinstance(group, Term) and key is not machine.terms.const("params"):
                yield get_item(machine, group, key)


def share(machine: Machine, loader: Term, site: ast.AST) -> Term:
    """A copy of a loader that loads the share of each rank."""
    sampler = make(machine, "sampler", Arguments([]), site)
    held_by = {name: machine.read((loader, name)) for name in ("dataset", "batch_size", "shuffle")}
    named = {name: value for name, value in held_by.items() if value is not None}
    machine.set_attribute(sampler, "shuffle", named.get("shuffle", machine.terms.false))
    return make(machine, "loader", Arguments([], {**named, "sampler": sampler}), site)


def is_loader(term: Term) -> bool:
    """Whether a term is a DataLoader."""
    return term.kind == "made" and term.parts[0] == "loader"


def share_of(machine: Machine, loader: Term) -> Value:
    """What tells apart what each process loads, as far as it is known."""
    given = machine.read((loader, GIVEN))
    if given is not None:
        return given
    sampler = machine.read((loader, "sampler")) or machine.read((loader, "batch_sampler"))
    if sampler is not None and sampler is not machine.terms.none:
        if is_sampler(sampler):
            assert isinstance(sampler, Term)
            return machine.read((sampler, "rank")) or number(machine, "rank")
        return sampler
    shuffle = machine.read((loader, "shuffle"))
    dataset = machine.read((loader, "dataset")) or machine.terms.none
    if shuffle is not None and shuffle is not machine.terms.false:
        return number(machine, "rank")  # an own order
    return dataset


def epoch_of(machine: Machine, loader: Term) -> tuple[Value | None, Place | None]:
    """What the order of a sampler is drawn from, its seed and its epoch, and where that was set last.

    None where the loader has no order of a sampler.
    """
    sampler = machine.read((loader, "sampler"))
    if not isinstance(sampler, Term) or not is_sampler(sampler):
        return None, None
    if machine.read((sampler, "shuffle")) is machine.terms.false:
        return None, None
    told = machine.told.get(sampler)
    if told is None and not machine.record.handed.isdisjoint((loader, sampler)):
        return None, None  # who was given it may do so
    epoch = machine.read((sampler, EPOCH)) or machine.terms.unset
    seed = machine.read((sampler, "seed"))
    if seed is None:
        return epoch, told
    return lift(lambda *both: machine.terms.make("order", *both), seed, epoch), told


def root(term: Term) -> Term:
    """The object whose weights a term is about: `model.module.state_dict()`, a parameter of it."""
    while term.kind in ("attribute", "weights of", "each", "item", "items of", "base"):
        inner = [*term.inner]
        if not inner:
            break
        term = inner[-1] if term.kind in ("attribute", "base") else inner[0]
    return term


def parts(machine: Machine, term: Term, of: str = WEIGHTS) -> list[Term]:
    """A model and all inside of it that has weights, or statistics."""
    found: dict[Term, None] = {}
    seen: set[Term] = set()
    waiting = [term]
    while waiting:
        holder = waiting.pop()
        if holder in seen:
            continue
        seen.add(holder)
        if (holder, of) in machine.store.values:
            found[holder] = None
        waiting += _held_by(machine, holder)
    return [*found]


def _held_by(machine: Machine, holder: Term) -> Iterator[Term]:
    """What an object or a container holds; of any other term what it is made of."""
    if holder.kind not in ("object", "made"):
        yield from holder.inner
    names: list[Hashable] = [*machine.members.get(holder, ())]
    if holder.kind == "arguments":
        count = holder.parts[2]
        names += range(count) if isinstance(count, int) else ()
    if holder.kind in ("list", "set"):
        names.append(ITEMS)
    if holder.kind == "dict":
        keys = machine.store.values.get((holder, KEYS))
        names += [KEYS, *(keys.inner if isinstance(keys, Term) else ())]
    for name in names:
        value = machine.store.values.get((holder, name))
        if value is not None:
            yield from {*columns(value)}


def snapshot(machine: Machine, term: Term) -> Value | None:
    """The weights of a model as they are now; None where the term has none."""
    holder = root(term)
    found = parts(machine, holder) if holder.kind in HOLDERS else []
    weights = [machine.read((part, WEIGHTS)) or machine.terms.unset for part in found]
    if not weights:
        return None
    return (
        weights[0]
        if len(weights) == 1
        else lift(lambda *all_of: machine.terms.make("weights", *all_of), *weights)
    )


def set_weights(machine: Machine, term: Term, value: Value, site: ast.AST) -> None:
    """Write the weights of a model, all of them."""
    for part in parts(machine, root(term)):
        machine.write((part, WEIGHTS), value)
        machine.changed[part] = machine.place(site)


def overwrite(machine: Machine, term: Term, values: Sequence[Value], site: ast.AST, keeps: bool) -> None:
    """Write values over weights. keeps: whether what was there before is a part of what is there then."""
    own = {*parts(machine, root(term))}
    if not own:
        return
    made_of = dict.fromkeys(part for value in values for each in columns(value) for part in within(each))
    holders = [part for part in made_of if part.kind in HOLDERS and parts(machine, part)]
    if any(not own.issuperset(parts(machine, part)) for part in holders):
        copied(machine, term)
    now = [snapshot(machine, part) for part in (*([term] if keeps else ()), *holders)]
    of = [*values, *(weights for weights in now if weights is not None)]
    set_weights(machine, term, lift(lambda *all_of: machine.terms.make("moved", site, *all_of), *of), site)


def copied(machine: Machine, term: Term) -> None:
    """Remember a copy of other weights, which have to be the same on all ranks even if it is not trained."""
    machine.copies.update(dict.fromkeys(parts(machine, root(term))))


def send_weights(machine: Machine, term: Term) -> None:
    """Give all ranks rank 0's weights, of all models that an argument is made of."""
    for key in (WEIGHTS, STATISTICS):
        for part in parts(machine, term, key):
            value = machine.read((part, key))
            if value is not None:
                machine.write((part, key), from_root(value))


def average_by(machine: Machine, optimizer: Value) -> None:
    """An optimizer averages from here on: by hooks of the parameters that it has."""
    for each in {*columns(optimizer)}:
        machine.set_attribute(each, AVERAGES, machine.terms.true)
        for term in {*columns(machine.read((each, "params")) or machine.terms.none)}:
            for part in parts(machine, term):
                machine.write((part, HOOKED), machine.terms.true)


def is_averaged_by_another(machine: Machine, optimizer: Term) -> bool:
    """Whether an optimizer that averages nothing has parameters with the hooks of one that does."""
    if optimizer.kind != "made" or optimizer.parts[0] != "optimizer":
        return False
    given = {*columns(machine.read((optimizer, "params")) or machine.terms.none)}
    return any((part, HOOKED) in machine.store.values for term in given for part in parts(machine, term))


def move(machine: Machine, model: Term, to: Value, site: ast.AST) -> None:
    """A model is moved, to where it is not yet: hooks of its parameters are lost."""
    if model.kind not in ("object", "made"):
        return
    found = parts(machine, model)
    hooked = any((part, HOOKED) in machine.store.values for part in found)
    if hooked and any(machine.read((part, PUT)) is not to for part in found):
        machine.moved.append(Moved(machine.place(site), machine.active))
    for part in found:
        machine.write((part, PUT), to)


def _gather(machine: Machine, model: Term, site: ast.AST) -> None:
    """A model sees samples in training: each rank its own, unless a layer shares what it has seen."""
    for part in parts(machine, model, STATISTICS):
        if machine.read((part, STATISTICS)) is not machine.terms.make(SHARED):
            machine.write((part, STATISTICS), machine.own("what BatchNorm has seen", site))


def share_statistics(machine: Machine, term: Term) -> None:
    """`layer.__class__ = SyncBatchNorm`: the layers of a model compute their statistics together."""
    for part in parts(machine, root(term), STATISTICS):
        machine.write((part, STATISTICS), machine.terms.make(SHARED))


def statistics(machine: Machine, model: Term) -> list[Value]:
    """What a model has gathered of the samples that it was trained on."""
    found = parts(machine, model, STATISTICS) if model.kind in ("object", "made") else []
    return [machine.read((part, STATISTICS)) or machine.terms.unset for part in found]


def from_root(value: Value) -> Value:
    """What rank 0 has, for all ranks."""
    terms = [*columns(value)]
    return joined([terms[0], *(terms[RANKS[0]] for _ in RANKS)])


def meet(machine: Machine, name: str, site: ast.AST) -> None:
    """A collective: each process that comes here takes part in it."""
    none = machine.terms.make("no collective")
    trace = lift(machine.terms.or_else, machine.read(TRACE) or none, none)
    machine.write(TRACE, lift(lambda before: machine.terms.make("met", name, before), trace))
    machine.record.met.append(Met(machine.place(site), name, machine.active, machine.under))
    if not machine.by_xla.isdisjoint(machine.running):
        machine.record.by_xla.append(machine.place(site))


def set_by(machine: Machine, value: Value, site: ast.AST) -> None:
    """Record what an optimizer goes by from here on."""
    machine.record.settings.append(Setting(machine.place(site), value, machine.active))


def change_by(machine: Machine, value: Value, site: ast.AST) -> None:
    """Record what an optimizer goes by from here on in the processes that come here; others keep theirs."""
    terms, active = machine.terms, machine.active
    changed = lift(lambda here, new: terms.either(here, new, terms.unset), active, value)
    machine.record.settings.append(Setting(machine.place(site), changed, active, changes=True))


def _scheduled(machine: Machine, value: Value, site: ast.AST) -> Value:
    """What a setting is in a step: of a schedule, or of a list of them, what it gives; else itself."""
    if not isinstance(value, Term):
        return value
    if value.kind in SCHEDULES:
        return machine.call(value, Arguments([machine.site("step", site)]), site)
    inside = elements(machine, value) if value.kind == "list" else None
    if not inside:
        return value
    return make_tuple(machine, [_scheduled(machine, item, site) for item, _ in inside])


def is_of_optimizer(term: Term) -> bool:
    """Whether a term is a part of an optimizer: `optimizer.param_groups[0]`."""
    holder = root(term)
    return holder.kind == "made" and holder.parts[0] == "optimizer"


def backward(machine: Machine, loss: Value, site: ast.AST) -> None:
    """A backward pass: the models in its loss are trained, or used by what is trained."""
    machine.record.moved += machine.moved
    machine.moved.clear()
    if loss in machine.losses:
        if machine.losses[loss]:
            meet(machine, "gradients", site)
        return
    machine.record.trained.append(loss)
    averages = False
    for holder in {
        term for column in {*columns(loss)} for term in within(column) if term.kind in ("object", "made")
    }:
        for part in parts(machine, holder):
            machine.trained[part] = None
            check_weights(machine, part)
        _gather(machine, holder, site)
        averages = averages or machine.read((holder, AVERAGES)) is machine.terms.true
    machine.losses[loss] = averages
    if averages:
        meet(machine, "gradients", site)


def check_weights(machine: Machine, part: Term) -> None:
    """Record the weights that something has now."""
    weights = machine.read((part, WEIGHTS))
    if weights is not None:
        machine.record.weights[Weights(made_at(machine, part), machine.changed.get(part), weights)] = None


def made_at(machine: Machine, part: Term) -> Place:
    """Where something with weights was constructed."""
    site = part.parts[1]
    assert isinstance(site, ast.AST)
    return machine.record.places.get(site, machine.frame.module), site


def loaded(machine: Machine) -> Iterator[Loaded]:
    """What each loader loads from, at the end of the run."""
    for made in [term for term in machine.members if is_loader(term)]:
        sampler = machine.read((made, "sampler")) or machine.terms.none
        of = (machine.read((made, "dataset")) or machine.terms.none, sampler)
        terms = tuple(_closure(machine, of, rank) for rank in RANKS)
        unsorted = _closure(machine, of, RANKS[0], through_sorts=False)
        if alike(sampler):  # a process alone may have none
            sampler = columns(sampler)[RANKS[0]]
        yield Loaded(made_at(machine, made), made, terms, unsorted, sampler, _numbers(machine, sampler))


def _numbers(machine: Machine, sampler: Value) -> dict[str, Value]:
    """What a sampler divides by, as far as it was given."""
    if not isinstance(sampler, Term):
        return {}
    found = {name: machine.store.values.get((sampler, name)) for name in PARAMETERS["sampler"]}
    return {name: value for name, value in found.items() if value is not None}


def _closure(
    machine: Machine, values: Sequence[Value], process: int, through_sorts: bool = True
) -> frozenset[Term]:
    """Values, all that they are made of, and what the objects in them hold, in one process."""
    seen: set[Term] = set()
    waiting = [columns(value)[process] for value in values]
    while waiting:
        found = waiting.pop()
        if found in seen or (found.kind == "sorted" and not through_sorts):
            continue
        seen.add(found)
        waiting += found.inner
        for name in (*machine.members.get(found, ()), *((ITEMS,) if found.kind in ("list", "set") else ())):
            value = machine.store.values.get((found, name))
            if value is not None:
                waiting.append(columns(value)[process])
    return frozenset(seen)
