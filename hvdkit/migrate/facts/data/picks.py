"""What each process picks or orders for itself, by its own random numbers, on the way to its samples."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.collectives.dependence import Dependence, same_uses
from hvdkit.migrate.facts.data.made_from import Samples
from hvdkit.migrate.facts.data.random_splits import PICKS, seeded_alike, seeds_apart
from hvdkit.migrate.facts.data.set_orders import set_orders
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

IN_PLACE = frozenset(("random.shuffle", "numpy.random.shuffle"))
# Picks besides PICKS -> the library whose seed fixes them, and the argument that does.
MORE = {
    "sklearn.utils.shuffle": ("numpy", "random_state"),
    "tensorflow.random.shuffle": ("tensorflow", "seed"),
}
# Methods of what these libraries make -> the same.
METHODS = {
    "sample": (("pandas.",), "numpy", "random_state"),
    "shuffle": (("datasets.",), "numpy", "seed"),
}
GENERATORS = ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
DRAWS = frozenset(("shuffle", "permutation", "permuted", "choice", "choices", "sample"))
IN_ORDER = ("sorted", "numpy.sort", "torch.sort")


def picks_behind(
    facts: Facts, program: ProgramFacts, samples: Samples
) -> tuple[list[Site], list[tuple[Names, ast.AST]]]:
    """The draws that samples come from, without a seed that is the same everywhere, and such sets.

    A set of texts is listed in another order in each process.
    """
    sets = frozenset(node for _, node in set_orders(facts, program))
    search = _search(facts, seeded_alike(facts, program), sets)
    found: dict[ast.Call, Site] = {}
    listed: dict[ast.AST, Names] = {}
    for names, expression in samples:
        drawn, ordered = _behind(facts, search, names, expression)
        found.update(drawn)
        listed.update(ordered)
    draws = sorted(found.values(), key=lambda site: (str(site.names.source.path), site.node.lineno))
    return draws, [(names, node) for node, names in listed.items()]


def seed_argument(site: Site) -> str:
    """The argument that fixes what a call draws; "" for one that only its library's seed fixes."""
    if site.name in MORE:
        return MORE[site.name][1]
    return METHODS[site.name][2] if site.name in METHODS else ""


@once
def _search(facts: Facts, seeded: frozenset[str], sets: frozenset[ast.expr]) -> _Picked:
    """One search for all programs that seed alike: they share most of their code."""
    return _Picked(facts, seeded, sets)


@once
def _behind(
    facts: Facts, search: _Picked, names: Names, expression: ast.AST
) -> tuple[dict[ast.Call, Site], dict[ast.AST, Names]]:
    """The draws, and the sets, that samples come from."""
    search.found, search.listed = {}, {}
    search.forget_known()
    search.holds(names, expression)
    return search.found, search.listed


class _Picked(Dependence):
    """What comes of draws that no seed makes the same on every rank (found), or of sets (listed)."""

    def __init__(self, facts: Facts, seeded: frozenset[str], sets: frozenset[ast.expr]) -> None:
        super().__init__(facts)
        self.seeded = seeded
        self.sets = sets
        self.found: dict[ast.Call, Site] = {}
        self.listed: dict[ast.AST, Names] = {}

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if part in self.sets:
            self.listed[part] = names
            return True
        if isinstance(part, ast.Call):
            called = self.facts.flow.qualified(names, part.func) or {getattr(part.func, "id", "")}
            if called & set(IN_ORDER):
                return False
            return self._draws(names, part) or None
        return any(self._shuffled(names, part, use) for use in same_uses(names, part)) or None

    def _shuffled(self, names: Names, part: ast.AST, use: ast.expr) -> bool:
        """Whether another use of a variable is its shuffle in place, and comes before this one."""
        call = names.parents[use]
        if not isinstance(call, ast.Call) or call.args[:1] != [use] or not _before(names, call, part):
            return False
        if not isinstance(names.parents[call], ast.Expr):
            return False
        in_place = self.facts.flow.qualified(names, call.func) & IN_PLACE
        method = isinstance(call.func, ast.Attribute) and call.func.attr == "shuffle"
        return bool(in_place or method) and self._draws(names, call)

    def _draws(self, names: Names, call: ast.Call) -> bool:
        """Whether a call draws by random numbers of this rank's own."""
        for name in sorted(self.facts.flow.qualified(names, call.func)):
            library, argument = MORE.get(name, (PICKS.get(name), "generator"))
            if library is not None and library not in self.seeded and keyword(call, argument) is None:
                self.found[call] = Site(names, call, name)
                return True
        if isinstance(call.func, ast.Attribute) and self._by_method(names, call, call.func):
            self.found[call] = Site(names, call, call.func.attr)
            return True
        return False

    def _by_method(self, names: Names, call: ast.Call, function: ast.Attribute) -> bool:
        values = [v for v in self.facts.flow.values(names, function.value) if v.kind == "made"]
        makers, library, argument = METHODS.get(function.attr, ((), "", ""))
        if any(value.name.startswith(makers) for value in values):
            return library not in self.seeded and keyword(call, argument) is None
        return function.attr in DRAWS and any(
            value.name in GENERATORS
            and isinstance(value.node, ast.Call)
            and seeds_apart(self.facts, value.names, value.node)
            for value in values
        )


def _before(names: Names, shuffle: ast.Call, use: ast.AST) -> bool:
    """Whether a shuffle may have run when a use does: it is above, in a loop around both, or elsewhere."""
    if names.function(shuffle) is not names.function(use):
        return True
    around = {parent for parent in names.ancestors(use) if isinstance(parent, (*LOOPS, *FUNCTIONS))}
    loops = [parent for parent in names.ancestors(shuffle) if isinstance(parent, LOOPS)]
    return shuffle.lineno <= getattr(use, "lineno", 0) or any(loop in around for loop in loops)
