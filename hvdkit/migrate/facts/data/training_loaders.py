"""What one program trains: its paths to a backward pass, and the loaders and seeds that go with them."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.paper_runs import only_evaluates
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.training_paths import may_run_in, training_paths
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

SEEDS = ("torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "numpy.random.seed")


@once
def training_loaders(facts: Facts, program: ProgramFacts) -> list[Loader]:
    """The loaders that a program trains on, looked up once: many rules ask it of every loader."""
    drawn = {value for path in training_paths(facts, program) for value in path.loaders}
    # A helper that two scripts share is asked about both: only this program's own files count.
    found = [o for o in every_loader(facts) if o.value in drawn and o.names in program.files]
    return [o for o in found if not only_evaluates(facts, o.names, o.node)]


def unfollowed_loaders(facts: Facts, program: ProgramFacts) -> list[Loader]:
    """The loaders that a program makes, where no loop that trains was found to run over any of them."""
    if training_loaders(facts, program) or own_loaders(facts, program):
        return []
    return [o for o in every_loader(facts) if may_run_in(facts, program, o.names, o.node)]


def own_loaders(facts: Facts, program: ProgramFacts) -> list[Value]:
    """The project's own subclasses of DataLoader that a program trains on."""
    drawn = {value for path in training_paths(facts, program) for value in path.loaders}
    return sorted((v for v in drawn if v.kind == "object"), key=lambda v: (str(v.names.source.path), v.name))


def seeds(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.Call, bool]]:
    """Calls that seed random numbers, and whether each rank gets another seed."""
    return [
        (site.names, site.node, any(by_rank(facts, site.names, argument) for argument in site.node.args))
        for site in facts.calls(*SEEDS)
        if site.names in program.files
    ]


def by_rank(facts: Facts, names: Names, seed: ast.expr) -> bool:
    """Whether a rank is in a seed, or is added to what holds it: `args.seed += rank`."""
    added = (
        add.value
        for add in names.of_kind(ast.AugAssign)
        if ast.unparse(add.target) == ast.unparse(seed)
        if names.function(add) is not names.function(seed) or add.lineno < seed.lineno
    )
    return rank_kinds(facts).inside(names, seed) or any(
        rank_kinds(facts).inside(names, value) for value in added
    )


def is_trained_on(facts: Facts, loader: Loader) -> bool:
    """Whether a backward pass runs inside a loop over the loader."""
    inside = any(loader.value in path.loaders for path in training_loops(facts).paths)
    return inside and not only_evaluates(facts, loader.names, loader.node)
