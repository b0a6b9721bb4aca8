"""HVD721: the learning rate of a single-process Keras script, times the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import (
    migrating_compiles,
    migrating_files,
    only_with_strategy,
)
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import ASKED, RATES, own_rate, scaled, scaled_by_name
from hvdkit.migrate.values.arguments import keyword, unpacks
from hvdkit.migrate.values.value import Value
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

OPTIMIZERS = "keras.optimizers."
MESSAGE = "N ranks process N times the batch: the learning rate times hvd.size() (linear scaling)"
SCALED = frozenset(f"hvdkit.{module}.scale_lr" for module in ("tensorflow", "tensorflow.keras"))


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(OPTIMIZERS):
        names, call = site.names, site.node
        short = site.name.removeprefix(OPTIMIZERS)
        if (
            names not in migrating_files(facts)
            or only_with_strategy(facts, names)
            or not short[:1].isupper()
            or "." in short
        ):
            continue
        rate = keyword(call, "learning_rate") or keyword(call, "lr") or (call.args[0] if call.args else None)
        if rate is None and not unpacks(call) and getattr(names.parents[call], "attr", "") != "get_config":
            yield from _default(facts, names, call, short)
        if rate is None or rank_kinds(facts).of(names, rate) & {"size"} or _has_size(facts, names, rate):
            continue
        if facts.flow.made(names, rate) & SCALED:
            continue
        if any(_is_schedule(facts, value) for value in facts.flow.values(names, rate)):
            continue
        yield suggested(facts, "HVD721", names, rate, MESSAGE, _edit, facts, names, rate)
    for compiled in migrating_compiles(facts):
        names, optimizer = compiled.names, compiled.argument("optimizer")
        text = scaled_by_name(facts, names, optimizer)
        if optimizer is not None and text is not None:
            yield suggested(
                facts, "HVD721", names, optimizer, MESSAGE, edits.replace, names.source, optimizer, text
            )


def _default(facts: Facts, names: Names, call: ast.Call, short: str) -> Iterator[Finding]:
    """The rate that Keras takes where none is given; asked for where its versions differ."""
    _, rate = RATES.get(short.lower(), ("", None))
    own: float | str | None = rate
    said = f"Keras's default is {rate}"
    if short in ASKED.values() and all(
        isinstance(part, (ast.Name, ast.Attribute, ast.Load)) for part in ast.walk(call.func)
    ):
        own = own_rate(ast.unparse(call.func))
        said = "Keras's default is looked up, since it differs between versions"
    if own is not None:
        written = f"learning_rate={scaled(facts, names, own)}"
        add = edits.add_arguments
        yield suggested(
            facts, "HVD721", names, call, f"{MESSAGE}; {said}", add, names.source, call, [written]
        )


def _is_schedule(facts: Facts, value: Value) -> bool:
    """Whether a rate is a schedule: by its name, or by what the project's own class derives from."""
    if value.kind not in ("made", "object"):
        return False
    own = facts.flow.bases(value) if value.kind == "object" else ()
    return any("schedule" in name.lower() for name in (value.name, *own))


def _has_size(facts: Facts, names: Names, rate: ast.expr) -> bool:
    return any(
        isinstance(node, ast.expr) and "size" in rank_kinds(facts).of(names, node) for node in ast.walk(rate)
    )


def _edit(facts: Facts, names: Names, rate: ast.expr) -> list[Edit]:
    if target_of(facts, names) == "hvdkit":
        return edits.wrap(names.source, rate, f"{horovod_name(facts, names)}.scale_lr(", ")")
    return edits.times(names.source, rate, f"{horovod_name(facts, names)}.size()")


RULE = Rule(
    id="HVD721",
    title="Keras learning rates scaled",
    what=(
        "Multiplies the learning rate of a single-process script's Keras optimizers by hvd.size(). Where "
        "none is given, and "
        "for names such as 'adam', it is Keras's default, which an optimizer without a rate returns in "
        "get_config()."
    ),
    why=(
        "Each rank keeps its batch size, so a step sees N times as many samples. Linear scaling, with a "
        "warm-up of some epochs, keeps the accuracy (Goyal et al. 2017, arXiv:1706.02677)."
    ),
    safety=(
        "Suggested: it changes what is computed, and the right factor depends on the model. A schedule is "
        "left as it is. A script with a strategy already states how its rate depends on the replicas."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(tf.keras.optimizers.SGD(0.1), 'mse')
            model.fit(data)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(tf.keras.optimizers.SGD(0.1 * hvd.size()), 'mse')
            model.fit(data)
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)
            model.compile(tf.keras.optimizers.Adadelta(rate), 'mse')
            model.fit(data)
            """,
            reason="a schedule is a rate, too: its steps would have to change",
            suggested=True,
        ),
    ),
)
