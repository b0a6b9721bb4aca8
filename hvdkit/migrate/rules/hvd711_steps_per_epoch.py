"""HVD711: an epoch of a job is still one pass over the data: fewer steps on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    migrating_files,
    migrating_fits,
    only_with_strategy,
    training_step_loops,
)
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.iterators import draws_from
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import divided, is_divided
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

SCHEDULE = "keras.optimizers.schedules.LearningRateSchedule"
OVER_STEPS = "the rate changes over steps, and each rank takes only its share of them"


def check(facts: Facts) -> Iterator[Finding]:
    for call in migrating_fits(facts):
        steps = call.argument("steps_per_epoch")
        names = call.names
        if steps is None or (isinstance(steps, ast.Constant) and steps.value is None):
            continue
        if only_with_strategy(facts, names) or is_divided(facts, names, steps):
            continue
        if any(name.endswith(".steps_per_epoch") for name in facts.flow.made(names, steps)):
            continue
        if _of_share(facts, names, steps):
            message = "these steps are computed from a dataset of which each rank has a part"
            advice = "make sure that the steps of all ranks together are one pass over the data"
            yield manual("HVD711", names, steps, message, advice)
            continue
        message = "the ranks share the steps of an epoch"
        yield safe(facts, "HVD711", names, steps, message, _edit, facts, names, steps)
    yield from _schedules(facts)
    yield from _own_schedules(facts)


def _files_that_share(facts: Facts) -> set[Names]:
    """The files whose fits, or loops over datasets, take a rank's share of the steps."""
    nodes = {dataset.node for dataset in dataset_chains(facts).training}
    loops = {loop.names for loop in training_step_loops(facts) if draws_from(loop, nodes)}
    return loops | {call.names for call in migrating_fits(facts)}


def _schedules(facts: Facts) -> Iterator[Finding]:
    """Steps over which a schedule changes the rate: each rank takes fewer of them in as many epochs."""
    sharing = _files_that_share(facts)
    for site in facts.calls(*words.SCHEDULES):
        names = site.names
        if names not in migrating_files(facts) or only_with_strategy(facts, names):
            continue
        position, parameters = words.SCHEDULES[site.name]
        given = [keyword(site.node, name) for name in parameters]
        given += site.node.args[position : position + 1]
        for steps in given:
            if (
                steps is None
                or is_divided(facts, names, steps)
                or getattr(steps, "value", steps) in (None, 0)
            ):
                continue
            message = OVER_STEPS
            if names not in sharing or site.name.endswith("PiecewiseConstantDecay") or _asks(names, steps):
                advice = (
                    f"divide by {horovod_name(facts, names)}.size() the values counted in steps of one "
                    "process"
                )
                yield manual("HVD711", names, steps, message, advice)
            else:
                yield safe(facts, "HVD711", names, steps, message, divided, facts, names, steps)


def _own_schedules(facts: Facts) -> Iterator[Finding]:
    """Schedules of the project's own: their classes are called with the step, which counts slower now."""
    for names in migrating_files(facts):
        for call in names.class_calls if not only_with_strategy(facts, names) else ():
            made = [value for value in facts.flow.values(names, call) if value.kind == "object"]
            own = any(SCHEDULE in facts.flow.bases(value) for value in made)
            if own and not rank_kinds(facts).inside(names, call, "size"):
                advice = (
                    f"divide by {horovod_name(facts, names)}.size() what it counts in steps of one process"
                )
                yield manual("HVD711", names, call, OVER_STEPS, advice)


def _asks(names: Names, steps: ast.expr) -> bool:
    """Whether steps are made of anything but numbers and variables that hold numbers."""
    for part in ast.walk(steps):
        if isinstance(part, (ast.Call, ast.Attribute, ast.Subscript)):
            return True
        if isinstance(part, ast.Name):
            bound = [binding.value for binding in names.bindings(part.id, part)]
            if not bound or any(value is None or _asks(names, value) for value in bound if value is not part):
                return True
    return False


def _edit(facts: Facts, names: Names, steps: ast.expr) -> list[Edit]:
    if target_of(facts, names) == "hvdkit":
        return edits.wrap(names.source, steps, f"{horovod_name(facts, names)}.steps_per_epoch(", ")")
    return divided(facts, names, steps)


def _of_share(facts: Facts, names: Names, steps: ast.expr) -> bool:
    """Whether steps are counted from a dataset itself, which HVD710 may have cut."""
    for node in ast.walk(steps):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            for binding in names.bindings(node.id, node) if isinstance(node, ast.Name) else ():
                inner = binding.value if binding.kind == "assign" else None
                if inner is not None and isinstance(inner, (ast.BinOp, ast.Call)) and inner is not steps:
                    if any(_is_dataset(facts, names, part) for part in ast.walk(inner)):
                        return not _is_dataset(facts, names, node)
            if _is_dataset(facts, names, node):
                return True
    return False


def _is_dataset(facts: Facts, names: Names, node: ast.AST) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    chains = dataset_chains(facts).follow(names, node)
    return any(
        chain.source.node is not node and dataset_chains(facts).is_dataset(chain.source) for chain in chains
    )


RULE = Rule(
    id="HVD711",
    title="steps per epoch are shared",
    what=(
        "Divides steps_per_epoch of a single-process fit by hvd.size(), and the steps over which Keras's "
        "schedules of the learning rate count, where they are numbers."
    ),
    why="With the same number of steps on every rank, an epoch would be size() passes over the data.",
    safety=(
        "Safe: all ranks together take the steps that one process took. A strategy's steps stay: its batch "
        "was that of all replicas. Steps that are counted from a dataset which is itself cut are left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=3, steps_per_epoch=1000)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=3, steps_per_epoch=1000 // hvd.size())
            """,
        ),
    ),
    keeps=(
        Keep(
            "import tensorflow as tf\n\nstrategy = tf.distribute.MirroredStrategy()\n"
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.fit(data, "
            "steps_per_epoch=1000)\n",
            reason="a step of a strategy was one of all replicas, as it is one of all ranks now",
        ),
    ),
)
