"""Two post-conditions: Horovod is initialized before CUDA is used, and each process has its own device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.conditions.answers import Answer, open_at
from hvdkit.migrate.conditions.paths import kept_from
from hvdkit.migrate.conditions.starts import starts_itself
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.init.device_choices import chosen_for_all
from hvdkit.migrate.facts.launch.launch_order import Order
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in, starting_sites
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.plan import State
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

# Questions that make no CUDA context, and settings that are kept until there is one.
HARMLESS = (
    "torch.cuda.is_available",
    "torch.cuda.device_count",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.cuda.is_bf16_supported",
    "torch.cuda.amp.",
)
FIRST = "no torch.cuda.set_device(hvd.local_rank()) was found, and all of a host use its first GPU at {}"
SET_DEVICE = ("torch.cuda.set_device", "torch.accelerator.set_device_index")


def initialised(facts: Facts, program: ProgramFacts) -> Answer:
    """Whether hvd.init() is there, and stands above the first use of CUDA in its function."""
    sites = [site for site in starting_sites(facts, program) if site.name in words.HVD_INIT]
    if not sites:
        alone = starts_itself(facts, program)
        needed = alone.state is State.OPEN or _is_job(facts, program)
        return Answer(State.OPEN, "no hvd.init() was found") if needed else alone
    early = [
        use
        for use in (*facts.calls("torch.cuda."), *_moves(facts))
        if not use.name.startswith(HARMLESS) and any(_above(use, site) for site in sites)
    ]
    order = Order(facts)
    early = [use for use in early if not order.covers(use.names, use.node)]  # in its callers, it may be
    if early and not any(_above(site, early[0]) for site in sites):
        return open_at("CUDA is used above it at {}", early[:1])
    where = ", ".join(site.names.place(site.node) for site in sites[:3])
    kept = kept_from(facts, program, sites, "hvd.init() is called", "call it without a test")
    return kept or Answer(State.PROVEN, f"hvd.init() at {where}")


def _is_job(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program trains, or may come to a call of torch.distributed that was left."""
    left = (site for site in facts.calls("torch.distributed.") if site.name not in words.ASK_NO_GROUP)
    return bool(training_paths(facts, program)) or any(_is_run(facts, program, site) for site in left)


def own_device(facts: Facts, program: ProgramFacts) -> Answer:
    """Whether each process of a host works on a device of its own."""
    chosen = [site for site in facts.calls(*SET_DEVICE) if _is_run(facts, program, site)]
    moves = [site for site in _moves(facts) if site.node.args and site.names in program.files]
    for site in chosen:
        kinds = rank_kinds(facts).of(site.names, site.node.args[0]) if site.node.args else frozenset()
        if "rank" in kinds:
            may = "may use" if "local_rank" in kinds else "uses"
            return open_at(f"set_device {may} the global rank at {{}}", [site])
    alike = chosen_for_all(facts, program)
    if alike:
        return open_at("every process of a host uses, or may use, the same device: {}", alike)
    for site in (*chosen, *moves, *facts.calls("torch.device")):
        given = [*site.node.args, *(word.value for word in site.node.keywords)]
        inside = any(rank_kinds(facts).inside(site.names, argument, "local_rank") for argument in given)
        if inside and _is_run(facts, program, site):
            first = [] if site in chosen else list(_on_first(facts, program))
            if first:
                return open_at(FIRST, first)
            return Answer(State.PROVEN, f"by local_rank at {site.names.place(site.node)}")
    for site in facts.calls("hvdkit.torch.init"):
        if site.names in program.files:
            return Answer(State.PROVEN, f"hvd.init() chooses it at {site.names.place(site.node)}")
    for site in facts.calls(words.OWN_GROUP):
        if site.name in words.LIBRARY_STARTS and site.names in program.files:
            detail = f"{site.name} chooses it by LOCAL_RANK at {site.names.place(site.node)}"
            return Answer(State.PROVEN, detail)
    if not any(_names_cuda(names) for names in program.files):
        return Answer(State.NONE, "the program does not use CUDA")
    used = (*chosen, *moves)[:1]
    return Answer(State.OPEN, "no torch.cuda.set_device(hvd.local_rank()) was found", used)


def _on_first(facts: Facts, program: ProgramFacts) -> Iterator[Site]:
    """What uses the current GPU, which is the first one of the host where set_device() chose none."""
    for site in (*_moves(facts), *facts.calls("torch.device")):
        given = [*site.node.args, *(word.value for word in site.node.keywords if word.arg == "device")]
        if site.name == "torch.device" and len(given) > 1:
            continue  # with its number
        bare = site.name == "?.cuda" and not given
        named = (part for argument in given for part in ast.walk(argument) if isinstance(part, ast.Constant))
        if (bare or any(part.value == "cuda" for part in named)) and _is_run(facts, program, site):
            yield site


def _is_run(facts: Facts, program: ProgramFacts, site: Site) -> bool:
    """Whether a program comes to a call: the main guard of a file that it imports is another's."""
    return site.names in program.files and runs_in(facts, program, site.names, site.node)


def _moves(facts: Facts) -> Iterator[Site]:
    """`x.cuda(...)`, `x.to(...)`."""
    for method in ("cuda", "to"):
        for names, call, _ in facts.methods(method):
            yield Site(names, call, f"?.{method}")


def _above(first: Site, second: Site) -> bool:
    """Whether one call stands above another in the same function."""
    names = first.names
    same = names is second.names and names.function(first.node) is names.function(second.node)
    return same and first.node.lineno < second.node.lineno


def _names_cuda(names: Names) -> bool:
    constants = names.of_kind(ast.Constant)
    return any(name in names.attributes for name in ("cuda", "accelerator")) or any(
        isinstance(node.value, str) and "cuda" in node.value and len(node.value) < 20 for node in constants
    )
