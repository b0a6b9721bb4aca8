"""Batches that a training loop draws at random itself, and whether each rank draws others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.loops import Path
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.source.index.names import FUNCTIONS, Names
from hvdkit.source.index.statements import statements_above

MAX_CALLS = 3
# What chooses among the data -> what would seed it; without one every process starts with other numbers.
CHOICES = {
    **{f"random.{name}": "random.seed" for name in ("choice", "choices", "randint", "randrange", "sample")},
    **{f"numpy.random.{name}": "numpy.random.seed" for name in ("choice", "randint", "permutation")},
    "torch.randperm": "torch.manual_seed",
}
_DRAWS = (
    *(
        f"torch.{name}"
        for name in ("rand", "randn", "randint", "rand_like", "randn_like", "normal", "bernoulli")
    ),
    *(f"numpy.random.{name}" for name in ("rand", "randn", "random", "normal", "uniform", "shuffle")),
    *(f"random.{name}" for name in ("random", "uniform", "gauss", "shuffle")),
)
_ALL = ("lightning.seed_everything", "pytorch_lightning.seed_everything", "transformers.set_seed")


def drawn_apart(facts: Facts, program: ProgramFacts, path: Path) -> list[tuple[Names, ast.Call]]:
    """The calls by which a training loop chooses what it trains on, where nothing seeds any of them."""
    if not path.loops:
        return []
    turn = above(path, path.loops[0].node)
    drawn = [found for names, node in turn for found in chosen(facts, names, node, 0)]
    seeds = (*{CHOICES[name] for _, _, name in drawn}, *_ALL)
    if any(site.names in program.files for site in facts.calls(*seeds)):
        return []
    return [(names, call) for names, call, _ in drawn]


def draws_unseeded(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program draws random numbers, other than weights, and nothing in it seeds any."""
    if any("seed" in name for names in program.files for name in names.calls):
        return False
    return any(site.names in program.files for site in facts.calls(*_DRAWS, *CHOICES))


def made_apart(facts: Facts, program: ProgramFacts, path: Path) -> list[tuple[Names, ast.Call]]:
    """The calls that make the data above a training loop of random numbers, where nothing seeds them.

    Only where nothing else is drawn so: a truth that the data are computed from would be each rank's own.
    """
    if not path.loops or any("seed" in name for names in program.files for name in names.calls):
        return []
    loop = path.loops[-1]
    inside = set(loop.names.walk(loop.node))
    drawn = [(s.names, s.node) for s in facts.calls("torch.randn", "torch.rand") if s.names in program.files]
    return (
        drawn if all(names is loop.names and _only_read(names, call, inside) for names, call in drawn) else []
    )


def _only_read(names: Names, call: ast.Call, inside: set[ast.AST]) -> bool:
    """Whether a call fills a variable, once, that is read inside of a loop and nowhere else."""
    made = names.parents[call]
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(target, ast.Name) or call in inside or names.in_loop(call):
        return False
    weight = any(keyword.arg == "requires_grad" for keyword in call.keywords)
    uses = [use for use in names.uses.get(target.id, ()) if use is not target]
    return not weight and bool(uses) and all(use in inside for use in uses)


def above(path: Path, loop: ast.AST) -> Iterator[tuple[Names, ast.AST]]:
    """What a turn of a loop runs before a backward pass: statements above it, and arguments."""
    for names, node in ((path.names, path.backward), *path.calls):
        yield from ((names, part) for part in (*node.args, *(item.value for item in node.keywords)))
        child: ast.AST = node
        for parent in names.ancestors(node):
            if isinstance(child, ast.stmt):
                yield from ((names, statement) for statement in statements_above(names, child))
            if parent is loop:
                return
            if isinstance(parent, FUNCTIONS):
                break
            child = parent


def chosen(facts: Facts, names: Names, node: ast.AST, depth: int) -> Iterator[tuple[Names, ast.Call, str]]:
    """Calls, and those in the project's functions that are called, by which something is chosen.

    What is called for its effect alone, to log a sample, chooses no batch.
    """
    for call in names.calls_in(node):
        if isinstance(names.parents[call], ast.Expr):
            continue
        for name in sorted(facts.flow.qualified(names, call.func) & set(CHOICES)):
            yield names, call, name
        for where, function in facts.flow.functions(names, call) if depth < MAX_CALLS else ():
            if not isinstance(where.parents.get(function), ast.ClassDef):  # a model's own choices are no data
                yield from chosen(facts, where, function, depth + 1)
