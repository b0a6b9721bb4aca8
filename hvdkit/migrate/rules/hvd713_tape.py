"""HVD713: the gradients of a tape are reduced over the ranks before an optimizer applies them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.tensorflow.tapes import Applied, is_distributed
from hvdkit.migrate.facts.values.arguments import given
from hvdkit.migrate.facts.values.order import last_binding
from hvdkit.migrate.names import Binding, Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import before

MESSAGE = "gradients are reduced over the ranks"
KERAS_LOSSES = ("compiled_loss", "compute_loss")


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    tapes: dict[tuple[Names, ast.AST | None, str, Binding | None], ast.Call] = {}
    for step in facts.tf.applied:
        if step.names not in facts.tf.files:
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
        if names in facts.tf.files and any(name.startswith("keras.optimizers.") for name in made):
            advice = (
                f"take the gradients with a {facts.hvd(names)}.DistributedGradientTape, and apply_gradients"
            )
            message = "minimize takes and applies the gradients of this rank alone"
            yield facts.refused("HVD713", names, call, message, advice)


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
    replicated = facts.tf.strategic(names) and names.function(call) in facts.tf.replicated
    summed = replicated and not _by_keras(facts, names, call)
    if summed and step.changed:
        advice = (
            "reduce what is applied: hvd.allreduce(gradient, op=hvd.Sum) of each gradient, after the change"
        )
        message = "the gradients are changed (clipped, say) on each replica before the strategy adds them up"
        yield facts.refused("HVD713", names, call, message, advice)
        return
    yield facts.required("HVD713", names, call, MESSAGE, _edit, facts, names, call, tape, summed, recording)


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
        raise edits.CannotEdit("the tape has no name of its own")
    hvd, op = facts.hvd(names), ""
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


HEAD = """\
import tensorflow as tf

"""
HVD = "import horovod.tensorflow as hvd\n"
KERAS = "import horovod.tensorflow as hvd\n"

RULE = Rule(
    id="HVD713",
    title="DistributedGradientTape",
    what=(
        "Puts `tape = hvd.DistributedGradientTape(tape)` above the tape.gradient(...) whose gradients an optimizer "
        "applies, or, where that is called while the tape records, around the tape in its `with`. Where a strategy added "
        "the gradients of its replicas up, op=hvd.Sum keeps that."
    ),
    why="Each rank has the gradients of its own batch. Without the reduction every rank trains a model of its own.",
    safety=(
        "Safe: a single-process loss is a mean over its batch, and the mean of the ranks' gradients is the gradient of "
        "the mean; a strategy's loss is a share of the whole, and shares are summed. A tape whose gradients are not "
        "applied (a gradient penalty) stays. Gradients that a replica clipped before the sum refuse the program."
    ),
    check=check,
    changes=(
        Change(
            HEAD
            + """\
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
            HVD
            + HEAD
            + """\
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
        Change(
            HEAD
            + """\
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) - y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
            HVD
            + HEAD
            + """\
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) - y)
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        ),
        Change(
            HEAD
            + """\
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x)) / 64
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
strategy.run(step, args=(x,))
""",
            HVD
            + HEAD
            + """\
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x)) / 64
        tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
strategy.run(step, args=(x,))
""",
            note="The loss is a share of the whole batch's; a strategy adds the gradients up.",
        ),
        Change(
            HEAD
            + """\
strategy = tf.distribute.MirroredStrategy()
if eager:
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
else:
    with strategy.scope():
        tf.keras.Sequential([]).fit(data)
""",
            HVD
            + HEAD
            + """\
strategy = tf.distribute.MirroredStrategy()
if eager:
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
else:
    with strategy.scope():
        tf.keras.Sequential([]).fit(data)
""",
            note="The strategy runs fit, not this loop: its loss is a mean, and the gradients are averaged.",
        ),
        Change(
            HEAD
            + """\
def step(x):
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(x)
        g_loss, d_loss = losses(fake)
    g_gradients = g_tape.gradient(g_loss, generator.trainable_variables)
    d_gradients = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
    d_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
""",
            HVD
            + HEAD
            + """\
def step(x):
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(x)
        g_loss, d_loss = losses(fake)
    g_tape = hvd.DistributedGradientTape(g_tape)
    g_gradients = g_tape.gradient(g_loss, generator.trainable_variables)
    d_tape = hvd.DistributedGradientTape(d_tape)
    d_gradients = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
    d_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
""",
        ),
        Change(
            HEAD
            + """\
