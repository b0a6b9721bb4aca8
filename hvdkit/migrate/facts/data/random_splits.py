"""What a program picks once by random numbers, and every process by its own: splits, orders, samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts.collectives.different_on_every_rank import CLOCKS
from hvdkit.migrate.facts.data.seed_paths import may_be_left_out
from hvdkit.migrate.facts.data.training_loaders import by_rank
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values.arguments import given, unpacks
from hvdkit.source.index.names import Names

GENERATOR = "generator=torch.Generator().manual_seed(0)"
# function -> position and name of the argument that fixes its random numbers, and what to give
SPLITS = {
    "sklearn.model_selection.train_test_split": (-1, "random_state", "random_state=0"),
    "torch.utils.data.random_split": (2, "generator", GENERATOR),
}

# What cuts the nodes or edges of a graph in parts, by torch's random numbers.
GRAPH_SPLITS = (
    *(f"torch_geometric.transforms.{name}" for name in ("RandomNodeSplit", "RandomLinkSplit")),
    "torch_geometric.utils.train_test_split_edges",
)
# What picks or orders things by random numbers, and the library whose seed fixes them.
PICKS = {
    "torch.randperm": "torch",
    **{f"random.{name}": "random" for name in ("sample", "shuffle", "choice", "choices")},
    **{f"numpy.random.{name}": "numpy" for name in ("permutation", "shuffle", "choice")},
}
# What draws as many numbers as it is asked for: compared, they pick, as in `rand(len(data)) < 0.8`.
NUMBERS = {
    **{f"torch.{name}": "torch" for name in ("rand", "bernoulli", "randint")},
    **{f"numpy.random.{name}": "numpy" for name in ("rand", "random", "random_sample", "uniform", "randint")},
}
LIBRARY_OF = {**PICKS, **NUMBERS}
# The library that each split draws from.
LIBRARY = {"sklearn.model_selection.train_test_split": "numpy", "torch.utils.data.random_split": "torch"}
SEEDS = {
    "torch.manual_seed": "torch",
    "random.seed": "random",
    "numpy.random.seed": "numpy",
    "tensorflow.random.set_seed": "tensorflow",
    "tensorflow.compat.v1.set_random_seed": "tensorflow",
    "tensorflow.set_random_seed": "tensorflow",
}
MAX_CALLERS = 6


def unseeded_splits(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Site, str]]:
    """The splits by numbers that a program does not seed alike, and the argument that makes them the same."""
    seeded = seeded_alike(facts, program)
    for site in facts.calls(*SPLITS):
        position, parameter, text = SPLITS[site.name]
        call = site.node
        said = any(keyword.arg == parameter or _in_order(keyword) for keyword in call.keywords)
        if (
            site.names in program.files
            and LIBRARY[site.name] not in seeded
            and not unpacks(call)
            and not said
            and given(call, position, parameter) is None
        ):
            yield site, text


def _in_order(keyword: ast.keyword) -> bool:
    return keyword.arg == "shuffle" and isinstance(keyword.value, ast.Constant) and not keyword.value.value


def unseeded_shuffles(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call]]:
    """PyTorch Geometric's shuffles and splits, whose parts are trained on and held back, without a seed."""
    if "torch" in libraries_seeded(facts, program):
        return
    yield from ((s.names, s.node) for s in facts.calls(*GRAPH_SPLITS) if s.names in program.files)
    for names, call, receiver in facts.methods("shuffle"):
        made = facts.flow.values(names, receiver) if names in program.files else frozenset()
        if any(value.name.startswith("torch_geometric.datasets.") for value in made):
            yield names, call


def unseeded_picks(facts: Facts, program: ProgramFacts) -> Iterator[Site]:
    """What a program picks or orders once, by random numbers without a seed, and every process for itself.

    An order of the data that is cut in parts, a sample that a mean is computed from, the name of a run.
    """
    seeded = libraries_seeded(facts, program)
    for site in facts.calls(*LIBRARY_OF):
        own = any(keyword.arg == "generator" for keyword in site.node.keywords)
        if site.names in program.files and LIBRARY_OF[site.name] not in seeded and not own:
            picks = site.name in PICKS or _is_compared(site)
            if picks and not _is_sent(site) and runs_once(facts, site.names, site.node):
                yield site


