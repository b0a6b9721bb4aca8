"""HVD857: a train_step of its own bypasses Horovod's optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.keras import keras_programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.gradients import is_distributed
from hvdkit.migrate.facts.keras.model_calls import custom_step, given_optimizer, keras_calls
from hvdkit.migrate.plan import Finding

PLAIN = ("horovod.tensorflow.", "horovod.keras.")


def check(facts: Facts) -> Iterator[Finding]:
    for program in keras_programs(facts):
        compiled = [
            call for call in keras_calls(facts) if call.method == "compile" and call.names in program.files
        ]
        wrapped = any(
            value.name.startswith(PLAIN)
            for call in compiled
            if custom_step(facts, call)
            for value in facts.flow.values(call.names, given_optimizer(facts, call))
        )
        for step in applied_gradients(facts) if wrapped else ():
            function = step.names.function(step.node)
            if step.names not in program.files or getattr(function, "name", "") != "train_step":
                continue
            for gradient in step.gradients:
                if not is_distributed(facts, gradient):
                    message = "Horovod's optimizer averages in compute_gradients(), which this train_step never calls"
                    advice = "take these gradients with hvd.DistributedGradientTape(tape), and compile a plain optimizer"
                    yield manual("HVD857", gradient.names, gradient.node, message, advice)


RULE = Rule(
    id="HVD857",
    title="a train_step that bypasses Horovod's optimizer",
    what="fit runs, the loss falls, and each rank trains a different model: apply_gradients of the wrapped optimizer reduces nothing.",
    why="a tape computes these gradients, and the wrapper reduces only those that it computes itself.",
    safety="Nothing is edited: the tape and the optimizer change together.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            class Net(tf.keras.Model):
                def train_step(self, data):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(self(data))
                    gradients = tape.gradient(loss, self.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
                    return {"loss": loss}

            hvd.init()
            net = Net()
            net.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)))
            net.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="nothing reduces the gradients of this tape",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            class Net(tf.keras.Model):
                def train_step(self, data):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(self(data))
                    tape = hvd.DistributedGradientTape(tape)
                    gradients = tape.gradient(loss, self.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
                    return {"loss": loss}

            hvd.init()
            net = Net()
            net.compile(tf.keras.optimizers.SGD(0.1))
            net.fit(data)
            """,
            reason="the tape reduces them",
        ),
    ),
)