class Net(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compiled_loss(y, self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {}

Net().fit(data)
""",
            HVD
            + HEAD
            + """\
class Net(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compiled_loss(y, self(x, training=True))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {}

Net().fit(data)
""",
            note="Clipping comes after the reduction, as it must: it is the norm of the whole gradient that counts.",
        ),
        Change(
            HEAD
            + """\
def grad(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    return loss, tape.gradient(loss, [w, b])

for x in data:
    loss, gradients = grad(x)
    optimizer.apply_gradients(zip(gradients, [w, b]))
""",
            HVD
            + HEAD
            + """\
def grad(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    tape = hvd.DistributedGradientTape(tape)
    return loss, tape.gradient(loss, [w, b])

for x in data:
    loss, gradients = grad(x)
    optimizer.apply_gradients(zip(gradients, [w, b]))
""",
        ),
        Change(
            """\
            import tensorflow as tf

            with tf.GradientTape(persistent=True) as tape:
                loss = tf.reduce_mean(model(x))
            one = tape.gradient(loss, model.trainable_variables)
            two = tape.gradient(loss, head.trainable_variables)
            optimizer.apply_gradients(zip(one, model.trainable_variables))
            other.apply_gradients(zip(two, head.trainable_variables))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            with tf.GradientTape(persistent=True) as tape:
                loss = tf.reduce_mean(model(x))
            tape = hvd.DistributedGradientTape(tape)
            one = tape.gradient(loss, model.trainable_variables)
            two = tape.gradient(loss, head.trainable_variables)
            optimizer.apply_gradients(zip(one, model.trainable_variables))
            other.apply_gradients(zip(two, head.trainable_variables))
            """,
            note="Two gradients of one tape: it is wrapped once, above the first.",
        ),
        Change(
            """\
            import tensorflow as tf

            for x in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x))
                    gradients = tape.gradient(loss, model.trainable_variables)
                    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            for x in data:
                with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
                    loss = tf.reduce_mean(model(x))
                    gradients = tape.gradient(loss, model.trainable_variables)
                    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            """,
            note="The gradient is taken while the tape records: wrapped inside, it would refuse.",
        ),
        Change(
            """\
            import tensorflow as tf

            with tf.GradientTape(persistent=True) as tape:
                loss = tf.reduce_mean(model(x))
                one = tape.gradient(loss, model.trainable_variables)
            two = tape.gradient(loss, head.trainable_variables)
            optimizer.apply_gradients(zip(one, model.trainable_variables))
            other.apply_gradients(zip(two, head.trainable_variables))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            with hvd.DistributedGradientTape(tf.GradientTape(persistent=True)) as tape:
                loss = tf.reduce_mean(model(x))
                one = tape.gradient(loss, model.trainable_variables)
            two = tape.gradient(loss, head.trainable_variables)
            optimizer.apply_gradients(zip(one, model.trainable_variables))
            other.apply_gradients(zip(two, head.trainable_variables))
            """,
        ),
        Change(
            HEAD
            + """\
image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
""",
            HVD
            + HEAD
            + """\
image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    tape = hvd.DistributedGradientTape(tape)
    optimizer.apply_gradients([(tape.gradient(loss, [image])[0], image)])
""",
            note="One variable: Horovod's tape takes a list of them.",
        ),
        Change(
            HEAD
            + """\
image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
""",
            "import hvdkit.tensorflow as hvd\n"
            + HEAD
            + """\
image = tf.Variable(photo)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    tape = hvd.DistributedGradientTape(tape)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
""",
            target="hvdkit",
            note="hvdkit's takes what TensorFlow's takes.",
        ),
    ),
    keeps=(
        Keep(
            HVD
            + HEAD
            + """\
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
            reason="it is reduced already",
        ),
        Keep(
            HEAD
            + """\
def saliency(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = model(x)
    return tape.gradient(loss, x)

model = tf.keras.models.load_model("model.h5")
model.fit(x, y)
print(saliency(x))
""",
            reason="no optimizer applies these gradients",
        ),
        Keep(
            HEAD
            + """\
strategy = tf.distribute.MirroredStrategy()

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x)) / 64
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients = [tf.clip_by_norm(gradient, 1.0) for gradient in gradients]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

strategy.run(step, args=(x,))
""",
            reason="each replica clipped its own gradients before they were added up",
            reported=True,
        ),
        Keep(
            HEAD
            + """\
optimizer = tf.keras.optimizers.SGD(0.1)
for x in data:
    optimizer.minimize(lambda: tf.reduce_mean(model(x)), model.trainable_variables)
model = tf.keras.Sequential([])
model.fit(x, y)
""",
            reason="minimize applies what it takes",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            class Trainer:
                def step(self, x):
                    with tf.GradientTape() as self.tape:
                        loss = tf.reduce_sum(self.model(x))
                    gradients = self.tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
            """,
            reason="the tape has no name of its own",
            reported=True,
        ),
    ),
)
