"""HVD710: each rank trains on its own share of the data, cut before shuffle and batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.tensorflow.cutting import cut_at, endless, several_inputs, why_not_cut
from hvdkit.migrate.facts.tensorflow.datasets import Chain, Point, countless, run_over
from hvdkit.migrate.facts.tensorflow.iterators import drawn_steps, own_order
from hvdkit.migrate.facts.tensorflow.models import ModelCall
from hvdkit.migrate.facts.tensorflow.shares import is_cut, is_own_part
from hvdkit.migrate.facts.tensorflow.tapes import StepLoop
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import divided, is_divided

MESSAGE = "each rank trains on its own share, as many elements on every rank"
STEPS = "each rank takes its share of the steps, from data in an order of its own"
WHOLE = "every rank may see all of the data"
ARRAYS = ("x", "y", "sample_weight")


def check(facts: Facts) -> Iterator[Finding]:
    drawn = [dataset for dataset in facts.tf.chains.training if dataset.names in facts.tf.files]
    seen: set[ast.AST] = set()
    for dataset in drawn:
        # What cannot be cut first: one expression may be reached by a way with a shuffle and one without.
        for chain in sorted(dataset.chains, key=lambda chain: not why_not_cut(facts, chain)):
            if not is_cut(facts, chain):
                yield from _dataset(facts, dataset.names, dataset.node, chain, seen)
    followed = {dataset.node for dataset in drawn}
    for call in facts.tf.fits():
        if call.argument("x") not in followed and call.names not in facts.tf.played:
            yield from _arrays(facts, call)
    for loop in {loop.node: loop for loop in facts.tf.loops if loop.names in facts.tf.files}.values():
        if loop.names not in facts.tf.played:
            yield from _loop(facts, loop, followed)
    for step in facts.tf.loopless:
        if step.names in facts.tf.files:
            yield _left_whole(facts, step.names, step.node, "no loop was found that runs this training step")


def _loop(facts: Facts, loop: StepLoop, followed: set[ast.expr]) -> Iterator[Finding]:
    """A loop that draws from no dataset that was followed, or from an iterator that has an order of its own."""
    steps = drawn_steps(facts, loop)
    if steps is not None:
        if not is_divided(facts, loop.names, steps):
            yield facts.suggested("HVD710", loop.names, steps, STEPS, divided, facts, loop.names, steps)
    elif not _draws_from(loop, followed):
        why = "no dataset was found that this training loop draws from"
        yield _left_whole(facts, loop.names, loop.node, why)


def _draws_from(loop: StepLoop, datasets: set[ast.expr]) -> bool:
    if isinstance(loop.node, ast.While):
        return False
    return any(part in datasets for each in run_over(loop.names, loop.node.iter) for part in ast.walk(each))


def _left_whole(facts: Facts, names: Names, node: ast.AST, why: str, whole: str = WHOLE) -> Finding:
    hvd = facts.hvd(names)
    advice = f"give rank {hvd}.rank() of {hvd}.size() its own share, with as many batches on every rank"
    return facts.manual("HVD710", names, node, f"{why}: {whole}", advice)


def _dataset(
    facts: Facts, names: Names, node: ast.expr, chain: Chain, seen: set[ast.AST]
) -> Iterator[Finding]:
    point = cut_at(facts, chain)
    if point is not None:
        if point.node in seen:
            return
        seen.add(point.node)
        if not chain.ops and not facts.tf.chains.is_dataset(chain.source):
            return
    why = why_not_cut(facts, chain)
    if why or point is None:
        message = f"every rank would train on all of this data: {why}"
        hvd = facts.hvd(names)
        advice = (
            f"write .shard({hvd}.size(), {hvd}.rank()) before shuffle and batch, where all ranks see the same order, "
            "and take care that every rank gets as many batches"
        )
        yield facts.manual("HVD710", names, node, message, advice)
        return
    yield facts.safe("HVD710", point.names, point.node, MESSAGE, _shard, facts, chain, point)


def _shard(facts: Facts, chain: Chain, point: Point) -> list[Edit]:
    names, hvd = point.names, facts.hvd(point.names)
    if facts.options.target == "hvdkit":
        return edits.appended(names.source, point.node, f".apply({hvd}.shard_dataset)")
    share = f".shard({hvd}.size(), {hvd}.rank())"
    if endless(chain) and countless(facts, chain, point.before):
        return edits.appended(names.source, point.node, share)  # nothing to fill up
    full = f"data.concatenate(data.repeat().take(-data.cardinality() % {hvd}.size()))"
    return edits.appended(names.source, point.node, f".apply(lambda data: {full}{share})")


def _arrays(facts: Facts, call: ModelCall) -> Iterator[Finding]:
    names = call.names
    x, y = call.argument("x"), call.argument("y")
    if call.spread or x is None:
        yield _left_whole(facts, names, call.node, "what this fit trains on comes from * or **")
    elif y is None or isinstance(y, ast.Constant):
        if own_order(facts, names, x):
            yield from _iterator(facts, call, x)
        elif not facts.ranks.inside(names, x):
            yield _left_whole(facts, names, x, "what this gives is not a dataset that could be followed")
    elif several_inputs(facts, names, x):
        yield _left_whole(facts, names, x, "several inputs at once", "every rank would train on all of them")
    else:
        arrays = [call.argument(name) for name in ARRAYS]
        whole = [
            array
            for array in arrays
            if array is not None
            and not isinstance(array, ast.Constant)
            and not is_own_part(facts, names, array)
        ]
        if whole:
            yield facts.safe("HVD710", names, whole[0], MESSAGE, _slices, facts, names, whole)


def _iterator(facts: Facts, call: ModelCall, x: ast.expr) -> Iterator[Finding]:
    """What gives each rank an order of its own lasts for the share of the steps; HVD711 cuts those that are told."""
    names, last = call.names, [*call.node.args, *(item.value for item in call.node.keywords)][-1]
    if call.argument("steps_per_epoch") is None:
        share = f", steps_per_epoch=len({names.source.segment(x)}) // {facts.hvd(names)}.size()"
        yield facts.suggested("HVD710", names, x, STEPS, edits.wrap, names.source, last, "", share)


def _slices(facts: Facts, names: Names, arrays: Sequence[ast.expr]) -> list[Edit]:
    """All of what fit is given, or nothing: rows of inputs and targets belong together."""
    return [one for array in arrays for one in _slice(facts, names, array)]


def _slice(facts: Facts, names: Names, array: ast.expr) -> list[Edit]:
    hvd, text = facts.hvd(names), names.source.segment(array)
    if facts.options.target == "hvdkit":
        return edits.wrap(names.source, array, f"{hvd}.shard_arrays(", ")")
    if not isinstance(array, (ast.Name, ast.Attribute, ast.Subscript)):
        raise edits.CannotEdit(
            "it is computed in the call, and its length would be asked for by computing it twice"
        )
    even = f"len({text}) // {hvd}.size() * {hvd}.size()"
    return edits.appended(names.source, array, f"[{hvd}.rank() : {even} : {hvd}.size()]")


HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
"""
HVD = "import horovod.tensorflow.keras as hvd\n"
SHARD = (
    ".apply(lambda data: data.concatenate(data.repeat().take(-data.cardinality() % hvd.size()))"
    ".shard(hvd.size(), hvd.rank()))"
)
DATA = "tf.data.Dataset.from_tensor_slices((x, y))"
LOOP = """\
for x, y in train.prefetch(1):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
"""
IMAGES = """\
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = images.flow_from_directory("images")
"""
STEPS_LOOP = """\
for step in range({0}):
    x, y = next(train)
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
"""

