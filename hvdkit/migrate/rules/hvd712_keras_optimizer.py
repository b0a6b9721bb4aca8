"""HVD712: the optimizer of compile becomes a DistributedOptimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.model_calls import ModelCall, custom_step, given_optimizer, takes_default
from hvdkit.migrate.facts.programs.horovod_import import horovod_module, horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_compiles, migrating_files
from hvdkit.migrate.facts.tensorflow.loaded_models import loaded_from_own_format, trained_as_loaded
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import keras, scaled_by_name
from hvdkit.migrate.values.arguments import unpacks
from hvdkit.migrate.values.value import Value
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MESSAGE = "the gradients are averaged over the ranks before they are applied"
LOADED = "the model trains with the optimizer that was saved with it, and hvd.load_model wraps that"
UNREADABLE = "a model that was saved with Horovod's optimizer cannot be loaded from a .keras file"
SAVE_AS_HDF5 = "save and load it as .h5, or run `hvdkit migrate --target hvdkit`, whose models load as before"
SCALED = ("keras.mixed_precision.LossScaleOptimizer", "keras.mixed_precision.experimental.LossScaleOptimizer")


def check(facts: Facts) -> Iterator[Finding]:
    unreadable: set[ast.AST] = set()
    for site in loaded_from_own_format(facts):
        if target_of(facts, site.names) == "horovod":
            unreadable.add(site.node)
            yield manual("HVD712", site.names, site.node, UNREADABLE, SAVE_AS_HDF5)
    for model in trained_as_loaded(facts):
        if model.names in migrating_files(facts) and model.node not in unreadable:
            yield required(facts, "HVD712", model.names, model.node, LOADED, _loaded, facts, model)
    by_hand = {v for step in applied_gradients(facts) for v in facts.flow.values(step.names, step.optimizer)}
    seen: set[ast.AST] = set()
    for call in migrating_compiles(facts):
        names = call.names
        if custom_step(facts, call):
            continue
        optimizer = given_optimizer(facts, call)
        if optimizer is None and call.spread:
            advice = f"give it {horovod_name(facts, names)}.DistributedOptimizer(...)"
            message = "which optimizer is passed to this compile cannot be determined"
            yield refused("HVD712", names, call.node, message, advice)
            continue
        if optimizer is None and not takes_default(facts, call):
            hvd = horovod_name(facts, names)
            advice = f"give it optimizer={hvd}.DistributedOptimizer(...) around the optimizer that it uses by default"
            message = (
                "this compile is given no optimizer, and the one that the model's class chooses is not known"
            )
            yield refused("HVD712", names, call.node, message, advice)
            continue
        made = facts.flow.values(names, optimizer)
        if any(value.name in words.OPTIMIZERS for value in made):
            continue
        if target_of(facts, names) == "horovod" and any(value.name in SCALED for value in made):
            advice = f"wrap the optimizer inside: LossScaleOptimizer({horovod_name(facts, names)}.DistributedOptimizer(...))"
            message = "the loss scale must be removed before the gradients are averaged"
            yield refused("HVD712", names, optimizer or call.node, message, advice)
            continue
        yield from _wrapped(facts, call, optimizer, made, bool(made & by_hand), seen)


def _loaded(facts: Facts, model: Value) -> list[Edit]:
    """hvd.load_model, which wraps the optimizer that was saved. Raises CannotEdit."""
    names, call = model.names, model.node
    if not isinstance(call, ast.Call) or len(call.args) > 1 or unpacks(call):
        raise edits.CannotEdit("hvd.load_model has other arguments after the path")
    if {item.arg for item in call.keywords} - {"filepath", "custom_objects"}:
        raise edits.CannotEdit("hvd.load_model takes a path and custom_objects")
    short = horovod_module(facts, names).endswith(".keras")
    name = f"{horovod_name(facts, names)}.load_model" if short else "hvd_load_model"
    return [edits.replace(names.source, call.func, name)]


def _wrapped(
    facts: Facts,
    call: ModelCall,
    optimizer: ast.expr | None,
    made: frozenset[Value],
    by_hand: bool,
    seen: set[ast.AST],
) -> Iterator[Finding]:
    names, hvd = call.names, horovod_name(facts, call.names)
    own = [value for value in made if value.name.startswith("keras.optimizers.") and value.kind == "made"]
    if isinstance(optimizer, ast.Name) and own and len(own) == len(made) and not by_hand:
        for value in own:  # where it is made, so that a checkpoint or a print of it means the same object
            if value.node not in seen:
                seen.add(value.node)
                yield required(
                    facts, "HVD712", value.names, value.node, MESSAGE, _around, facts, value.names, value.node
                )
    elif optimizer is None:
        text = f'optimizer={hvd}.DistributedOptimizer({keras(names)}.optimizers.get("rmsprop"))'
        yield required(
            facts, "HVD712", names, call.node, MESSAGE, edits.add_arguments, names.source, call.node, [text]
        )
    elif optimizer not in seen:
        seen.add(optimizer)
        yield required(facts, "HVD712", names, optimizer, MESSAGE, _around, facts, names, optimizer)


def _around(facts: Facts, names: Names, node: ast.expr) -> list[Edit]:
    hvd = horovod_name(facts, names)
    scaled = facts.options.suggested and facts.options.allows("HVD721")
    if scaled and scaled_by_name(facts, names, node):
        return edits.wrap(
            names.source, node, f"{hvd}.DistributedOptimizer(", ")"
        )  # HVD721 writes the optimizer
    if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and _text(names, node)):
        return edits.wrap(
            names.source, node, f"{hvd}.DistributedOptimizer({keras(names)}.optimizers.get(", "))"
        )
    return edits.wrap(names.source, node, f"{hvd}.DistributedOptimizer(", ")")


def _text(names: Names, node: ast.Name) -> bool:
    """Whether a variable may hold an optimizer's name, or something that cannot be told."""
    values = [binding.value for binding in names.bindings(node.id, node)]
    return not all(isinstance(value, ast.Call) for value in values)


RULE = Rule(
    id="HVD712",
    title="DistributedOptimizer in compile",
    what=(
        "Wraps the optimizer of a model that fit trains in hvd.DistributedOptimizer: where it is made, or "
        "in the call of "
        'compile. A name such as "adam" becomes keras.optimizers.get("adam") first. A model that is trained as it was '
        "loaded is loaded by hvd.load_model. A model whose class may choose its "
        "own optimizer, when compile is given none, is left to you."
    ),
    why="It averages the gradients of all ranks before they are applied. Without it every rank trains a different model.",
    safety=(
        "Safe with Keras 2 (TensorFlow 2.15 and earlier). Keras 3 never calls plain Horovod's wrapper: "
        "there hvdkit's is written (HVD791), which is needed around a LossScaleOptimizer, too. Where the Keras "
        "version of a program is unknown, the report says so (HVD701)."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
            model.fit(data)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(optimizer=hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")
            model.fit(data)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")
            model.fit(data)
            """,
            reason="it is wrapped already",
        ),
    ),
)
