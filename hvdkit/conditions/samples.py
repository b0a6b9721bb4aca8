"""Training data is sharded by rank: all ranks divide the same, and the shares do not overlap."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from hvdkit.conditions.objection import (
    Objection,
    because,
    differs_among,
    is_assumed,
    ranks_with,
    surely_differs,
)
from hvdkit.job.columns import RANKS, Split, Value, alike, columns
from hvdkit.job.processes import NUMBERS
from hvdkit.job.record import Drawn, Loaded, Record, is_sampler, is_trained, trained_on
from hvdkit.job.terms import Term, within

SPLIT = "each rank splits the data differently at {}"
ORDERED = "each rank divides a different order of the samples, drawn at {}"
OWN = "each rank divides samples that it draws for itself at {}"
OVERLAP = "the shares overlap: each rank loads everything from its own start to the end at {}"

SOME = "only some ranks divide the data at {}: the others load all of it"
SHARED = "two hosts of two ranks load the shares {}, and not one share each, at {{}}"
PARTS = "four ranks divide the data into {} parts at {{}}, and not one for each"
ALIKE = "every rank loads the same samples at {}: what its own sampler gives does not depend on the rank"
GIVEN_TWICE = "two ranks load the same samples at {}: what its own sampler gives is not each rank's own"
STRIDES = "each rank takes every {}th sample of {}, so that shares overlap or samples are lost, at {{}}"
UNLIKE = "each rank divides an order of its own at {{}}: its {} differs"


def unlike_shares(record: Record) -> Iterator[Objection]:
    """What each rank draws for itself and then divides, and shares that overlap."""
    seeds = {term for drawn in record.drawn for state in columns(drawn.state) for term in within(state)}
    for drawn in record.drawn:
        if not drawn.orders and seeds.issuperset(columns(drawn.value)):
            continue  # what is drawn with that seed is reported
        ranks = ranks_with(drawn.active)
        if len(ranks) < 2 or not differs_among(drawn.state, ranks) or is_assumed(record, drawn.active):
            continue
        if drawn.splits or _is_divided(record, drawn):
            reason, origin = because(record, drawn.state, drawn.place)
            sentence = SPLIT if drawn.splits else ORDERED if drawn.orders else OWN
            yield Objection(drawn.place, f"{sentence}: {reason}", origin)
    trained = {part for term in trained_on(record) for part in term.parts}
    for loaded in record.loaded:
        if any(_is_rest(*terms) for terms in _slices(loaded)):
            yield Objection(loaded.place, OVERLAP)
        if loaded.loader in trained:
            yield from _wrong_numbers(record, loaded)
            yield from _wrong_strides(loaded)
    for each in record.passes:
        if is_trained(record, each) and _is_given_to_several(each.share):
            yield Objection(each.place, ALIKE if alike(each.share) else GIVEN_TWICE)


def _is_given_to_several(share: Value) -> bool:
    """Whether the program's own sampler gives ranks the same; not known where a library gives a part."""
    terms = [columns(share)[rank] for rank in RANKS]
    if len({*terms}) == len(terms) or any(term.kind != "given" for term in terms):
        return False
    return not any(part.kind == "base" for term in terms for part in within(term))


def _wrong_numbers(record: Record, loaded: Loaded) -> Iterator[Objection]:
    """What a sampler divides by that is not the number of ranks, the rank, and else the same on all."""
    at = loaded.place
    if isinstance(loaded.sampler, Split):
        if len({is_sampler(columns(loaded.sampler)[rank]) for rank in RANKS}) > 1:
            yield Objection(at, SOME)
        return
    rank, size = (_constants(loaded.numbers.get(name)) for name in ("rank", "num_replicas"))
    if rank and sorted(rank, key=str) != [*range(len(RANKS))]:
        yield Objection(at, SHARED.format(_listed(rank)))
    if size and {*size} != {len(RANKS)}:
        yield Objection(at, PARTS.format(_listed(size)))
    for name in ("seed", "shuffle"):
        value = loaded.numbers.get(name)
        if value is not None and surely_differs(value):
            reason, origin = because(record, value, at)
            yield Objection(at, f"{UNLIKE.format(name)}: {reason}", origin)


