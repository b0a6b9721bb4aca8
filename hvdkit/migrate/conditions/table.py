"""The post-conditions of a migrated program, each proven from the facts of the rewritten text, or open.

A row that does not apply is "not needed", with the reason. What could not be followed is open.
"""

from __future__ import annotations

import ast
from pathlib import Path

from hvdkit.migrate.conditions.answers import Answer, Code, open_at, places, row
from hvdkit.migrate.conditions.devices import initialised, own_device
from hvdkit.migrate.conditions.leftovers import leftovers
from hvdkit.migrate.conditions.paper_job import with_paper_job
from hvdkit.migrate.conditions.paths import kept_from, sends_buffers, stays_zero
from hvdkit.migrate.conditions.same_samples import differing_samples
from hvdkit.migrate.conditions.starts import STARTS_ITSELF, starts_itself
from hvdkit.migrate.conditions.tensorflow_table import tensorflow_conditions
from hvdkit.migrate.conditions.why import with_reasons
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.coverage.early_copies import early_copies
from hvdkit.migrate.facts.coverage.own_weights import own_weights
from hvdkit.migrate.facts.coverage.unseen_training import unseen_training
from hvdkit.migrate.facts.data.downloads import downloads_by_hand, waited_for
from hvdkit.migrate.facts.data.made_from import dataset_sources
from hvdkit.migrate.facts.data.random_batches import drawn_apart, made_apart
from hvdkit.migrate.facts.data.sample_code import prepares_data
from hvdkit.migrate.facts.data.samplers_of_hosts import same_on_hosts
from hvdkit.migrate.facts.data.sharding import (
    epoch_calls,
    in_order,
    orders_itself,
    picked_by_rank,
    share,
    without_sampler,
)
from hvdkit.migrate.facts.data.training_loaders import (
    own_loaders,
    seeds,
    training_loaders,
    unfollowed_loaders,
)
from hvdkit.migrate.facts.data.whole_graph import whole_graph
from hvdkit.migrate.facts.files.writers import writers
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, no_rank_comes, where_runs
from hvdkit.migrate.facts.models.gradient_collectives import BY_HOROVOD, Gradients, hand_reductions
from hvdkit.migrate.facts.optimizers.after_backward import averaged_passes
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.named_passes import passes_by_name
from hvdkit.migrate.facts.optimizers.unknown_steps import unknown_steps
from hvdkit.migrate.facts.programs.paper_runs import is_divided, orders_differ, ranks_take_turns
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.reached_code import is_started, run_by_nobody, runs_in
from hvdkit.migrate.facts.programs.training_paths import (
    input_passes,
    may_run_in,
    modules_chosen,
    training_paths,
)
from hvdkit.migrate.plan import Condition, State
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names

UNDERSTOOD = "all training code is understood"
NOT_UNDERSTOOD = "nothing that hvdkit recognizes averages the gradients of the training at {}"
NOT_TRAINED = "nothing is trained here"
ALONE = "nothing is trained here: started alone, as before, its one process writes"
WRITTEN = "files are written by rank 0 only"
ONE_PROCESS = "nothing is trained: it stays a single-process program"
SCALES = "Parts of it would be divided: those of a NeighborLoader with a DistributedSampler over the nodes"


def conditions(facts: Facts, entry: Path, before: Facts) -> tuple[Condition, ...]:
    """The table for the program that starts with a file. before: the facts of the files as they are."""
    program = next((p for p in programs_of(facts) if p.entry.source.path == entry), None)
    if program is None:
        return ()
    if program.kind == "none":
        unseen = unseen_training(facts, program)
        found = {UNDERSTOOD: open_at(NOT_UNDERSTOOD, unseen)} if unseen else {}
        if (starts := starts_itself(facts, program)).state is State.OPEN:
            found[STARTS_ITSELF] = starts
        return tuple(row(before, name, answer, ()) for name, answer in found.items())
    if program.kind.startswith("tf-"):
        return tensorflow_conditions(facts, program, before)
    training = bool(training_paths(facts, program)) or passes_by_name(facts, program)
    if not training and not is_started(facts, program.entry):
        return ()  # only other files' programs run what it defines
    if not training and not _uses_horovod(facts, program):
        return tuple(Condition(name, State.NONE, ONE_PROCESS) for name in (*STARTED, *TRAINING, *ALWAYS))
    answers = {name: check(facts, program) for name, check in STARTED.items()}
    was = next((p.kind for p in programs_of(before) if p.entry.source.path == entry), "")
    chosen = modules_chosen(facts, program) if was == "ddp" else []
    untrained = (
        open_at("what may train is imported by a computed name at {}", chosen)
        if chosen
        else Answer(State.NONE, NOT_TRAINED)
    )
    for name, check in TRAINING.items():
        answers[name] = check(facts, program) if training else untrained
    answers.update({name: check(facts, program) for name, check in ALWAYS.items()})
    answers = with_paper_job(facts, program, before, answers, training)
    if not training and was == "none" and answers[WRITTEN].state is State.OPEN:
        answers[WRITTEN] = Answer(State.NONE, ALONE)
    otherwise = _trains(facts, program)
    rows = tuple(row(before, name, answer, otherwise) for name, answer in answers.items())
    return with_reasons(facts, program, before, rows)


