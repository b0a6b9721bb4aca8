"""HVD714: after the first step of a training loop all ranks take rank 0's weights and optimizer state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.tensorflow import vocabulary as words
from hvdkit.migrate.facts.tensorflow.tapes import StepLoop
from hvdkit.migrate.facts.values.spelling import spelled
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.tensorflow_edits import after

VARIABLES = ("trainable_variables", "trainable_weights", "variables", "weights")


def check(facts: Facts) -> Iterator[Finding]:
    places: dict[ast.stmt, list[StepLoop]] = {}
    for loop in (loop for loop in facts.tf.loops if loop.names in facts.tf.files):
        places.setdefault(loop.statement, []).append(loop)
    for statement, loops in places.items():
        if not _broadcast_inside(facts, loops[0]):
            yield _finding(facts, statement, loops)
    for step in facts.tf.loopless:
        if step.names in facts.tf.files:
            message = (
                "the ranks' weights must be made equal, and no loop was found that runs this training step"
            )
            yield facts.manual("HVD714", step.names, step.node, message, _advice(facts, step.names))


def _advice(facts: Facts, names: Names) -> str:
    return (
        f"after the first step, outside any tf.function, call {facts.hvd(names)}.broadcast_variables(..., root_rank=0) "
        "for the model's variables and the optimizer's"
    )


def _broadcast_inside(facts: Facts, loop: StepLoop) -> bool:
    """Whether the program broadcasts variables already."""
    found = facts.calls(*words.BROADCASTS, "hvdkit.tensorflow.broadcast", "hvdkit.tensorflow.keras.broadcast")
    return any(site.names is loop.names for site in found)


def _finding(facts: Facts, statement: ast.stmt, loops: list[StepLoop]) -> Finding:
    names, hvd = loops[0].names, facts.hvd(loops[0].names)
    message = "after the first step every rank takes rank 0's weights and optimizer state"
    models: list[str] = []
    optimizers: list[str] = []
    keras = True
    for loop in loops:
        optimizers.append(_written(facts, loop, loop.applied.names, loop.applied.optimizer) or "")
        for where, call in loop.applied.gradients:
            sources = call.args[1] if len(call.args) > 1 else None
            models += _variables(facts, loop, where, sources) if sources is not None else [""]
            keras = keras and not _of_module(facts, where, sources)
    if "" in models or "" in optimizers or not models or any(loop.graph for loop in loops):
        where_not = "is traced by tf.function" if any(loop.graph for loop in loops) else "does not name them"
        message = f"the ranks' weights must be made equal, and this loop {where_not}"
        return facts.manual("HVD714", names, statement, message, _advice(facts, names))
    lines = [f"if {optimizers[0]}.iterations == 1:"]
    if facts.options.target == "hvdkit" and keras and all(model.endswith(".variables") for model in models):
        lines += _pairs(hvd, models, optimizers)
    else:
        lines += [f"\t{hvd}.broadcast_variables({model}, root_rank=0)" for model in dict.fromkeys(models)]
        for one in dict.fromkeys(optimizers):
            lines += _state(facts, hvd, one)
    return facts.required("HVD714", names, statement, message, after, facts, names, statement, lines)


def _state(facts: Facts, hvd: str, optimizer: str) -> list[str]:
    """Lines that send an optimizer's variables: one by one where Keras 3's may be met, which Horovod does not take."""
    if facts.options.target == "horovod":
        return [f"\t{hvd}.broadcast_variables({optimizer}.variables(), root_rank=0)"]
    return [
        f"\tfor optimizer_slot in {optimizer}.variables:",
        f"\t\toptimizer_slot.assign({hvd}.broadcast(optimizer_slot, root_rank=0))",
    ]


def _pairs(hvd: str, models: list[str], optimizers: list[str]) -> list[str]:
    """hvd.broadcast(model, optimizer) for each optimizer, or of all models for one."""
    short = [model[: -len(".variables")] for model in dict.fromkeys(models)]
    if len(short) == len(optimizers):
        return [f"\t{hvd}.broadcast({model}, {one})" for model, one in zip(short, optimizers)]
    every = short[0] if len(short) == 1 else f"[{', '.join(short)}]"
    return [f"\t{hvd}.broadcast({every}, {one})" for one in dict.fromkeys(optimizers)]


def _of_module(facts: Facts, names: Names, sources: ast.expr | None) -> bool:
    """Whether variables are those of a tf.Module that is no Keras model: hvd.broadcast takes models only."""
    values = facts.flow.values(names, sources.value) if isinstance(sources, ast.Attribute) else ()
    bases = [facts.flow.bases(value) for value in values if value.kind == "object"]
    return any("tensorflow.Module" in found and not found & words.BASES for found in bases)


def _variables(facts: Facts, loop: StepLoop, names: Names, sources: ast.expr) -> list[str]:
    """What a tape takes gradients by, as it is written at the loop."""
    if isinstance(sources, ast.BinOp) and isinstance(sources.op, ast.Add):
        return [*_variables(facts, loop, names, sources.left), *_variables(facts, loop, names, sources.right)]
    if isinstance(sources, ast.Attribute) and sources.attr in VARIABLES:
        model = _written(facts, loop, names, sources.value)
        return [f"{model}.variables" if model else ""]
    if isinstance(sources, ast.Name):
        values = [b.value for b in names.bindings(sources.id, sources) if b.kind == "assign" and not b.path]
        if len(values) == 1 and isinstance(values[0], (ast.BinOp, ast.Attribute)):
            return _variables(facts, loop, names, values[0])
        one = _written(facts, loop, names, sources) or ""
        alone = "tensorflow.Variable" in facts.flow.made(names, sources)  # its rows are no variables
        return [f"[{one}]" if alone and one else one]
    if isinstance(sources, (ast.List, ast.Tuple)) and all(isinstance(e, ast.Name) for e in sources.elts):
        written = [_written(facts, loop, names, element) or "" for element in sources.elts]
        return [f"[{', '.join(written)}]" if all(written) else ""]
    return [""]


def _written(facts: Facts, loop: StepLoop, names: Names, node: ast.expr) -> str | None:
    """How an expression of the step is written at the loop: the same, or by another variable."""
    head = node
    while isinstance(head, ast.Attribute):
        head = head.value
    if isinstance(head, ast.Name) and names is loop.names:
        there = names.scope(loop.statement).owner(head.id)
        here = names.scope(node).owner(head.id)
        if here is not None and here is there:
            return names.source.segment(node)
    values = facts.flow.values(names, node)
    written = spelled(facts.flow, loop.names, loop.statement, values) if values else None
    if written is None and isinstance(node, ast.Attribute) and names is loop.names:
        return _of_same_class(loop, names, node)
    return written


def _of_same_class(loop: StepLoop, names: Names, node: ast.Attribute) -> str | None:
    """`self.model`, in another method of the same class."""
    methods = [names.function(node), names.function(loop.statement)]
    owners = {names.parents.get(method) for method in methods if method is not None}
    firsts = {m.args.args[0].arg for m in methods if m is not None and m.args.args}
    same = len(owners) == 1 and isinstance(next(iter(owners)), ast.ClassDef) and len(firsts) == 1
    head = node.value
    return names.source.segment(node) if same and isinstance(head, ast.Name) and head.id in firsts else None


HEAD = """\
import tensorflow as tf