def _constants(value: Value | None) -> list[Hashable]:
    """What each rank has, if that is known."""
    terms = [] if value is None else [columns(value)[rank] for rank in RANKS]
    return [term.parts[0] for term in terms] if all(term.kind == "const" for term in terms) else []


def _listed(values: list[Hashable]) -> str:
    return ", ".join(map(str, values))


def _is_divided(record: Record, drawn: Drawn) -> bool:
    """Whether what is drawn of the same on all ranks is divided among them, by sampler or number."""
    terms = [columns(drawn.value)[rank] for rank in RANKS]
    if len({term.parts[2:] for term in terms}) > 1:
        return False  # an order of a share
    return any(
        all(term in mine for term, mine in zip(terms, loaded.terms))
        for loaded in record.loaded
        if loaded.divides or [*_slices(loaded)]
    )


def _slices(loaded: Loaded) -> Iterator[tuple[Term, ...]]:
    """The parts that each rank takes by bounds of its own: one term a rank."""
    by_rank = [
        [term for term in mine if term.kind == "item" and [*term.inner][-1].kind == "slice"]
        for mine in loaded.terms
    ]
    for term in by_rank[0]:
        of = term.inner[0]
        others = [
            next((other for other in mine if _same_source(of, other.inner[0])), None) for mine in by_rank[1:]
        ]
        found = [term, *(other for other in others if other is not None)]
        if len(found) == len(by_rank) and len({*found}) == len(found):
            yield tuple(found)


def take_turns(loaded: Loaded) -> bool:
    """Whether each rank loads its part of one order: every N-th element, or a block of it."""
    return _stride(loaded) or _blocks(loaded)


def _stride(loaded: Loaded) -> bool:
    """Whether each rank takes every N-th element of one order, or the piece with its number of N."""
    found = [{*_turns(mine)} for mine in loaded.terms]
    size = NUMBERS["size"][RANKS[0]]
    return any(
        all((source, NUMBERS["rank"][rank], size) in found[rank - RANKS[0]] for rank in RANKS)
        for source, _, step in found[0]
        if step == size
    )


def _wrong_strides(loaded: Loaded) -> Iterator[Objection]:
    """Parts of one order in steps that are not as wide as there are ranks."""
    found = [{*_turns(mine)} for mine in loaded.terms]
    size = NUMBERS["size"][RANKS[0]]
    for source, start, step in found[0]:
        others = [NUMBERS["rank"][rank] for rank in RANKS]
        if start == others[0] and step not in (size, None, 1) and isinstance(step, int):
            if all((source, number, step) in mine for number, mine in zip(others, found)):
                yield Objection(loaded.place, STRIDES.format(step, len(RANKS)))


def _blocks(loaded: Loaded) -> bool:
    """Whether each rank takes a block that begins where the block of the rank before it ends."""
    found = [[*_bounds(mine)] for mine in loaded.terms]
    return any(_goes_on(source, upper, found[1:]) for source, _, upper in found[0])


def _goes_on(source: Hashable, upper: Term, found: list[list[tuple[Hashable, Term, Term]]]) -> bool:
    """Whether the others' blocks follow, one behind the other."""
    if not found:
        return True
    return any(
        of is source and lower is upper and end is not upper and _goes_on(source, end, found[1:])
        for of, lower, end in found[0]
    )


def _bounds(terms: frozenset[Term]) -> Iterator[tuple[Hashable, Term, Term]]:
    """What is taken between two bounds: of what, from where, and to where."""
    for term in terms:
        inner = [*term.inner]
        if term.kind == "item" and inner[-1].kind == "slice":
            lower, upper, step = inner[-1].inner
            if _is_none(step) and not _is_none(lower) and not _is_none(upper):
                yield inner[0], lower, upper
        elif term.kind == "range" and len(inner) == 2:
            yield None, inner[0], inner[1]


