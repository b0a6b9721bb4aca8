"""Whether something is done on every path that a job of several ranks takes, and what may prevent it.

A broadcast that stands somewhere is not yet one that runs. Tests about something else, such as whether there
is a second model at all, do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.conditions.answers import Answer, open_at
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.code.loops import Path
from hvdkit.migrate.facts.code.start_tests import asks_for_start
from hvdkit.migrate.facts.launch.launch_reach import launch_reach, tests_around, tests_before
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.paper_runs import all_ranks_come
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

MAX_CALLERS = 6
Code = tuple[Names, ast.AST]


@dataclass(frozen=True)
class _Search:
    """What is asked of each way.

    doing: all code that does it, or leads there. given, about: what it is done to, as written and as values.
    singly: whether each such object is asked for, so that one branch need not do what the other does.
    """

    facts: Facts
    program: ProgramFacts
    doing: Collection[ast.AST]
    training: Sequence[Path]
    given: ast.expr | None
    about: frozenset[Value]
    singly: bool


def kept_from(
    facts: Facts, program: ProgramFacts, sites: Sequence[Site], done: str, instead: str, singly: bool = False
) -> Answer | None:
    """The open answer where a test may keep a job from calls. done, instead: what they do, what to write.

    singly: whether another row or check asks for each object that they are made for.
    """
    tests = _undone(facts, program, sites, singly)
    if not tests:
        return None
    texts = dict.fromkeys(" ".join(names.source.segment(test).split()) for names, test in tests)
    asked = " and ".join(texts)
    return open_at(
        f"{done} under `{asked}`, which could not be shown to hold in each job of several ranks: {instead} "
        "at {}",
        tests,
    )


def stays_zero(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs where `rank == 0`, and the rank may be the 0 that a lone process has."""
    for test, wanted in tests_around(names, node):
        for part in ast.walk(test) if wanted else ():
            is_zero = isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq)
            if is_zero and getattr(part.comparators[0], "value", None) == 0:  # type: ignore[attr-defined]
                left = part.left  # type: ignore[attr-defined]
                if "rank" in rank_kinds(facts).of(names, left) and launch_reach(facts).may_stay(
                    names, left, 0
                ):
                    return True
    return False


def _undone(facts: Facts, program: ProgramFacts, sites: Sequence[Site], singly: bool) -> list[Code]:
    """The tests that may keep a job from these calls, one for each object that no call is sure to reach."""
    paths, doing = training_paths(facts, program), _leading(facts, sites)
    found: list[tuple[frozenset[Value], list[Code]]] = []
    for site in sites:
        given = _given(site)
        about = facts.flow.values(site.names, given)
        search = _Search(facts, program, doing, paths, given, about, singly)
        tests = list(_in_the_way(search, site.names, site.node, 0))
        # Four ranks are what the run has: a test that counts further says nothing of two.
        if all_ranks_come(facts, site.names, site.node) and not any(_counts(test) for _, test in tests):
            tests = []
        found.append((about, tests))
    sure = frozenset().union(*(about for about, tests in found if not tests))
    if any(not tests and not about for about, tests in found):
        return []  # what a call is made for that is sure to be reached is not known
    return [tests[0] for about, tests in found if tests and not about & sure]


def _counts(test: ast.AST) -> bool:
    """Whether a test has a number other than 0 and 1."""
    return any(isinstance(part, ast.Constant) and part.value not in (0, 1) for part in ast.walk(test))


def _leading(facts: Facts, sites: Iterable[Site]) -> set[ast.AST]:
    """Calls, and the calls of functions that hold them."""
    waiting: list[Code] = [(site.names, site.node) for site in sites]
    found: set[ast.AST] = set()
    while waiting:
        names, node = waiting.pop()
        if node not in found:
            found.add(node)
            function = names.function(node)
            waiting += facts.flow.call_sites(names, function) if function is not None else []
    return found