"""
HVD = "import horovod.tensorflow as hvd\n"
STEP = """\
@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

"""
MAKE = "model = Net()\noptimizer = tf.keras.optimizers.SGD(0.1)\n"

RULE = Rule(
    id="HVD714",
    title="one start for all ranks",
    what=(
        "Broadcasts the model's and the optimizer's variables from rank 0 after the first step of a training loop."
    ),
    why=(
        "Each rank draws its own first weights. A Keras model may have its variables, and an optimizer has its own, only "
        "once the first step has run: a broadcast before it would miss them."
    ),
    safety=(
        "Safe: it happens once, when the optimizer has counted one step, on all ranks. A run that goes on from a "
        "checkpoint has counted more, and has read the same weights on all ranks. In a loop that tf.function traces it is "
        "left to the person."
    ),
    check=check,
    changes=(
        Change(
            HEAD + STEP + MAKE + "for x in data:\n    train_step(x)\n",
            HVD
            + HEAD
            + STEP
            + MAKE
            + "for x in data:\n    train_step(x)\n    if optimizer.iterations == 1:\n"
            + "        hvd.broadcast_variables(model.variables, root_rank=0)\n"
            + "        hvd.broadcast_variables(optimizer.variables(), root_rank=0)\n",
        ),
        Change(
            HEAD
            + """\
