"""HVD714: after the first step of a training loop all ranks take rank 0's weights and optimizer state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.broadcasts import variable_broadcasts
from hvdkit.migrate.facts.keras.model_calls import ModelCall
from hvdkit.migrate.facts.keras.step_loops import StepLoop
from hvdkit.migrate.facts.keras.written_variables import variables_at, written_at
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    loopless_steps,
    migrating_files,
    training_step_loops,
)
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.first_broadcast import Written, first_broadcast
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    places: dict[ast.stmt, list[StepLoop]] = {}
    for loop in (loop for loop in training_step_loops(facts) if loop.names in migrating_files(facts)):
        places.setdefault(loop.statement, []).append(loop)
    sent: set[tuple[Names, ast.AST, str]] = set()
    for statement, loops in sorted(places.items(), key=lambda place: place[0].lineno):
        names, written = loops[0].names, _written(facts, loops)
        block = names.parents[statement]
        if _broadcast_inside(facts, loops[0]):
            continue
        if "" not in written.optimizers and all((names, block, one) in sent for one in written.optimizers):
            continue  # the statement above makes the first of these steps
        sent |= {(names, block, one) for one in written.optimizers}
        yield _finding(facts, statement, loops, written)
    for step in loopless_steps(facts):
        if step.names in migrating_files(facts):
            message = (
                "the ranks' weights must be made equal, and no loop was found that runs this training step"
            )
            yield manual("HVD714", step.names, step.node, message, _advice(facts, step.names))


def _advice(facts: Facts, names: Names) -> str:
    return (
        "after the first step, outside any tf.function, call "
        f"{horovod_name(facts, names)}.broadcast_variables(..., root_rank=0) for the model's variables and "
        "the optimizer's"
    )


def _broadcast_inside(facts: Facts, loop: StepLoop) -> bool:
    """Whether the program broadcasts variables already."""
    return any(site.names is loop.names for site in variable_broadcasts(facts))


def _written(facts: Facts, loops: list[StepLoop]) -> Written:
    models: list[str] = []
    optimizers: list[str] = []
    keras = True
    for loop in loops:
        step = loop.step
        if isinstance(step, ModelCall):
            model = written_at(facts, loop, step.names, step.model)
            models.append(f"{model}.variables" if model else "")
            optimizers.append(f"{model}.optimizer" if model else "")
            continue
        optimizers.append(written_at(facts, loop, step.names, step.optimizer) or "")
        for gradient in step.gradients:
            where, sources = gradient.names, gradient.sources
            models += variables_at(facts, loop, where, sources) if sources is not None else [""]
            keras = keras and not _of_module(facts, where, sources)
    return Written(tuple(dict.fromkeys(models)), tuple(dict.fromkeys(optimizers)), keras)


def _finding(facts: Facts, statement: ast.stmt, loops: list[StepLoop], written: Written) -> Finding:
    names = loops[0].names
    message = "after the first step every rank receives rank 0's weights and optimizer state"
    models, optimizers = written.models, written.optimizers
    if "" in models or "" in optimizers or not models or any(loop.graph for loop in loops):
        where_not = "is traced by tf.function" if any(loop.graph for loop in loops) else "does not name them"
        message = f"the ranks' weights must be made equal, and this loop {where_not}"
        return manual("HVD714", names, statement, message, _advice(facts, names))
    return required(
        facts,
        "HVD714",
        names,
        statement,
        message,
        first_broadcast,
        facts,
        names,
        statement,
        written,
    )


def _of_module(facts: Facts, names: Names, sources: ast.expr | None) -> bool:
    """Whether variables are those of a tf.Module that is no Keras model: hvd.broadcast takes models only."""
    values = facts.flow.values(names, sources.value) if isinstance(sources, ast.Attribute) else ()
    bases = [facts.flow.bases(value) for value in values if value.kind == "object"]
    return any("tensorflow.Module" in found and not found & words.BASES for found in bases)


RULE = Rule(
    id="HVD714",
    title="all ranks start from the same weights",
    what=(
        "Broadcasts the model's and the optimizer's variables from rank 0 after the first step of a "
        "training loop."
    ),
    why=(
        "Each rank draws its own initial weights. A Keras model may have its variables, and an optimizer has "
        "its own, only once the first step has run: a broadcast before it would miss them."
    ),
    safety=(
        "Safe: it happens once, when the optimizer has counted one step, on all ranks. A run that resumes "
        "from a checkpoint has counted more, and has read the same weights on all ranks. In a loop that "
        "tf.function traces it is left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            w, b = tf.Variable(1.0), tf.Variable(0.0)
            optimizer = tf.keras.optimizers.SGD(0.1)
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((w * x + b - y) ** 2)
                optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            w, b = tf.Variable(1.0), tf.Variable(0.0)
            optimizer = tf.keras.optimizers.SGD(0.1)
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((w * x + b - y) ** 2)
                optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
                if optimizer.iterations == 1:
                    hvd.broadcast_variables([w, b], root_rank=0)
                    hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            class Net(tf.keras.Model):
                def train_step(self, x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(self(x))
                    gradients = tape.gradient(loss, self.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
                    return {}

            Net().fit(data)
            """,
            reason="fit runs the steps, and its broadcast callback follows the first (HVD715)",
        ),
    ),
)
