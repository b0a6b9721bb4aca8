"""On 2 ranks: the bugs of hvdkit check's HVD89x happen, and are gone as the rules say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import horovod.tensorflow as horovod
import horovod.tensorflow.keras as plain
import pytest
import tensorflow as tf

import hvdkit.keras as hvd
from hvdkit.keras.backend import keras

pytestmark = pytest.mark.ranks

KERAS_3 = int(keras.__version__.split(".")[0]) >= 3


def gathered(value: Any) -> list[Any]:
    """Every rank's value, in rank order."""
    return horovod.allgather_object(value)  # type: ignore[no-any-return]


def net(seed: int | None = 0) -> Any:
    """A linear model with the same weights on every rank, or each rank's own for seed=None."""
    keras.utils.set_random_seed(horovod.rank() + 1 if seed is None else seed)
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])


def same(model: Any) -> bool:
    """Whether all ranks have equal weights."""
    found = gathered([[round(float(x), 5) for x in w.flatten()] for w in model.get_weights()])
    return bool(found[0] == found[1])


def data() -> tuple[Any, Any]:
    """Inputs and targets that differ between the ranks."""
    return tf.fill((4, 3), float(horovod.rank() + 1)), tf.zeros((4, 1))


def fit(model: Any, optimizer: Any, **options: Any) -> Any:
    """One epoch and more of a compiled model."""
    model.compile(optimizer, "mse")
    return model.fit(*data(), batch_size=4, verbose=0, **options)


def tape_step(model: Any, distributed: bool) -> None:
    """One step of plain SGD by a tape."""
    x, y = data()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    if distributed:
        tape = horovod.DistributedGradientTape(tape)
    # Horovod's tape knows TensorFlow's variables, not those of Keras 3 around them.
    sources = [variable.value if KERAS_3 else variable for variable in model.trainable_variables]
    gradients = tape.gradient(loss, sources)
    keras.optimizers.SGD(0.1).apply_gradients(zip(gradients, model.trainable_variables))


def test_hvd890_keras_3_averages_nothing() -> None:
    """With Keras 2 Horovod's own optimizer averages, and the rule is silent."""
    model = net()
    fit(model, plain.DistributedOptimizer(keras.optimizers.SGD(0.1)))
    assert same(model) != KERAS_3
    model = net()
    fit(model, hvd.DistributedOptimizer(keras.optimizers.SGD(0.1)))
    assert same(model)


def test_hvd891_no_common_first_weights() -> None:
    model = net(seed=None)
    tape_step(model, distributed=True)
    assert not same(model)
    horovod.broadcast_variables([getattr(v, "value", v) if KERAS_3 else v for v in model.variables], 0)
    tape_step(model, distributed=True)
    assert same(model)


def test_hvd892_every_rank_writes(tmp_path: Path) -> None:
    """Each rank into a folder of its own here, so that the writes can be counted."""
    for guarded in (False, True):
        path = tmp_path / f"{guarded}.weights.h5"
        saver = keras.callbacks.ModelCheckpoint(str(path), save_weights_only=True)
        callbacks = [saver] if horovod.rank() == 0 or not guarded else []
        fit(net(), keras.optimizers.SGD(0.1), callbacks=callbacks)
        assert gathered(path.exists()) == [True, not guarded]


def test_hvd893_a_plain_tape() -> None:
    model = net()
    tape_step(model, distributed=False)
    assert not same(model)
    model = net()
    tape_step(model, distributed=True)
    assert same(model)


def test_hvd893_a_model_that_keras_loaded(tmp_path: Path) -> None:
    path = tmp_path / ("resume.keras" if KERAS_3 else "resume.h5")
    model = net()
    ours = hvd if KERAS_3 else plain  # Keras 3 cannot save plain Horovod's optimizer
    fit(model, ours.DistributedOptimizer(keras.optimizers.SGD(0.1)))
    model.set_weights(net().get_weights())
    model.save(path)
    loaded = keras.models.load_model(path)
    loaded.fit(*data(), batch_size=4, verbose=0)
    assert not same(loaded)
    loaded = ours.load_model(path)
    loaded.fit(*data(), batch_size=4, verbose=0)
    assert same(loaded)


def test_hvd893_gradients_of_a_graph_past_the_wrapper() -> None:
    compat = tf.compat.v1

    def trained(through_the_wrapper: bool) -> float:
        with tf.Graph().as_default(), compat.Session() as session:
            weight = compat.Variable(1.0, use_resource=True)
            loss = weight * float(horovod.rank() + 1)
            optimizer = horovod.DistributedOptimizer(compat.train.GradientDescentOptimizer(0.1))
            pairs = zip(compat.gradients(loss, [weight]), [weight])
            if through_the_wrapper:
                pairs = optimizer.compute_gradients(loss, [weight])
            train = optimizer.apply_gradients(pairs)
            session.run(compat.global_variables_initializer())
            session.run(train)
            return round(float(session.run(weight)), 5)

    past, through = gathered(trained(False)), gathered(trained(True))
    assert past[0] != past[1]
    assert through[0] == through[1]


