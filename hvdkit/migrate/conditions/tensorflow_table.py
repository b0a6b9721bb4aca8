"""The post-conditions of a migrated TensorFlow program, each proven from its facts, or open."""

from __future__ import annotations

import ast

from hvdkit.migrate.conditions.answers import Answer, Code, open_at, places, row
from hvdkit.migrate.conditions.paper_job import with_objections
from hvdkit.migrate.conditions.same_samples import differing_samples
from hvdkit.migrate.conditions.why import with_reasons
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.unseen_training import unseen_training
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.broadcasts import variable_broadcasts
from hvdkit.migrate.facts.keras.gradients import is_distributed
from hvdkit.migrate.facts.keras.model_calls import ModelCall, custom_step, keras_calls
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.tensorflow_programs import loopless_steps, training_step_loops
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.iterators import drawn_steps, draws_from, own_order, shuffles_apart
from hvdkit.migrate.facts.tensorflow.loaded_models import trained_as_loaded
from hvdkit.migrate.facts.tensorflow.own_shares import by_size, is_cut, is_own_part, takes_share
from hvdkit.migrate.facts.tensorflow.samples import pipeline_sources
from hvdkit.migrate.facts.tensorflow.saving_calls import other_writers, saves, summaries
from hvdkit.migrate.plan import Condition, State
from hvdkit.source.index.names import Names

FileNode = tuple[Names, ast.AST]
VISIBLE = ("tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices")
# TensorFlow 1's.
OF_GRAPHS = tuple(
    f"horovod.tensorflow.{name}" for name in ("BroadcastGlobalVariablesHook", "broadcast_global_variables")
)


def tensorflow_conditions(facts: Facts, program: ProgramFacts, before: Facts) -> tuple[Condition, ...]:
    """The table for a TensorFlow program."""
    otherwise = _trains(facts, program)
    answers = {name: check(facts, program) for name, check in ROWS.items()}
    answers = with_objections(facts, program, before, answers)
    rows = tuple(row(before, name, answer, otherwise) for name, answer in answers.items())
    return with_reasons(facts, program, before, rows)


def _trains(facts: Facts, program: ProgramFacts) -> list[Code]:
    """What trains in a program, to which a person goes where something is missing; else where it begins."""
    feeds = (call for call in keras_calls(facts) if call.method in ("fit", "fit_generator", "train_on_batch"))
    found: list[Code] = [(call.names, call.node) for call in feeds if call.names in program.files]
    found += [(step.names, step.node) for step in applied_gradients(facts) if step.names in program.files]
    return found[:1] or [(program.entry, program.entry.source.tree)]


def _init(facts: Facts, program: ProgramFacts) -> Answer:
    sites = [site for site in facts.calls(*words.INITS) if site.names in program.files]
    if not sites:
        return Answer(State.OPEN, "no hvd.init() was found")
    return Answer(State.PROVEN, f"hvd.init() at {places((s.names, s.node) for s in sites)}")


def _device(facts: Facts, program: ProgramFacts) -> Answer:
    for site in facts.calls(*words.INITS):
        if site.names in program.files and site.name.startswith("hvdkit."):
            return Answer(State.PROVEN, f"hvd.init() chooses it at {places([(site.names, site.node)])}")
    for site in facts.calls(*VISIBLE):
        if site.names in program.files and rank_kinds(facts).inside(site.names, site.node, "local_rank"):
            return Answer(State.PROVEN, f"by local_rank at {places([(site.names, site.node)])}")
    for names in program.files:
        for use in names.attributes.get("visible_device_list", ()):
            if rank_kinds(facts).inside(names, names.statement(use), "local_rank"):
                return Answer(State.PROVEN, f"by local_rank at {places([(names, use)])}")
    return Answer(State.OPEN, "no tf.config.set_visible_devices by local_rank was found")


def _sharded(facts: Facts, program: ProgramFacts) -> Answer:
    apart = differing_samples(facts, program, list(pipeline_sources(facts, program)))
    if apart is not None:
        return apart
    drawn = [dataset for dataset in dataset_chains(facts).training if dataset.names in program.files]
    lost = [chain.source for dataset in drawn for chain in dataset.chains if chain.lost]
    if lost:
        return open_at("could not be followed: too many ways lead to {}", lost)
    fitted = {x: call for call in _fits(facts, program) if (x := call.argument("x")) is not None}
    few = {x for x, call in fitted.items() if by_size(facts, call.names, call.argument("steps_per_epoch"))}
    whole: list[FileNode] = [
        (dataset.names, dataset.node)
        for dataset in drawn
        for chain in dataset.chains
        if not is_cut(facts, chain)
        if not shuffles_apart(facts, chain) or not (dataset.node in few or takes_share(facts, chain))
    ]
    nodes = {dataset.node for dataset in drawn}
    followed = set(nodes)
    for x, call in fitted.items():
        own = is_own_part(facts, call.names, x) or (x in few and own_order(facts, call.names, x))
        if x not in followed and not own:
            whole.append((call.names, x))
        followed.add(x)
    for loop in (loop for loop in training_step_loops(facts) if loop.names in program.files):
        steps = drawn_steps(facts, loop)
        if not draws_from(loop, nodes) and not by_size(facts, loop.names, steps):
            whole.append((loop.names, loop.node))
    whole += [(step.names, step.node) for step in loopless_steps(facts) if step.names in program.files]
    if whole:
        return open_at("every rank may see all of the data at {}", whole)
    if not followed:
        return Answer(State.NONE, "nothing was found that draws data")
    return Answer(State.PROVEN, "each rank has its own share, or its share of the steps in its own order")