def sends_buffers(site: Site) -> bool:
    """Whether a broadcast is given the buffers of a model alone."""
    asked = {
        part.attr
        for given in site.node.args[:1]
        for part in ast.walk(given)
        if isinstance(part, ast.Attribute)
    }
    return bool(asked & {"buffers", "named_buffers"}) and not asked & {
        "state_dict",
        "parameters",
        "named_parameters",
    }


def _given(site: Site) -> ast.expr | None:
    """The model in `broadcast_parameters(model.state_dict())`, `dict(model.buffers())`; the optimizer."""
    given = site.node.args[0] if site.node.args else None
    if isinstance(given, ast.Call) and getattr(given.func, "id", "") == "dict" and len(given.args) == 1:
        given = given.args[0]
    asked = isinstance(given, ast.Call) and not given.args and isinstance(given.func, ast.Attribute)
    return given.func.value if asked else given  # type: ignore[union-attr]


def _in_the_way(search: _Search, names: Names, node: ast.AST, depth: int) -> Iterator[Code]:
    """The tests on the way to a node that has the fewest."""
    for test, wanted in tests_before(names, node):
        holds = launch_reach(search.facts).holds(names, test)
        if holds is not wanted and not _about_else(search, names, test, wanted):
            yield names, test
    function = names.function(node) if depth < MAX_CALLERS else None
    sites = search.facts.flow.call_sites(names, function) if function is not None else []
    mine = [site for site in sites if runs_in(search.facts, search.program, *site)]
    yield from min((list(_in_the_way(search, *site, depth + 1)) for site in mine), key=len, default=[])


def _about_else(search: _Search, names: Names, test: ast.expr, wanted: bool) -> bool:
    """Whether a test is no gate: training is under it, too, both ways do it, or it is about the object."""
    choice = names.parents[test]
    if any(asks_for_start(part) for part in ast.walk(test)):
        return True
    inside = _branch(choice, wanted)
    if any(part in search.doing for branch in _branch(choice, not wanted) for part in ast.walk(branch)):
        return True
    if search.training and all(
        any(where is names and _goes_with(names, choice, inside, each) for where, each in _way(path))
        for path in search.training
    ):
        return True
    if search.given is not None and ast.dump(search.given) in map(ast.dump, ast.walk(test)):
        return True  # `if teacher is not None:`
    return any(_made_under(search, names, test, wanted, value) for value in search.about)


def _branch(choice: ast.AST, wanted: bool) -> list[ast.AST]:
    found = getattr(choice, "body" if wanted else "orelse", [])
    return list(found) if isinstance(found, list) else [found]


def _way(path: Path) -> Iterator[Code]:
    yield path.names, path.backward
    yield from path.calls


def _goes_with(names: Names, choice: ast.AST, inside: list[ast.AST], node: ast.AST) -> bool:
    """Whether a node runs only with a branch, which may be what is left when the other one leaves."""
    around = list(names.ancestors(node))
    if any(part in around or part is node for part in inside):
        return True
    below = names.parents[choice] in around and getattr(node, "lineno", 0) > (
        getattr(choice, "end_lineno", 0) or 0
    )
    return not inside and below


def _made_under(search: _Search, names: Names, test: ast.expr, wanted: bool, value: Value) -> bool:
    """Whether an object is made only under this test or another of the same words, else there is none."""
    if value.names is not names:
        return False
    choice, around = names.parents[test], {value.node, *names.ancestors(value.node)}
    if around.intersection(_branch(choice, wanted)):
        return search.singly or not _makes(_branch(choice, not wanted))
    alike = (parent for parent in around if isinstance(parent, ast.If) and not parent.orelse)
    return any(ast.dump(parent.test) == ast.dump(test) for parent in alike)


def _makes(branch: Iterable[ast.AST]) -> bool:
    """Whether a branch gives a variable what a call makes, or is that itself."""
    return any(
        isinstance(made, ast.Call)
        for part in branch
        for node in ast.walk(part)
        for made in (getattr(node, "value", None) if isinstance(node, (ast.Assign, ast.AnnAssign)) else part,)
    )