def test_hvd815_shards_of_a_shuffled_data_set() -> None:
    def drawn(first_shard: bool) -> set[int]:
        numbers = tf.data.Dataset.range(1000)
        share = (horovod.size(), horovod.rank())
        numbers = numbers.shard(*share).shuffle(1000) if first_shard else numbers.shuffle(1000).shard(*share)
        return {int(number) for ranks in gathered([int(n) for n in numbers]) for number in ranks}

    tf.random.set_seed(horovod.rank())  # as processes that seed nothing
    assert len(drawn(first_shard=False)) < 1000
    assert len(drawn(first_shard=True)) == 1000


def test_hvd812_shards_by_the_rank_on_the_node() -> None:
    """Two nodes of one rank each have local_size() 1 and local_rank() 0 on both."""
    numbers = tf.data.Dataset.range(8)
    shares = gathered([int(n) for n in numbers.shard(1, 0)])
    assert shares[0] == shares[1]
    shares = gathered([int(n) for n in numbers.shard(horovod.size(), horovod.rank())])
    assert not set(shares[0]) & set(shares[1])


def test_hvd894_the_callback_is_told_no_rate() -> None:
    with pytest.raises(TypeError, match="initial_lr"):
        plain.callbacks.LearningRateWarmupCallback(warmup_epochs=5)
    plain.callbacks.LearningRateWarmupCallback(initial_lr=0.1, warmup_epochs=5)


