"""Reinforcement learning: training on what a program's own environments give, and the seeds behind it."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts.code.loops import Path
from hvdkit.migrate.facts.collectives.dependence import bindings_of
from hvdkit.migrate.facts.data.random_batches import above
from hvdkit.migrate.facts.data.training_loaders import SEEDS
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values.binding_order import is_parsed
from hvdkit.source.index.names import LOOPS, Names

_LIBRARIES = ("gym.", "gymnasium.", "gym3.", "procgen.", "envpool.", "supersuit.", "pettingzoo.")
_EVERY_SEED = (*SEEDS, "random.seed")


@dataclass(frozen=True)
class Seeding:
    """Statements that seed by one variable, as written, and the loop below them that trains.

    stops: the tests that end it early, each with the variable that holds the mean which they ask for.
    """

    names: Names
    seed: str
    statements: tuple[ast.stmt, ...]
    loop: ast.stmt
    stops: tuple[tuple[ast.If, str], ...]


def seeding(facts: Facts, path: Path) -> Seeding | None:
    """How the experience of a training loop is seeded; None where no environment gives it."""
    outermost = path.loops[-1] if path.loops else None
    if outermost is None or not isinstance(outermost.node, (ast.For, ast.While)):
        return None
    names, loop = outermost.names, outermost.node
    stops = _stops(names, loop)
    if stops is None or not any(_is_environment(facts, names, x) for x in _stepped(names, loop)):
        return None
    sites = [site for site in facts.calls(*_EVERY_SEED) if site.names is names]
    statements = [names.statement(site.node) for site in sorted(sites, key=lambda site: site.node.lineno)]
    seeds = {ast.unparse(site.node.args[0]) if len(site.node.args) == 1 else "" for site in sites}
    if len(seeds) != 1 or not all(isinstance(statement, ast.Expr) for statement in statements):
        return None
    given = sites[0].node.args[0] if sites[0].node.args else None
    if not isinstance(given, (ast.Name, ast.Attribute)):
        return None
    block = edits.block(names, statements[0])
    if loop not in block or any(statement not in block for statement in statements):
        return None
    if block.index(statements[-1]) > block.index(loop):
        return None
    return Seeding(names, seeds.pop(), tuple(statements), loop, stops)


def played_apart(facts: Facts, program: ProgramFacts, path: Path) -> bool:
    """Whether a training loop learns from what it plays in environments, and nothing seeds random numbers.

    Then every process plays for itself.
    """
    if not path.loops or any("seed" in name for names in program.files for name in names.calls):
        return False
    return any(
        call.func.attr == "step" and _is_environment(facts, names, call.func.value)
        for names, node in above(path, path.loops[-1].node)
        for call in names.calls_in(node)
        if isinstance(call.func, ast.Attribute)
    )


def _stops(names: Names, loop: ast.For | ast.While) -> tuple[tuple[ast.If, str], ...] | None:
    """The tests of means that end a loop, with the means; None where ranks would part in another way.

    Options and the numbers of rounds are alike on all ranks. What a rank has seen itself is not, as in
    `if approx_kl > args.target_kl: break`: with that, some would go on, and wait for the others.
    """
    passes = [call for call in names.calls_in(loop) if getattr(call.func, "attr", "") == "backward"]
    around = {parent for call in passes for parent in _inside(names, call, loop)}
    ending: set[ast.AST] = set()
    for node in names.walk(loop):
        if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
            left = next(p for p in names.ancestors(node) if isinstance(p, LOOPS))
            if left in around or isinstance(node, ast.Return):
                ending.update(_inside(names, node, loop))
    found: list[tuple[ast.If, str]] = []
    for parent in around | ending:
        asked = parent.iter if isinstance(parent, ast.For) else getattr(parent, "test", None)
        if not isinstance(parent, (ast.If, *LOOPS)) or _decided(names, asked):
            continue
        mean = _mean(names, parent) if isinstance(parent, ast.If) and parent not in around else ""
        if not mean or not isinstance(parent, ast.If):
            return None
        found.append((parent, mean))
    return tuple(sorted(found, key=lambda stop: stop[0].lineno)) if passes else None


def _mean(names: Names, node: ast.If) -> str:
    """The one variable of a test that is not decided for all ranks, where it always holds a mean."""
    parts = [part for part in ast.walk(node.test) if isinstance(part, (ast.Name, ast.Call))]
    open_parts = [part for part in parts if not _decided(names, part)]
    names_of = {part.id if isinstance(part, ast.Name) else "" for part in open_parts}
    if len(names_of) != 1 or names.source.is_elif(node):
        return ""
    made = [b.value for part in open_parts for b in names.bindings(getattr(part, "id", ""), part)]
    means = all(isinstance(m, ast.Call) and getattr(m.func, "attr", "") == "mean" for m in made)
    return names_of.pop() if made and means else ""


def _inside(names: Names, node: ast.AST, loop: ast.AST) -> list[ast.AST]:
    """What stands around a node, up to a loop and it as well."""
    around = list(names.ancestors(node))
    return around[: around.index(loop) + 1]


def _decided(names: Names, node: ast.AST | None, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a test, or what a loop goes over, is made of options and of the numbers of rounds."""
    if node is None:
        return False
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "enumerate"):
        return all(_decided(names, argument, seen) for argument in node.args)
    parts = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Call))]
    return all(
        isinstance(part, ast.Name)
        and part.id not in seen
        and (is_parsed(names, part) or _counts(names, part, seen | {part.id}))
        for part in parts
    )


def _counts(names: Names, name: ast.Name, seen: frozenset[str]) -> bool:
    """Whether a variable counts rounds, or is computed from options, once."""
    bindings = names.bindings(name.id, name)
    rounds = [b.kind == "each" and isinstance(b.value, ast.Call) for b in bindings]
    once = [len(bindings) == 1 and b.kind == "assign" and isinstance(b.value, ast.BinOp) for b in bindings]
    known = all(r or o for r, o in zip(rounds, once))
    return bool(bindings) and known and all(_decided(names, b.value, seen) for b in bindings)


def _stepped(names: Names, loop: ast.stmt) -> list[ast.expr]:
    """The x of each `x.step(action)` in a loop."""
    called = [call.func for call in names.calls_in(loop) if call.args]
    return [func.value for func in called if isinstance(func, ast.Attribute) and func.attr == "step"]


def ends_episode(facts: Facts, names: Names, test: ast.expr, seen: set[ast.AST] | None = None) -> bool:
    """Whether a test asks what an environment's step() gives behind observation and reward: is it over."""
    seen = set() if seen is None else seen
    for part in ast.walk(test):
        for where, binding in bindings_of(facts, names, part):
            value = binding.value
            if value is None or binding.node in seen or binding.kind != "assign":
                continue
            seen.add(binding.node)
            if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "step":
                if value.args and binding.path and binding.path[0] not in (0, 1):
                    return True
            elif ends_episode(facts, where, value, seen):
                return True
    return False


def _is_environment(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a library of environments made a value, or is what its class derives from."""
    for value in facts.flow.values(names, node):
        made = {value.name} if value.kind == "made" else set()
        if value.kind == "object":
            made = facts.flow.bases(value)
        if any(name.startswith(_LIBRARIES) for name in made):
            return True
    return False