def in_place(site: Site) -> ast.expr | None:
    """What a shuffle puts in another order: it gives nothing back."""
    shuffled = site.node.args[0] if site.name.endswith(".shuffle") and site.node.args else None
    return shuffled if isinstance(site.names.parents[site.node], ast.Expr) else None


def _is_sent(site: Site) -> bool:
    """Whether rank 0 sends the others what it picked: around the call, or below a shuffle."""
    names, statement = site.names, site.names.statement(site.node)
    below = edits.following(names, statement) if in_place(site) is not None else None
    places = [statement] if below is None else [statement, below]
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "broadcast_object"
        for place in places
        for call in names.calls_in(place)
    )


def _is_compared(site: Site) -> bool:
    """Whether numbers that are drawn are compared: `rand(n) < 0.8`, also of a variable that holds them."""
    names, call = site.names, site.node
    if not call.args and not call.keywords:
        return False  # one number: a chance
    around = names.parents[call]
    held = around.targets[0] if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
    uses = names.uses.get(held.id, ()) if isinstance(held, ast.Name) else ()
    return any(isinstance(names.parents[part], ast.Compare) for part in (call, *uses))


def runs_once(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node runs once in a program: in no loop, nor in a function that a loop or a library calls."""
    if names.in_loop(node):
        return False
    function = names.function(node)
    if function is None:
        return True
    sites = facts.flow.call_sites(names, function) if depth < MAX_CALLERS else []
    return bool(sites) and all(runs_once(facts, where, call, depth + 1) for where, call in sites)


@once
def libraries_seeded(facts: Facts, program: ProgramFacts) -> frozenset[str]:
    """The libraries whose random numbers a program seeds in any case; all by a call that may seed each."""
    sure = [at for at in _seedings(program) if not may_be_left_out(facts, *at)]
    return frozenset().union(*(_seeds(facts, names, call) for names, call in sure))


@once
def seeded_on_demand(facts: Facts, program: ProgramFacts) -> frozenset[str]:
    """Those that it seeds where an option says so, and not otherwise."""
    every = frozenset().union(*(_seeds(facts, names, call) for names, call in _seedings(program)))
    return every - libraries_seeded(facts, program)


def seeded_alike(facts: Facts, program: ProgramFacts) -> frozenset[str]:
    """Those that it seeds by the same number on every rank, not by its rank, the time or nothing."""
    alike = [
        at for at in _seedings(program) if not seeds_apart(facts, *at) and not may_be_left_out(facts, *at)
    ]
    return frozenset().union(*(_seeds(facts, names, call) for names, call in alike))


def _seedings(program: ProgramFacts) -> list[tuple[Names, ast.Call]]:
    return [
        (names, call)
        for names in program.files
        for name in names.calls
        if "seed" in name.lower()
        for call in names.calls[name]
    ]


def seeds_apart(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call that takes a seed gets another one on each rank: of its rank, of its clock, or none."""
    seeds = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not seeds:
        return True
    clocks = {name for seed in seeds for each in names.calls_in(seed) for name in names.qualified(each.func)}
    return (
        all(isinstance(seed, ast.Constant) and seed.value is None for seed in seeds)
        or bool(clocks & set(CLOCKS))
        or any(by_rank(facts, names, seed) for seed in seeds)
    )


def _seeds(facts: Facts, names: Names, call: ast.Call) -> set[str]:
    known = facts.flow.qualified(names, call.func)
    if known & SEEDS.keys():
        return {SEEDS[name] for name in known & SEEDS.keys()}
    if any(name.startswith(("torch.cuda.", "tensorflow.")) for name in known):
        return set()
    if facts.flow.functions(names, call):
        return set()  # the project's own: what it calls is looked at
    # A method of an object is a generator's own seed, or a space's; a library's function may seed everything.
    return set() if not known and isinstance(call.func, ast.Attribute) else set(SEEDS.values())


def can_write(site: Site, text: str) -> bool:
    """Whether an argument can be written in the split's file: torch has a name there, if it takes torch."""
    return "torch" not in text or "torch" in site.names.module.names