def _fits(facts: Facts, program: ProgramFacts) -> list[ModelCall]:
    return [
        c for c in keras_calls(facts) if c.names in program.files and c.method in ("fit", "fit_generator")
    ]


def _optimizer(facts: Facts, program: ProgramFacts) -> Answer:
    bare: list[FileNode] = []
    done: list[FileNode] = []
    fitted = {v for call in _fits(facts, program) for v in facts.flow.values(call.names, call.model)}
    for call in (c for c in keras_calls(facts) if c.method == "compile" and c.names in program.files):
        if custom_step(facts, call) or not facts.flow.values(call.names, call.model) & fitted:
            continue
        optimizer = call.argument("optimizer")
        wrapped = facts.flow.made(call.names, optimizer) & words.OPTIMIZERS
        (done if wrapped else bare).append((call.names, call.node))
    for step in (step for step in applied_gradients(facts) if step.names in program.files):
        for gradient in step.gradients:
            reduced = is_distributed(facts, gradient)
            (done if reduced else bare).append((gradient.names, gradient.node))
    bare += unseen_training(facts, program)
    bare += [(model.names, model.node) for model in trained_as_loaded(facts) if model.names in program.files]
    if bare:
        return open_at("gradients are not averaged at {}", bare)
    # A graph of TensorFlow 1 has no tape: its optimizer is Horovod's where it computes the gradients.
    done += [
        (site.names, site.node)
        for site in facts.calls(*words.OPTIMIZERS, *words.DISTRIBUTED_LOADS)
        if site.names in program.files
    ]
    if not done:
        return Answer(State.OPEN, "no optimizer was found")
    return Answer(State.PROVEN, f"DistributedOptimizer or DistributedGradientTape at {places(done)}")


def _broadcast(facts: Facts, program: ProgramFacts) -> Answer:
    missing: list[FileNode] = []
    found = (*variable_broadcasts(facts), *facts.calls(*OF_GRAPHS))
    sites: list[FileNode] = [(site.names, site.node) for site in found if site.names in program.files]
    in_loops = {names for names, _ in sites}
    for loop in training_step_loops(facts):
        if loop.names in program.files and loop.names not in in_loops:
            missing.append((loop.names, loop.node))
    for call in _fits(facts, program):
        given = call.argument("callbacks")
        if given is not None and _broadcasts(facts, call.names, given):
            sites.append((call.names, given))
        else:
            missing.append((call.names, call.node))
    if missing:
        return open_at("no broadcast from rank 0 for {}", missing)
    if not sites:
        return Answer(State.OPEN, "no broadcast was found")
    return Answer(State.PROVEN, f"broadcast at {places(sites)}")


def _broadcasts(facts: Facts, names: Names, given: ast.expr) -> bool:
    """Whether callbacks hold Horovod's broadcast: a list, a variable's, or hvd.callbacks(...)."""
    values = facts.flow.values(names, given)
    if any(v.name.startswith("hvdkit.") and v.name.endswith("callbacks") for v in values):
        return True
    nodes = [given, *(value.node for value in values)]
    return any(
        isinstance(part, ast.Call) and getattr(part.func, "attr", "") == words.BROADCAST_CALLBACK
        for node in nodes
        for part in ast.walk(node)
    )


def _writers(facts: Facts, program: ProgramFacts) -> Answer:
    found = [s for s in (*saves(facts), *summaries(facts)) if s.names in program.files]
    every: list[FileNode] = [
        (s.names, s.node)
        for s in found
        if s.where is Where.ALL and not rank_kinds(facts).inside(s.names, s.node)
    ]
    every += [(w.names, w.node) for w in other_writers(facts) if w.names in program.files]
    kept = any(site.names in program.files for site in facts.calls("hvdkit.tensorflow.keras.callbacks"))
    for site in facts.calls(*words.WRITING_CALLBACKS):
        if site.names in program.files:
            found.append(site)  # type: ignore[arg-type]
            if not kept and not _on_rank_0(facts, site.names, site.node):
                every.append((site.names, site.node))
    if every:
        return open_at("every rank writes at {}", every)
    if not found:
        return Answer(State.NONE, "no call was found that writes a file")
    return Answer(State.PROVEN, "rank 0 writes")


def _on_rank_0(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a callback that writes is made on rank 0, or only given to fit there."""
    if where_runs(facts, names, call) is not Where.ALL:
        return True
    parent = names.parents[call]
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    uses = [use for use in names.uses.get(parent.targets[0].id, ()) if isinstance(use.ctx, ast.Load)]
    uses = [use for use in uses if not isinstance(names.parents[use], ast.Attribute)]
    return all(where_runs(facts, names, use) is not Where.ALL for use in uses)


def _leftovers(facts: Facts, program: ProgramFacts) -> Answer:
    sites = [(s.names, s.node) for s in facts.calls(*words.MIRRORED) if s.names in program.files]
    if sites:
        return open_at("a strategy is created at {}", sites)
    return Answer(State.PROVEN, "no mirrored strategy is created")


ROWS = {
    "Horovod is initialized before TensorFlow is used": _init,
    "each process has its own device": _device,
    "training data is sharded by rank": _sharded,
    "every optimizer averages gradients": _optimizer,
    "ranks start from the same weights": _broadcast,
    "files are written by rank 0 only": _writers,
    "no strategy is left": _leftovers,
}