class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = tf.keras.optimizers.SGD(0.1)

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.net(x))
        gradients = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.net.trainable_variables))

    def fit(self, data):
        for epoch in range(3):
            for x in data:
                self.step(x)
                print(epoch)

Trainer(build()).fit(data)
""",
            HVD
            + HEAD
            + """\
class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = tf.keras.optimizers.SGD(0.1)

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.net(x))
        gradients = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.net.trainable_variables))

    def fit(self, data):
        for epoch in range(3):
            for x in data:
                self.step(x)
                if self.optimizer.iterations == 1:
                    hvd.broadcast_variables(self.net.variables, root_rank=0)
                    hvd.broadcast_variables(self.optimizer.variables(), root_rank=0)
                print(epoch)

Trainer(build()).fit(data)
""",
        ),
        Change(
            HEAD
            + """\
def step(net, opt, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x))
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
sgd = tf.keras.optimizers.SGD(0.1)
for i, x in enumerate(data):
    step(model, sgd, x)
""",
            "import hvdkit.tensorflow as hvd\n"
            + HEAD
            + """\
def step(net, opt, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x))
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
sgd = tf.keras.optimizers.SGD(0.1)
for i, x in enumerate(data):
    step(model, sgd, x)
    if sgd.iterations == 1:
        hvd.broadcast(model, sgd)
""",
            target="hvdkit",
            note="What the step calls net and opt is model and sgd at the loop.",
        ),
        Change(
            HEAD
            + """\
