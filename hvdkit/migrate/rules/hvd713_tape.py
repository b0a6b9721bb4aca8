"""HVD713: the gradients of a tape are reduced over the ranks before an optimizer applies them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.tapes import Applied, applied_gradients, is_distributed
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    migrating_files,
    only_with_strategy,
    replicated_functions,
)
from hvdkit.migrate.index.names import Binding, Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.tensorflow import before
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.binding_order import last_binding

MESSAGE = "gradients are reduced over the ranks"
KERAS_LOSSES = ("compiled_loss", "compute_loss")


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    tapes: dict[tuple[Names, ast.AST | None, str, Binding | None], ast.Call] = {}
    for step in applied_gradients(facts):
        if step.names not in migrating_files(facts):
            continue
        for names, call in step.gradients:
            if call in seen:
                continue
            seen.add(call)
            tape = call.func.value if isinstance(call.func, ast.Attribute) else call
            if is_distributed(facts, names, tape):
                continue
            last = last_binding(names, tape) if isinstance(tape, ast.Name) else None
            key = (names, names.function(call), names.source.segment(tape), last)
            first = tapes.setdefault(key, call)
            if first is not call and (_recording(names, first, last) or _follows(names, first, call)):
                continue
            yield from _tape(facts, step, names, call, tape, _recording(names, call, last))
    for names, call, receiver in facts.methods("minimize"):
        made = facts.flow.made(names, receiver)
        if names in migrating_files(facts) and any(name.startswith("keras.optimizers.") for name in made):
            advice = f"take the gradients with a {horovod_name(facts, names)}.DistributedGradientTape, and apply_gradients"
            message = "minimize takes and applies the gradients of this rank alone"
            yield refused("HVD713", names, call, message, advice)


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


def _tape(
    facts: Facts, step: Applied, names: Names, call: ast.Call, tape: ast.expr, recording: ast.expr | None
) -> Iterator[Finding]:
    replicated = only_with_strategy(facts, names) and names.function(call) in replicated_functions(facts)
    summed = replicated and not _by_keras(facts, names, call)
    if summed and step.changed:
        advice = (
            "reduce what is applied: hvd.allreduce(gradient, op=hvd.Sum) of each gradient, after the change"
        )
        message = (
            "the gradients are changed (for example clipped) on each replica before the strategy sums them"
        )
        yield refused("HVD713", names, call, message, advice)
        return
    yield required(facts, "HVD713", names, call, MESSAGE, _edit, facts, names, call, tape, summed, recording)


def _by_keras(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether Keras scales the loss that a gradient is of: with one replica its mean is to be averaged."""
    target = call.args[0] if call.args else None
    waiting = [target] if isinstance(target, ast.expr) else []
    for node in waiting:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and getattr(part.func, "attr", "") in KERAS_LOSSES:
                return True
            if isinstance(part, ast.Name) and len(waiting) < 8:
                found = names.bindings(part.id, part)
                waiting += [b.value for b in found if b.kind == "assign" and b.value not in (None, *waiting)]  # type: ignore[misc]
    return False


def _edit(
    facts: Facts, names: Names, call: ast.Call, tape: ast.expr, summed: bool, recording: ast.expr | None
) -> list[Edit]:
    if not isinstance(tape, ast.Name):
        raise edits.CannotEdit("the tape has no name")
    hvd, op = horovod_name(facts, names), ""
    if summed:
        op = f", op={hvd}.Sum"
    made = _listed(facts, names, call)
    if recording is not None:
        # A tape that is wrapped while it records is not stopped by gradient(), and refuses it.
        return [*edits.wrap(names.source, recording, f"{hvd}.DistributedGradientTape(", f"{op})"), *made]
    line = f"{tape.id} = {hvd}.DistributedGradientTape({tape.id}{op})"
    return [*before(facts, names, names.statement(call), [line]), *made]


def _listed(facts: Facts, names: Names, call: ast.Call) -> list[Edit]:
    """A variable alone as a list of one: plain Horovod's tape goes through its sources, and finds rows."""
    sources = given(call, 1, "sources")
    if facts.options.target != "horovod" or sources is None:
        return []
    if facts.flow.made(names, sources) != {"tensorflow.Variable"}:
        return []
    source = names.source
    return [*edits.wrap(source, sources, "[", "]"), *edits.wrap(source, call, "", "[0]")]


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