class Measured(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
    """A metric that gets better on rank 0 and worse on rank 1."""

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Put the metric where the callbacks behind this one read it."""
        assert logs is not None
        logs["metric"] = float(-epoch if horovod.rank() == 0 else epoch)


class Averaged(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
    """What MetricAverageCallback does, for that metric."""

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Average it for the callbacks behind this one. The ranks that have stopped no longer come."""
        assert logs is not None
        logs["metric"] = float(horovod.allreduce(tf.constant(logs["metric"]), name=f"metric.{epoch}"))


def _epochs(*callbacks: Any) -> list[int]:
    """How many epochs each rank ran."""
    return gathered(len(fit(net(), keras.optimizers.SGD(0.1), epochs=4, callbacks=list(callbacks)).epoch))


def _stop() -> Any:
    return keras.callbacks.EarlyStopping(monitor="metric", mode="min", patience=0)


def test_hvd895_each_rank_stops_by_its_own_metric() -> None:
    wrong = _epochs(Measured(), _stop())
    assert wrong[0] != wrong[1]
    right = _epochs(Measured(), Averaged(), _stop())
    assert right[0] == right[1]


def test_hvd896_averaged_behind_the_callback_that_stops() -> None:
    """One rank decides to stop after an epoch that the other goes on from: seen before either has left."""
    decided = {}
    for order in ("behind", "before"):
        stop = _stop()
        row = [Measured(), stop, Averaged()] if order == "behind" else [Measured(), Averaged(), stop]
        model = net()
        model.compile(keras.optimizers.SGD(0.1), "mse")
        stop.set_model(model)
        stop.on_train_begin()
        for epoch in range(2):
            logs: dict[str, float] = {}
            for callback in row:
                callback.on_epoch_end(epoch, logs)
        decided[order] = gathered(stop.stopped_epoch)
    assert decided["behind"][0] != decided["behind"][1]
    assert decided["before"][0] == decided["before"][1]


def test_hvd801_a_reduction_that_is_thrown_away() -> None:
    loss = tf.constant(float(horovod.rank()))
    reduced = horovod.allreduce(loss)
    assert gathered(float(loss)) == [0.0, 1.0]
    assert gathered(float(reduced)) == [0.5, 0.5]


def test_hvd818_whole_data_on_every_rank() -> None:
    """Each rank computes the gradients of all rows, and their average is what each had."""
    rows = tf.data.Dataset.range(8)
    shares = gathered([int(n) for n in rows])
    assert shares[0] == shares[1]
    shares = gathered([int(n) for n in rows.shard(horovod.size(), horovod.rank())])
    assert sorted(shares[0] + shares[1]) == list(range(8))


def test_hvd819_the_steps_of_one_process_on_a_share() -> None:
    """An epoch of 8 rows, seen by steps of one: each share is passed over twice."""
    share = tf.data.Dataset.range(8).shard(horovod.size(), horovod.rank()).repeat().batch(2)

    def seen(steps: int) -> int:
        return sum(len(ranks) for ranks in gathered([int(n) for batch in share.take(steps) for n in batch]))

    assert seen(8 // 2) == 16
    assert seen(8 // 2 // horovod.size()) == 8


def test_hvd842_a_schedule_that_counts_the_steps_of_one_process() -> None:
    """Two epochs of four batches in one process are four steps of each of two ranks."""

    def last_rate(decay_steps: int) -> float:
        rate = keras.optimizers.schedules.CosineDecay(0.1, decay_steps=decay_steps)
        optimizer = keras.optimizers.SGD(rate)
        model = net()
        model.compile(optimizer, "mse")
        model.fit(*data(), batch_size=2, epochs=2, verbose=0)
        return float(rate(optimizer.iterations))

    assert gathered(round(last_rate(8), 4)) == [0.05, 0.05]
    assert gathered(round(last_rate(8 // horovod.size()), 4)) == [0.0, 0.0]


def test_hvd843_a_rate_that_one_rank_sets() -> None:
    def agree(everywhere: bool) -> bool:
        model, optimizer = net(), keras.optimizers.SGD(0.1)
        if everywhere or horovod.rank() == 0:
            optimizer.learning_rate = 0.01
        x, y = data()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        tape = horovod.DistributedGradientTape(tape)
        sources = [variable.value if KERAS_3 else variable for variable in model.trainable_variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, sources), model.trainable_variables))
        return same(model)

    assert not agree(everywhere=False)
    assert agree(everywhere=True)


def test_hvd856_the_state_comes_with_the_first_step() -> None:
    optimizer = keras.optimizers.Adam(0.1)

    def slots() -> int:
        variables = optimizer.variables if isinstance(optimizer.variables, list) else optimizer.variables()
        return sum(len(variable.shape) > 0 for variable in variables)

    assert slots() == 0
    model = net()
    fit(model, optimizer)
    assert slots() > 0


class OwnTrainStep(keras.Model):  # type: ignore[misc, name-defined]
    """A train_step of its own, whose tape Horovod reduces if it is told."""

    distributed = False

    def train_step(self, inputs: Any) -> dict[str, Any]:
        """One step by a tape."""
        x, y = inputs
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        if self.distributed:
            tape = horovod.DistributedGradientTape(tape)
        sources = [variable.value if KERAS_3 else variable for variable in self.trainable_variables]
        gradients = tape.gradient(loss, sources)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


def test_hvd857_a_train_step_past_the_wrapper() -> None:
    def agree(distributed: bool) -> bool:
        plain_model = net()
        model = OwnTrainStep(inputs=plain_model.inputs, outputs=plain_model.outputs)
        model.distributed = distributed
        optimizer = keras.optimizers.SGD(0.1)
        fit(model, optimizer if distributed else plain.DistributedOptimizer(optimizer))
        return same(model)

    assert not agree(distributed=False)
    assert agree(distributed=True)


def test_hvd859_a_loss_scale_around_the_wrapper() -> None:
    scale = keras.optimizers.LossScaleOptimizer if KERAS_3 else keras.mixed_precision.LossScaleOptimizer
    model = net()
    fit(model, scale(plain.DistributedOptimizer(keras.optimizers.SGD(0.1))))
    assert same(model) is not KERAS_3  # the loss scale of Keras 2 calls what Horovod overrides
    model = net()
    fit(model, hvd.DistributedOptimizer(scale(keras.optimizers.SGD(0.1))))
    assert same(model)


def test_hvd862_every_rank_saves(tmp_path: Path) -> None:
    """Each rank into a folder of its own here, so that the writes can be counted."""
    for guarded in (False, True):
        path = tmp_path / f"{guarded}.weights.h5"
        if horovod.rank() == 0 or not guarded:
            net().save_weights(path)
        assert gathered(path.exists()) == [True, not guarded]


def test_hvd863_every_rank_summarises(keras_path: Path) -> None:
    def files(guarded: bool) -> int:
        folder = keras_path / str(guarded)
        if guarded and horovod.rank() != 0:
            writer = tf.summary.create_noop_writer()
        else:
            writer = tf.summary.create_file_writer(str(folder), filename_suffix=f".{horovod.rank()}")
        with writer.as_default():
            tf.summary.scalar("loss", 1.0, step=0)
        writer.flush()
        gathered(0)  # all have written
        return len(list(folder.iterdir()))

    assert gathered(files(guarded=False)) == [2, 2]
    assert gathered(files(guarded=True)) == [1, 1]


def test_hvd864_every_rank_logs(keras_path: Path) -> None:
    """Two epochs of one training: with every rank's logger the lines of both are in one file."""

    def lines(guarded: bool) -> int:
        path = keras_path / f"{guarded}.csv"
        callbacks = []
        if horovod.rank() == 0 or not guarded:
            callbacks = [keras.callbacks.CSVLogger(str(path), append=True)]
        for rank in range(horovod.size()):  # one after the other, so that no line is torn
            if rank == horovod.rank():
                fit(net(), keras.optimizers.SGD(0.1), epochs=2, callbacks=callbacks)
            gathered(0)
        return sum("epoch" not in line for line in path.read_text().splitlines())

    assert gathered(lines(guarded=False)) == [4, 4]
    assert gathered(lines(guarded=True)) == [2, 2]