def passes_take_turns(record: Record, made: ast.AST) -> bool:
    """Whether in all passes over a loader each rank takes every N-th batch of one order: `islice`."""
    passes = [each for each in record.passes if each.loader.parts[1] is made]
    return bool(passes) and all(alike(each.share) and _is_islice(each.over) for each in passes)


def _is_islice(over: Value) -> bool:
    """`itertools.islice(loader, rank, None, size)`."""
    for rank in RANKS:
        term = columns(over)[rank]
        inner = [*term.inner]
        if term.kind != "item" or inner[-1].kind != "slice":
            return False
        wanted = (NUMBERS["rank"][rank], None, NUMBERS["size"][rank])
        if tuple(part.parts[0] for part in inner[-1].inner if part.kind == "const") != wanted:
            return False
    return True


def _turns(terms: frozenset[Term]) -> Iterator[tuple[Hashable, Hashable, Hashable]]:
    """What is taken in steps: of what, from where on, and how wide a step is; or which of how many pieces."""
    for term in terms:
        inner = [*term.inner]
        if term.kind == "item" and inner[-1].kind == "slice":
            lower, upper, step = inner[-1].inner
            if _is_none(upper) and lower.kind == step.kind == "const":
                yield inner[0], lower.parts[0], step.parts[0]
        elif term.kind == "item" and inner[0].kind == "pieces" and inner[-1].kind == "const":
            yield inner[0], inner[-1].parts[0], inner[0].inner[-1].parts[0]
        elif term.kind == "items of" and (test := _remainder(inner[-1])) is not None:
            yield test
        elif term.kind == "range" and len(inner) == 3 and inner[0].kind == inner[2].kind == "const":
            yield inner[1], inner[0].parts[0], inner[2].parts[0]


def _remainder(test: Term) -> tuple[Hashable, Hashable, Hashable] | None:
    """What is counted, the remainder and the divisor, where a test is `i % size == rank`."""
    if test.kind != "compare" or test.parts[0] != "Eq" or test.inner[1].kind != "const":
        return None
    counted, rank = test.inner
    if counted.kind != "op" or counted.parts[0] != "Mod" or counted.inner[1].kind != "const":
        return None
    return counted.inner[0], rank.parts[0], counted.inner[1].parts[0]


def are_sorted(record: Record, call: ast.AST) -> bool:
    """Whether loaders load what a call gives, and all of them load it sorted."""
    whole = any(_is_made_by(call, loaded.terms[0]) for loaded in record.loaded)
    return whole and not any(_is_made_by(call, loaded.unsorted) for loaded in record.loaded)


def _is_made_by(call: ast.AST, terms: frozenset[Term]) -> bool:
    return any(term.kind == "call" and term.parts[0] is call for term in terms)


def _same_source(one: Term, two: Term) -> bool:
    """Whether two ranks take their parts of the same, or of what each made in one way of its own draw."""
    seen: set[tuple[Hashable, Hashable]] = set()
    waiting: list[tuple[Hashable, Hashable]] = [(one, two)]
    while waiting:
        pair = waiting.pop()
        mine, other = pair
        if mine is other or mine == other or pair in seen:
            continue
        seen.add(pair)
        if not isinstance(mine, Term) or not isinstance(other, Term):
            return False
        if mine.kind != other.kind or len(mine.parts) != len(other.parts):
            return False
        if mine.kind != "drawn" or mine.parts[0] is not other.parts[0]:
            waiting += zip(mine.parts, other.parts)
    return True


def _is_rest(*parts: Term) -> bool:
    """Whether each rank takes all from its own start on."""
    for part in parts:
        lower, upper, step = [*part.inner][-1].inner
        if not _is_none(upper) or not (_is_none(step) or step.parts[:1] == (1,)) or lower.kind != "const":
            return False
    return True


def _is_none(term: Term) -> bool:
    return term.kind == "const" and term.parts[0] is None