def _trains(facts: Facts, program: ProgramFacts) -> list[Code]:
    """What trains in a program, to which a person goes where something is missing; else where it begins."""
    found: list[Code] = [(path.names, path.backward) for path in training_paths(facts, program)]
    return found[:1] or [(program.entry, program.entry.source.tree)]


def _uses_horovod(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program may come to a call of Horovod or torch.distributed."""
    called = facts.calls(*(f"{module}." for module in words.HOROVOD), "torch.distributed.")
    return any(runs_in(facts, program, site.names, site.node) for site in called)


def _sharded(facts: Facts, program: ProgramFacts) -> Answer:
    apart = differing_samples(facts, program, list(dataset_sources(facts, program)))
    if apart is not None:
        return apart
    loaders = training_loaders(facts, program)
    if not loaders:
        own = own_loaders(facts, program)
        if own and all(rank_kinds(facts).inside(value.names, value.node) for value in own):
            return Answer(State.PROVEN, f"by the project's own DataLoader class at {places(own)}")
        if own:
            return open_at("how the project's own DataLoader class splits the data at {}", own)
        return _without_loader(facts, program)
    # One that is made where there is one process may have all of the data.
    loaders = [o for o in loaders if not no_rank_comes(facts, o.names, o.node)] or loaders
    shares = [(loader, share(facts, loader)) for loader in loaders]
    whole = [loader for loader, by in shares if not by and not picked_by_rank(facts, loader)]
    if whole:
        return open_at("every rank may draw all of the data of the loader at {}", whole)
    empty = [
        (none.names, none.node)
        for loader in loaders
        if not ranks_take_turns(facts, loader.names, loader.node)
        if not is_divided(facts, loader.names, loader.node)
        for none in without_sampler(facts, loader)
    ]
    if empty:
        return open_at(
            "it could not be determined whether the loader uses the sampler that splits the data, or this "
            "one, with which every rank draws all of it: {}",
            empty,
        )
    alike = [loader for loader in loaders if same_on_hosts(facts, loader)]
    if alike:
        return open_at(
            "the sampler splits the data by the rank within a host, and on several hosts ranks draw the "
            "same data: loader at {} (--suggested gives it hvd.rank())",
            alike,
        )
    by = " and ".join(sorted({by or "a data set indexed by the rank" for _, by in shares}))
    return Answer(State.PROVEN, f"by {by}: loader at {places(loaders)}")


def _without_loader(facts: Facts, program: ProgramFacts) -> Answer:
    """Batches that are drawn by hand: seeded by the rank, every rank draws others."""
    made = unfollowed_loaders(facts, program)
    if made:
        return open_at("which loader feeds the training could not be followed: {}", made)
    graph = whole_graph(facts, program)
    if graph is not None:
        data, loop = graph
        return Answer(
            State.NONE,
            f"no batches to divide: each step at {places([loop])} computes the whole graph of "
            f"{places([data])}, the same on every rank, and N ranks take as long as one. {SCALES}",
        )
    found = seeds(facts, program)
    own = [(names, call) for names, call, by_rank in found if by_rank]
    if own:
        where = places(own)
        return Answer(
            State.PROVEN, f"no DataLoader; random numbers, seeded by the rank at {where}, draw the batches"
        )
    apart = [site for path in training_paths(facts, program) for site in drawn_apart(facts, program, path)]
    if apart:
        return Answer(
            State.PROVEN,
            f"no DataLoader; unseeded random numbers draw the batches at {places(apart)}",
        )
    made_by = [site for path in training_paths(facts, program) for site in made_apart(facts, program, path)]
    if made_by:
        return Answer(
            State.PROVEN,
            f"no DataLoader; the data are unseeded random numbers: {places(made_by)}",
        )
    same = [(names, call) for names, call, _ in found]
    if same:
        return open_at("no DataLoader, and the seed at {} is the same on all ranks", same)
    return Answer(State.OPEN, "no DataLoader was found in a loop with a backward pass")


def _set_epoch(facts: Facts, program: ProgramFacts) -> Answer:
    every = training_loaders(facts, program)
    if not every and (answer := _samplers_told(facts, program)) is not None:
        return answer
    loaders = [loader for loader in every if share(facts, loader)]
    shuffling = [o for o in loaders if not in_order(facts, o) and not orders_itself(facts, o)]
    if not shuffling:
        return Answer(State.NONE, "no sampler needs the epoch" if loaders else "no sampler was found")
    calls = {
        loader.node: [call for call in epoch_calls(facts, loader) if runs_in(facts, program, *call)]
        for loader in shuffling
    }
    untold = [
        loader
        for loader in shuffling
        if not calls[loader.node] and not orders_differ(facts, loader.names, loader.node)
    ]
    if untold:
        return open_at("no set_epoch was found for the loader at {}", untold)
    told = [call for found in calls.values() for call in found]
    if not told:
        return Answer(State.PROVEN, f"the order of each pass is drawn anew: loader at {places(shuffling)}")
    return Answer(State.PROVEN, f"set_epoch at {places(told)}")


def _samplers_told(facts: Facts, program: ProgramFacts) -> Answer | None:
    """Whether each sampler whose loader was not followed gets set_epoch; None if there is none."""
    samplers = [
        site
        for site in facts.calls(*words.SAMPLERS - {words.ORDERED_SAMPLER})
        if may_run_in(facts, program, site.names, site.node) and not _is_off(keyword(site.node, "shuffle"))
    ]
    calls = [at for at in facts.methods("set_epoch") if may_run_in(facts, program, at[0], at[1])]
    told = {value.node for names, _, receiver in calls for value in facts.flow.values(names, receiver)}
    untold = [site for site in samplers if site.node not in told]
    if untold:
        return open_at("no set_epoch was found for the sampler at {}", untold)
    where = places((names, call) for names, call, _ in calls)
    return Answer(State.PROVEN, f"set_epoch at {where}") if samplers else None


def _is_off(argument: ast.expr | None) -> bool:
    return isinstance(argument, ast.Constant) and not argument.value


def _optimizer(facts: Facts, program: ProgramFacts) -> Answer:
    unseen = unseen_training(facts, program)
    if unseen:
        return open_at("a library runs the training here: {}", unseen)
    mine = [
        optimizer
        for optimizer in averaging_optimizers(facts)
        if optimizer.names in program.files
        if runs_in(facts, program, optimizer.names, optimizer.node)
        or run_by_nobody(facts, optimizer.names, optimizer.node)
    ]
    bare = [optimizer for optimizer in mine if not optimizer.wrapped]
    if (bare or not mine) and (passes := averaged_passes(facts, program)):
        return Answer(State.PROVEN, f"averaged after backward() at {places(passes)}")
    if (bare or not mine) and (reduced := _reduced(facts, program)):
        return Answer(State.PROVEN, f"averaged before the step at {places(reduced)}")
    summed = [site for site in hand_reductions(facts, BY_HOROVOD) if site.names in program.files]
    if summed and (bare or not mine):
        return open_at("the script sums gradients itself, as before, at {}", summed)
    if not mine:
        return Answer(State.OPEN, "no optimizer was found")
    if bare:
        return open_at("not in a DistributedOptimizer: {}", bare)
    if fits := input_passes(facts, program):
        return open_at("it fits an input, and Horovod reduces its model's gradients, too: {}", fits)
    wraps = [s for s in facts.calls(*words.HVD_OPTIMIZER) if runs_in(facts, program, s.names, s.node)]
    kept = kept_from(facts, program, wraps, "the optimizer is wrapped", "ask hvd.size() > 1", True)
    return kept or Answer(State.PROVEN, f"DistributedOptimizer around {places(mine)}")


def _reduced(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.Call]]:
    """The calls that average gradients, where no other optimizer steps than those that are unknown."""
    steps = [
        at
        for at in unknown_steps(facts, program, averaging_optimizers(facts))
        if runs_in(facts, program, *at)
    ]
    calls = facts.calls(*words.HVD_IN_PLACE) if steps or passes_by_name(facts, program) else []
    return [
        (site.names, site.node)
        for site in calls
        if site.names in program.files and runs_in(facts, program, site.names, site.node)
        if words.HVD_AVERAGE & set(site.names.qualified(keyword(site.node, "op") or site.node.func))
        if Gradients(facts).among(site.names, site.node.args[0] if site.node.args else None)
    ]


def _broadcast(facts: Facts, program: ProgramFacts) -> Answer:
    sites = [site for site in facts.calls(*words.HVD_BROADCAST) if site.names in program.files]
    if not sites:
        return Answer(State.OPEN, "no broadcast of the model was found")
    late = [
        (names, call)
        for names, call, _ in facts.methods("load_state_dict")
        if names in program.files
        and where_runs(facts, names, call) is not Where.ALL
        and not any(_follows(site, names, call) for site in sites)
    ]
    if late:
        return open_at("only rank 0 loads a state at {}, after the broadcast", late)
    apart = own_weights(facts, program)
    if apart:
        return open_at(
            "no broadcast reaches the module created at {}: each rank draws its own weights for it, "
            "and no seed is set",
            apart,
        )
    for copy, site in early_copies(facts, program):
        return open_at(f"{copy} keeps each rank's own weights, copied above the broadcast at {{}}", [site])
    mine = [site for site in sites if runs_in(facts, program, site.names, site.node)]
    # The buffers that are sent before each validation are no weights.
    mine = [site for site in mine if not sends_buffers(site)] or mine
    kept = kept_from(facts, program, mine, "rank 0's weights are broadcast", "ask hvd.size() > 1")
    return kept or Answer(State.PROVEN, f"broadcast at {places(sites)}")


def _follows(site: Site, names: Names, call: ast.Call) -> bool:
    """Whether a broadcast stands below a load, or in another function, which may run later."""
    same = site.names is names and names.function(site.node) is names.function(call)
    return not same or site.node.lineno > call.lineno


def _writers(facts: Facts, program: ProgramFacts) -> Answer:
    mine = [writer for writer in writers(facts) if may_run_in(facts, program, writer.names, writer.node)]
    every = [
        writer
        for writer in mine
        if writer.where is Where.ALL
        and where_runs(facts, writer.names, writer.node, within=program) is Where.ALL
    ]
    nodes = [writer for writer in mine if writer.where is Where.ONE_PER_NODE]
    if every:
        return open_at("every rank writes at {}", every)
    if nodes:
        return open_at("one rank of each host writes (local_rank, not rank) at {}", nodes)
    fetched = [
        (names, call)
        for names, call in downloads_by_hand(facts)
        if runs_in(facts, program, names, call)
        if where_runs(facts, names, call, within=program) is Where.ALL
        if not prepares_data(facts, names, call) and not waited_for(facts, names, call)
    ]
    if fetched:
        return open_at("every rank downloads to the same file at {}", fetched)
    if not mine:
        return Answer(State.NONE, "no call was found that writes a file")
    alone = [writer for writer in mine if stays_zero(facts, writer.names, writer.node)]
    if alone:
        return open_at("the rank that is asked for above it may be 0 on every rank of a job: {}", alone)
    return Answer(State.PROVEN, f"rank 0 writes at {places(mine)}")


def _reductions(facts: Facts, program: ProgramFacts) -> Answer:
    sites = [site for site in facts.calls(*BY_HOROVOD) if site.names in program.files]
    lost = [
        site
        for site in sites
        if not site.name.endswith("_") and isinstance(site.names.parents[site.node], ast.Expr)
    ]
    silent = [site for site in sites if not {"op", "average"} & {k.arg for k in site.node.keywords}]
    if lost:
        return open_at("the result is discarded at {}: allreduce_ works in place", lost)
    if not sites:
        return Answer(State.NONE, "there is no hand-written reduction")
    if silent:
        return Answer(State.PROVEN, f"Horovod's average, where no op is given: {places(silent)}")
    return Answer(State.PROVEN, f"op at {places(sites)}")


STARTS = "Horovod is initialized before CUDA"
STARTED = {STARTS: initialised, STARTS_ITSELF: starts_itself, "each process has its own device": own_device}
TRAINING = {
    "training data is sharded by rank": _sharded,
    "each epoch has a different order": _set_epoch,
    "every optimizer averages gradients": _optimizer,
    "ranks start from the same weights": _broadcast,
}
ALWAYS = {
    WRITTEN: _writers,
    "reductions name their operation": _reductions,
    "no DDP or process group is left": leftovers,
}
