"""HVD713: the gradients of a tape are reduced over the ranks before an optimizer applies them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.applied import Applied, applied_gradients
from hvdkit.migrate.facts.keras.gradients import Gradient, is_distributed
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    migrating_files,
    only_with_strategy,
    replicated_functions,
)
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import before, tf
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Binding, Names

MESSAGE = "gradients are reduced over the ranks"
KERAS_LOSSES = ("compiled_loss", "compute_loss")


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    tapes: dict[tuple[Names, ast.AST | None, str, Binding | None], ast.Call] = {}
    for step in applied_gradients(facts):
        if step.names not in migrating_files(facts):
            continue
        for gradient in step.gradients:
            names, call, tape = gradient.names, gradient.node, gradient.tape
            if call in seen:
                continue
            seen.add(call)
            if is_distributed(facts, gradient):
                continue
            if tape is None:
                yield from _taken(facts, step, gradient, None)
                continue
            last = last_binding(names, tape) if isinstance(tape, ast.Name) else None
            key = (names, names.function(call), names.source.segment(tape), last)
            first = tapes.setdefault(key, call)
            if first is not call and (_recording(names, first, last) or _follows(names, first, call)):
                continue
            yield from _taken(facts, step, gradient, _recording(names, call, last))


def _follows(names: Names, first: ast.Call, second: ast.Call) -> bool:
    """Whether a call comes after another one whenever it runs: further down in the same block."""
    block, inner = names.parents[names.statement(first)], second
    return block in names.ancestors(inner) and second.lineno >= first.lineno


def _recording(names: Names, call: ast.Call, tape: Binding | None) -> ast.expr | None:
    """What makes the tape in the `with` that a call stands in, where the tape still records."""
    for parent in names.ancestors(call):
        for item in parent.items if isinstance(parent, ast.With) else ():
            if tape is not None and item.context_expr is tape.value:
                return item.context_expr
    return None


def _taken(facts: Facts, step: Applied, gradient: Gradient, recording: ast.expr | None) -> Iterator[Finding]:
    names, call = gradient.names, gradient.node
    replicated = only_with_strategy(facts, names) and names.function(call) in replicated_functions(facts)
    summed = replicated and not _by_keras(facts, gradient)
    if summed and step.changed:
        advice = (
            "reduce what is applied: hvd.allreduce(gradient, op=hvd.Sum) of each gradient, after the change"
        )
        message = (
            "the gradients are changed (for example clipped) on each replica before the strategy sums them"
        )
        yield refused("HVD713", names, call, message, advice)
        return
    yield required(facts, "HVD713", names, call, MESSAGE, _edit, facts, gradient, summed, recording)


def _by_keras(facts: Facts, gradient: Gradient) -> bool:
    """Whether Keras scales the loss that a gradient is of: with one replica its mean is to be averaged."""
    names = gradient.names
    waiting = [gradient.target] if gradient.target is not None else []
    for node in waiting:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and getattr(part.func, "attr", "") in KERAS_LOSSES:
                return True
            if isinstance(part, ast.Name) and len(waiting) < 8:
                found = names.bindings(part.id, part)
                waiting += [b.value for b in found if b.kind == "assign" and b.value not in (None, *waiting)]  # type: ignore[misc]
    return False


def _edit(facts: Facts, gradient: Gradient, summed: bool, recording: ast.expr | None) -> list[Edit]:
    names, call, tape = gradient.names, gradient.node, gradient.tape
    hvd = horovod_name(facts, names)
    op = f", op={hvd}.Sum" if summed else ""
    if tape is None:  # the optimizer would make one of its own
        own = f"tape={hvd}.DistributedGradientTape({tf(names)}.GradientTape(){op})"
        return [edits.add_arguments(names.source, call, [own])]
    made = _listed(facts, gradient)
    if recording is not None:
        # A tape that is wrapped while it records is not stopped by gradient(), and refuses it.
        return [*edits.wrap(names.source, recording, f"{hvd}.DistributedGradientTape(", f"{op})"), *made]
    if not isinstance(tape, ast.Name):
        raise edits.CannotEdit("the tape has no name of its own")
    line = f"{tape.id} = {hvd}.DistributedGradientTape({tape.id}{op})"
    return [*before(facts, names, names.statement(call), [line]), *made]


def _listed(facts: Facts, gradient: Gradient) -> list[Edit]:
    """A variable alone as a list of one: plain Horovod's tape goes through its sources, and finds rows."""
    sources, source = gradient.sources, gradient.names.source
    if target_of(facts, gradient.names) != "horovod" or sources is None or not _is_tapes(gradient.node):
        return []
    if facts.flow.made(gradient.names, sources) != {"tensorflow.Variable"}:
        return []
    return [*edits.wrap(source, sources, "[", "]"), *edits.wrap(source, gradient.node, "", "[0]")]


def _is_tapes(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "gradient"


KERAS = "import horovod.tensorflow as hvd\n"

RULE = Rule(
    id="HVD713",
    title="DistributedGradientTape",
    what=(
        "Puts `tape = hvd.DistributedGradientTape(tape)` above the tape.gradient(...) whose gradients an "
        "optimizer applies, or, where that is called while the tape records, around the tape in its `with`. "
        "Where a strategy summed the gradients of its replicas, op=hvd.Sum keeps that."
    ),
    why="Each rank has the gradients of its own batch. Without the reduction every rank trains a different model.",
    safety=(
        "Safe: a single-process loss is a mean over its batch, and the mean of the ranks' gradients is the "
        "gradient of the mean; a strategy's loss is a share of the whole, and shares are summed. A tape "
        "whose gradients are not applied (a gradient penalty) stays. A program whose replicas clip "
        "gradients before the sum is refused."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            def train_step(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(critic(x))
                gradients = tape.gradient(loss, critic.trainable_variables)
                critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(actor(x))
                gradients = tape.gradient(loss, actor.trainable_variables)
                actor_optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            def train_step(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(critic(x))
                tape = hvd.DistributedGradientTape(tape)
                gradients = tape.gradient(loss, critic.trainable_variables)
                critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(actor(x))
                tape = hvd.DistributedGradientTape(tape)
                gradients = tape.gradient(loss, actor.trainable_variables)
                actor_optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            def step(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x))
                tape = hvd.DistributedGradientTape(tape)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            """,
            reason="it is reduced already",
        ),
    ),
)