w, b = tf.Variable(1.0), tf.Variable(0.0)
optimizer = tf.keras.optimizers.SGD(0.1)
for x, y in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * x + b - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
""",
            HVD
            + HEAD
            + """\
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
        Change(
            """\
            import tensorflow as tf

            class Trainer:
                def __init__(self):
                    self.encoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                    self.decoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                    self.optimizer = tf.keras.optimizers.Adam()

                def step(self, x):
                    variables = self.encoder.trainable_variables + self.decoder.trainable_variables
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(self.decoder(self.encoder(x)))
                    gradients = tape.gradient(loss, variables)
                    self.optimizer.apply_gradients(zip(gradients, variables))

                def train(self, data):
                    for x in data:
                        self.step(x)
            """,
            """\
            import hvdkit.tensorflow as hvd
            import tensorflow as tf

            class Trainer:
                def __init__(self):
                    self.encoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                    self.decoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                    self.optimizer = tf.keras.optimizers.Adam()

                def step(self, x):
                    variables = self.encoder.trainable_variables + self.decoder.trainable_variables
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(self.decoder(self.encoder(x)))
                    gradients = tape.gradient(loss, variables)
                    self.optimizer.apply_gradients(zip(gradients, variables))

                def train(self, data):
                    for x in data:
                        self.step(x)
                        if self.optimizer.iterations == 1:
                            hvd.broadcast([self.encoder, self.decoder], self.optimizer)
            """,
            note=(
                "Two models under one optimizer; variables that are put together; another method of the "
                "class."
            ),
            target="hvdkit",
        ),
        Change(
            """\
            import tensorflow as tf

            class Trainer:
                def __init__(self, model, optimizer):
                    self.model = model
                    self.optimizer = optimizer

                def step(self, x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

                def train(self, data):
                    for x in data:
                        self.step(x)
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            class Trainer:
                def __init__(self, model, optimizer):
                    self.model = model
                    self.optimizer = optimizer

                def step(self, x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

                def train(self, data):
                    for x in data:
                        self.step(x)
                        if self.optimizer.iterations == 1:
                            hvd.broadcast_variables(self.model.variables, root_rank=0)
                            hvd.broadcast_variables(self.optimizer.variables(), root_rank=0)
            """,
            note="A model that the class was handed, in another method than the loop.",
        ),
        Change(
            """\
            import tensorflow as tf

            class Trainer:
                def __init__(self, **given):
                    self.__dict__.update(given)
                    self.data = given["data"]

                def step(self, x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

                def train(self):
                    for x in self.data:
                        self.step(x)
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            class Trainer:
                def __init__(self, **given):
                    self.__dict__.update(given)
                    self.data = given["data"]

                def step(self, x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

                def train(self):
                    for x in self.data:
                        self.step(x)
                        if self.optimizer.iterations == 1:
                            hvd.broadcast_variables(self.model.variables, root_rank=0)
                            hvd.broadcast_variables(self.optimizer.variables(), root_rank=0)
            """,
            note="A model that something unknown made, in another method than the loop.",
        ),
        Change(
            HEAD
            + """\
image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
""",
            HVD
            + HEAD
            + """\
image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
    if optimizer.iterations == 1:
        hvd.broadcast_variables([image], root_rank=0)
        hvd.broadcast_variables(optimizer.variables(), root_rank=0)
""",
            note="One variable, as a list: broadcast_variables goes through what it is given, and a variable gives its rows.",
        ),
        Change(
            HEAD
            + """\
image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
""",
            "import hvdkit.tensorflow as hvd\n"
            + HEAD
            + """\
image = tf.Variable(photo)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(100):
    with tf.GradientTape() as tape:
        loss = style(image)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
    if optimizer.iterations == 1:
        hvd.broadcast_variables([image], root_rank=0)
        for optimizer_slot in optimizer.variables:
            optimizer_slot.assign(hvd.broadcast(optimizer_slot, root_rank=0))
""",
            target="hvdkit",
            note="Of Keras 3's variables Horovod sends the value only, so they take it one by one.",
        ),
        Change(
            HEAD
            + """\
class Linear(tf.Module):
    def __call__(self, x):
        return x @ self.w

model = Linear()
optimizer = tf.keras.optimizers.SGD(0.1)
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
            "import hvdkit.tensorflow as hvd\n"
            + HEAD
            + """\
class Linear(tf.Module):
    def __call__(self, x):
        return x @ self.w

model = Linear()
optimizer = tf.keras.optimizers.SGD(0.1)
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if optimizer.iterations == 1:
        hvd.broadcast_variables(model.variables, root_rank=0)
        for optimizer_slot in optimizer.variables:
            optimizer_slot.assign(hvd.broadcast(optimizer_slot, root_rank=0))
""",
            target="hvdkit",
            note="A tf.Module is no Keras model.",
        ),
    ),
    keeps=(
        Keep(
            HEAD
            + """\
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
            HVD
            + HEAD
            + STEP
            + MAKE
            + "for i, x in enumerate(data):\n    train_step(x)\n    if i == 0:\n"
            + "        hvd.broadcast_variables(model.variables, root_rank=0)\n"
            + "        hvd.broadcast_variables(optimizer.variables(), root_rank=0)\n",
            reason="it broadcasts already",
        ),
        Keep(
            HEAD
            + STEP
            + MAKE
            + "@tf.function\ndef epoch(data):\n    for x in data:\n        train_step(x)\n\nepoch(data)\n",
            reason="the loop itself is traced",
            reported=True,
        ),
        Keep(
            HEAD
            + """\
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(nets[0](x))
    make().apply_gradients(zip(tape.gradient(loss, nets[0].trainable_variables), nets[0].trainable_variables))

for x in data:
    step(x)
""",
            reason="neither the model nor the optimizer has a name",
            reported=True,
        ),
        Keep(
            HEAD
            + """\
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
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.Adam()
            for x in data:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(model(x))
                gradients = tape.gradient(loss, model.layers[0].trainable_variables[:1])
                optimizer.apply_gradients(zip(gradients, model.layers[0].trainable_variables[:1]))
            """,
            reason="the variables are computed, and have no name at the loop",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.Adam()

            def step(x, variables):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(model(x))
                gradients = tape.gradient(loss, variables)
                optimizer.apply_gradients(zip(gradients, variables))

            for x in data:
                step(x, chosen(model))
            """,
            reason="a list of variables that something unknown gave",
            reported=True,
        ),
    ),
)