RULE = Rule(
    id="HVD710",
    title="training data in shares",
    what=(
        "Cuts tf.data pipelines that train right before the first shuffle, repeat or batch, and slices the arrays that "
        "fit is given, so that each rank has its own part. Data for evaluation stays whole on every rank. All ranks "
        "have to make as many steps: a pipeline that does not divide is filled up with its first elements, as a "
        "DistributedSampler does it, and arrays lose at most size() - 1 rows at the end."
    ),
    why=(
        "Otherwise every rank sees all of the data: an epoch would be as many passes as there are ranks. A rank with "
        "one batch more than the others waits for them forever."
    ),
    safety=(
        "Safe where all ranks see the elements in the same order before the cut. A shuffle without a seed before it, "
        "a generator, a length that nothing tells, or a pipeline that evaluation shares are left to the person. "
        "Suggested for Keras' own shuffled iterators over images: ranks draw in orders of their own, so that of one "
        "epoch some images come twice and some not at all, as in Horovod's own examples."
    ),
    check=check,
    changes=(
        Change(
            HEAD + f"train = {DATA}.cache().shuffle(100).batch(8).prefetch(1)\nmodel.fit(train)\n",
            HVD
            + HEAD
            + f"train = {DATA}.cache(){SHARD}.shuffle(100).batch(8).prefetch(1)\nmodel.fit(train)\n",
        ),
        Change(
            HEAD
            + f"train = {DATA}.map(read)\ntrain = train.batch(8)\nmodel.fit(train, validation_data={DATA}.batch(8))\n",
            "import hvdkit.tensorflow.keras as hvd\n"
            + HEAD
            + f"train = {DATA}.map(read)\ntrain = train.apply(hvd.shard_dataset).batch(8)\n"
            + f"model.fit(train, validation_data={DATA}.batch(8))\n",
            target="hvdkit",
        ),
        Change(
            HEAD
            + "\ndef prepare(data):\n    return data.shuffle(100).batch(8)\n\n"
            + "(x, y), (a, b) = tf.keras.datasets.mnist.load_data()\n"
            + f"train = {DATA}\ntest = tf.data.Dataset.from_tensor_slices((a, b))\n"
            + "model.fit(prepare(train), validation_data=prepare(test))\n",
            HVD
            + HEAD
            + "\ndef prepare(data):\n    return data.shuffle(100).batch(8)\n\n"
            + "(x, y), (a, b) = tf.keras.datasets.mnist.load_data()\n"
            + f"train = {DATA}\ntest = tf.data.Dataset.from_tensor_slices((a, b))\n"
            + f"model.fit(prepare(train{SHARD}), validation_data=prepare(test))\n",
            note="Evaluation goes through the same function: the cut is made where the training data goes into it.",
        ),
        Change(
            HEAD
            + f"every = {DATA}\ntrain, test = every.skip(10), every.take(10)\nmodel.fit(train.batch(8))\n"
            "model.evaluate(test.batch(8))\n",
            HVD
            + HEAD
            + f"every = {DATA}\ntrain, test = every.skip(10), every.take(10)\nmodel.fit(train{SHARD}.batch(8))\n"
            "model.evaluate(test.batch(8))\n",
        ),
        Change(
            HEAD + "model.fit(x_train, y_train, 32, sample_weight=w)\nmodel.evaluate(x_test, y_test)\n",
            HVD
            + HEAD
            + "model.fit(x_train[hvd.rank() : len(x_train) // hvd.size() * hvd.size() : hvd.size()], "
            + "y_train[hvd.rank() : len(y_train) // hvd.size() * hvd.size() : hvd.size()], 32, "
            + "sample_weight=w[hvd.rank() : len(w) // hvd.size() * hvd.size() : hvd.size()])\n"
            + "model.evaluate(x_test, y_test)\n",
        ),
        Change(
            HEAD + "model.fit(x_train, y_train)\n",
            "import hvdkit.tensorflow.keras as hvd\n"
            + HEAD
            + "model.fit(hvd.shard_arrays(x_train), hvd.shard_arrays(y_train))\n",
            target="hvdkit",
        ),
        Change(
            HEAD + "train = tf.data.TFRecordDataset(files).map(parse).batch(8)\nmodel.fit(train)\n",
            "import hvdkit.tensorflow.keras as hvd\n"
            + HEAD
            + "train = tf.data.TFRecordDataset(files).map(parse).apply(hvd.shard_dataset).batch(8)\nmodel.fit(train)\n",
            target="hvdkit",
            note="hvd.shard_dataset gives all ranks as many records, however many there are.",
        ),
        Change(
            "import tensorflow as tf\n\n" + f"train = {DATA}.repeat().shuffle(10, seed=1).batch(8)\n" + LOOP,
            "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\n"
            + f"train = {DATA}{SHARD}.repeat().shuffle(10, seed=1).batch(8)\n"
            + LOOP,
        ),
        Change(
            HEAD
            + 'train = tf.keras.utils.image_dataset_from_directory("images", seed=1)\nmodel.fit(train.prefetch(1))\n',
            HVD
            + HEAD
            + 'train = tf.keras.utils.image_dataset_from_directory("images", seed=1)\n'
            + f"model.fit(train.prefetch(1){SHARD})\n",
            note="Shuffled with a seed, so that all ranks see the same order: whole batches are dealt.",
        ),
        Change(
            HEAD + "import tensorflow_datasets as tfds\n"
            'train, test = tfds.load("mnist", split=["train", "test"], as_supervised=True)\n'
            "train = train.map(scale).shuffle(100).batch(8)\nmodel.fit(train, validation_data=test.batch(8))\n",
            HVD + HEAD + "import tensorflow_datasets as tfds\n"
            'train, test = tfds.load("mnist", split=["train", "test"], as_supervised=True)\n'
            f"train = train.map(scale){SHARD}.shuffle(100).batch(8)\n"
            "model.fit(train, validation_data=test.batch(8))\n",
        ),
        Change(
            HEAD
            + "\ndef pipeline(split):\n    return tf.data.Dataset.from_tensor_slices(split).batch(8)\n\n"
            + "model.fit(pipeline(train))\nevaluate(model, pipeline(test))\n",
            HVD
            + HEAD
            + "\ndef pipeline(split):\n    return tf.data.Dataset.from_tensor_slices(split).batch(8)\n\n"
            + f"model.fit(pipeline(train){SHARD})\nevaluate(model, pipeline(test))\n",
            note="The function is called for other data, too: whole batches are dealt where fit takes them.",
        ),
        Change(
            "import tensorflow as tf\nfrom data import pipeline\n\n"
            'model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile(loss="mse")\n'
            "model.fit(pipeline(train))\n",
            HVD + "import tensorflow as tf\nfrom data import pipeline\n\n"
            'model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile(loss="mse")\n'
            f"model.fit(pipeline(train){SHARD})\n",
            files=(
                (
                    "data.py",
                    "import tensorflow as tf\n\n"
                    "def pipeline(split):\n    return tf.data.Dataset.from_tensor_slices(split).batch(8)\n",
                ),
                (
                    "evaluate.py",
                    "import tensorflow as tf\nfrom data import pipeline as test_data\n\n"
                    'model = tf.keras.models.load_model("m.keras")\nmodel.evaluate(test_data(test))\n',
                ),
            ),
            note="Another program calls the function, under another name: nothing is cut inside.",
        ),
        Change(
            """\
            import tensorflow as tf

            def pair():
                return tf.data.Dataset.range(8), 4

            train, steps = pair()
            train = train.filter(even).repeat().batch(2)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train, steps_per_epoch=steps)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            def pair():
                return tf.data.Dataset.range(8), 4

            train, steps = pair()
            train = train.filter(even).shard(hvd.size(), hvd.rank()).repeat().batch(2)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train, steps_per_epoch=steps)
            """,
            note="Filtered, and without an end: every rank has as many batches as it asks for.",
        ),
        Change(
            """\
            import tensorflow as tf

            every = tf.data.Dataset.range(99).batch(9).map(pack).unbatch()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(every.skip(10).take(50).cache().shuffle(50).repeat().batch(5), validation_data=every.take(10).batch(5))
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            every = tf.data.Dataset.range(99).batch(9).map(pack).unbatch()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(every.skip(10).take(50).cache().shard(hvd.size(), hvd.rank()).shuffle(50).repeat().batch(5), validation_data=every.take(10).batch(5))
            """,
            note="After skip and take, which count samples of the whole: the ranks share the 50 that they leave.",
        ),
        Change(
            """\
            import tensorflow as tf
            import tensorflow_datasets as tfds

            data, info = tfds.load("mnist", with_info=True, as_supervised=True)
            train, test = data["train"], data["test"]
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train.map(scale).shuffle(100).batch(8), validation_data=test.batch(8))
            """,
            """\
            import hvdkit.tensorflow.keras as hvd
            import tensorflow as tf
            import tensorflow_datasets as tfds

            data, info = tfds.load("mnist", with_info=True, as_supervised=True)
            train, test = data["train"], data["test"]
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train.map(scale).apply(hvd.shard_dataset).shuffle(100).batch(8), validation_data=test.batch(8))
            """,
            target="hvdkit",
            note="A split by its name, out of what tfds.load gives; so with a builder's as_dataset.",
        ),
        Change(
            """\
            import tensorflow as tf
            import tensorflow_datasets as tfds

            builder = tfds.builder("mnist")
            train = builder.as_dataset(split="train", as_supervised=True)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train.map(scale).shuffle(100).batch(8))
            """,
            """\
            import hvdkit.tensorflow.keras as hvd
            import tensorflow as tf
            import tensorflow_datasets as tfds

            builder = tfds.builder("mnist")
            train = builder.as_dataset(split="train", as_supervised=True)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train.map(scale).apply(hvd.shard_dataset).shuffle(100).batch(8))
            """,
            target="hvdkit",
        ),
        Change(
            HEAD
            + f"train = {DATA}.map(read)\nfor x, y in train:\n    print(x.shape)\n    break\nfor x, y in train.take(1):\n"
            + "    print(y)\nmodel.fit(train.shuffle(100).batch(8))\n",
            "import hvdkit.tensorflow.keras as hvd\n"
            + HEAD
            + f"train = {DATA}.map(read)\nfor x, y in train:\n    print(x.shape)\n    break\nfor x, y in train.take(1):\n"
            + "    print(y)\nmodel.fit(train.apply(hvd.shard_dataset).shuffle(100).batch(8))\n",
            target="hvdkit",
            note="Loops that look at a first batch may see any rank's.",
        ),
        Change(
            "import tensorflow as tf\nfrom tqdm import tqdm\n\n"
            + f"train = {DATA}.shuffle(100).batch(8)\n"
            + LOOP.replace("for x, y in train.prefetch(1):", "bar = tqdm(train)\nfor x, y in bar:"),
            "import horovod.tensorflow as hvd\nimport tensorflow as tf\nfrom tqdm import tqdm\n\n"
            + f"train = {DATA}{SHARD}.shuffle(100).batch(8)\n"
            + LOOP.replace("for x, y in train.prefetch(1):", "bar = tqdm(train)\nfor x, y in bar:"),
            note="Through a progress bar in a variable.",
        ),
        Change(
            HEAD + IMAGES + "model.fit(train, epochs=2)\n",
            HVD + HEAD + IMAGES + "model.fit(train, epochs=2, steps_per_epoch=len(train) // hvd.size())\n",
            suggested=True,
            note="Every process shuffles such an iterator in its own way: all ranks together draw one epoch.",
        ),
        Change(
            HEAD + IMAGES + STEPS_LOOP.format("len(train)"),
            "import horovod.tensorflow as hvd\n"
            + HEAD
            + IMAGES
            + STEPS_LOOP.format("len(train) // hvd.size()"),
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            HEAD + IMAGES + "model.fit(train, steps_per_epoch=100)\n",
            reason="the steps are told, and HVD711 divides them",
        ),
        Keep(
            "import numpy as np\n" + HEAD + "np.random.seed(1)\n" + IMAGES + "model.fit(train)\n",
            reason="with a seed every rank draws the same order",
            reported=True,
            suggested=True,
        ),
        Keep(
            HEAD + IMAGES.replace('"images"', '"images", shuffle=False') + "model.fit(train)\n",
            reason="every rank sees the same order",
            reported=True,
            suggested=True,
        ),
        Keep(
            "import hvdkit.tensorflow as hvd\n"
            + HEAD
            + IMAGES
            + STEPS_LOOP.format("len(train) // hvd.size()"),
            reason="it is divided already",
        ),
        Keep(
            HEAD
            + """\
def prepare(shuffle=True):
    data = tf.data.Dataset.range(99)
    if shuffle:
        data = data.shuffle(99)
    data = data.batch(8)
    return data

model.fit(prepare())
model.evaluate(prepare(shuffle=False))
""",
            reason="where it is used it has been shuffled, without a seed, on one of its ways",
            reported=True,
        ),
        Keep(
            "import gym\n" + HEAD + "env = gym.make('CartPole-v1')\nmodel.fit(states, targets)\n",
            reason="what a rank has played is its own share already (HVD725)",
        ),
        Keep(
            "import tensorflow_datasets as tfds\n"
            + HEAD
            + "data = tfds.load('mnist', shuffle_files=True)\nmodel.fit(data['train'].batch(8))\n",
            reason="the files come in another order on every rank",
            reported=True,
        ),
        Keep(
            "import tensorflow_datasets as tfds\n"
            + HEAD
            + "data = tfds.builder('mnist').as_dataset(split='train', shuffle_files=True)\nmodel.fit(data.batch(8))\n",
            reason="so from a builder",
            reported=True,
        ),
        Keep(
            HEAD + "features = {name: column(name) for name in names}\nmodel.fit(features, y)\n",
            reason="a dict has no slice",
            reported=True,
        ),
        Keep(
            HEAD + "model.fit(scale(x), y)\n",
            reason="inputs without their targets would not be cut alone",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            class Model(tf.Module):
                def __call__(self, x):
                    with tf.GradientTape() as tape:
                        loss = net(x)
                    optimizer.apply_gradients(zip(tape.gradient(loss, net.variables), net.variables))

            model = Model()
            for x in data:
                model(x)
            """,
            reason="which loop runs this step is not known: it is told",
            reported=True,
        ),
        Keep(
            HEAD + "one, two = tf.data.Dataset.range(9).shuffle(9), tf.data.Dataset.range(9)\n"
            "model.fit(tf.data.Dataset.zip((one, two)).batch(3))\n",
            reason="one of the datasets inside is shuffled without a seed",
            reported=True,
        ),
        Keep(
            "import horovod.tensorflow.keras as hvd\n"
            + HEAD
            + f"model.fit({DATA}.shard(hvd.size(), hvd.rank()).batch(8))\n",
            reason="it is cut already",
        ),
        Keep(
            HEAD
            + f"every = {DATA}.shuffle(100)\nmodel.fit(every.skip(10).batch(8))\nmodel.evaluate(every.take(10).batch(8))\n",
            reason="it is shuffled, without a seed, before training and evaluation part",
            reported=True,
        ),
        Keep(
            HEAD + 'files = tf.data.Dataset.list_files("*.png")\nmodel.fit(files.map(read).batch(8))\n',
            reason="list_files shuffles, in another order on every rank",
            reported=True,
        ),
        Keep(
            HEAD + "train = tf.data.TFRecordDataset(files).map(parse).batch(8)\nmodel.fit(train)\n",
            reason="how many records there are is not known: a rank with one batch more would wait forever",
            reported=True,
        ),
        Keep(
            HEAD + "train = tf.data.Dataset.from_generator(lines, tf.string).batch(8)\nmodel.fit(train)\n",
            reason="a generator may give another order on every rank",
            reported=True,
        ),
        Keep(
            HEAD + "model.fit(generator, epochs=3)\n",
            reason="it is no dataset that could be followed",
            reported=True,
        ),
        Keep(
            HEAD + "model.fit([left, right], y)\n",
            reason="there are several inputs",
            reported=True,
        ),
        Keep(
            HEAD + "model.evaluate(x_test, y_test)\nmodel.predict(x_test)\n",
            reason="nothing is trained",
        ),
        Keep(
            "import tensorflow as tf\n\nfor step in range(100):\n    x = draw()\n"
            + "    with tf.GradientTape() as tape:\n        loss = model(x)\n"
            + "    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))\n",
            reason="the loop draws its batches by hand",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            train = tf.keras.utils.image_dataset_from_directory("data", batch_size=32)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(train)
            model.fit(train)
            """,
            reason="its batches are shuffled without a seed, on every rank another way",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf
            import tensorflow_datasets as tfds

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(tfds.load("mnist", split="train", shuffle_files=True).batch(8))
            model.fit(tf.data.Dataset.range(8).map(read, deterministic=False).shuffle(8).batch(2))
            """,
            reason="files are read in another order on every rank, or elements come as they are ready",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(**arguments)
            model.fit(read("x"), read("y"))
            """,
            reason="what fit trains on comes from **, or is computed in the call",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(tf.data.Dataset.range(8).filter(even).batch(2))
            """,
            reason="filtered elements have no length: a rank with more batches would wait for the others",
            reported=True,
        ),
    ),
)
