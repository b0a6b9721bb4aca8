"""The updates of TensorFlow's and Keras' optimizers, and the state of a rank after some of them.

A step is looked at when the next one begins, after the gradients are reduced: loops and callbacks broadcast
after their first step, where weights are created with the first batch. What is compiled into a tf.function
stays compiled; at a step that is due, and only there, it calls Python.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_util

from hvdkit.observe.around import before_call
from hvdkit.observe.tensorflow.optimizers import rate_of, state_of
from hvdkit.sync.disagreement import OutOfSyncError, differing, out_of_sync
from hvdkit.sync.evidence import Evidence
from hvdkit.sync.history import HISTORY, REDUCE
from hvdkit.sync.keys import Keys

if TYPE_CHECKING:
    from hvdkit.sync.folder import Writer

_COUNTED = re.compile(r"_\d+(?=_|/|$)")  # Keras numbers its names in each process

Table = dict[str, str]
# An optimizer, the number of the step, and this rank's digests.
OfStep = Callable[[Any, int, Table], None]


def note_calls(owner: Any, name: str, what: str) -> None:
    """Note each call of a function or method in the history."""
    HISTORY.watched = True
    before_call(owner, name, lambda: HISTORY.note(what))


class Steps:
    """Counts the updates of each optimizer, and calls back with its state after those that are due."""

    def __init__(self, due: Sequence[tuple[frozenset[int], OfStep]]) -> None:
        self._due = due
        self._steps = sorted(frozenset().union(*(steps for steps, _ in due)))
        self._taken: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._order: Any = None
        self._found: list[OutOfSyncError] = []
        self._raise_after_functions()

    def watch(self, kind: Any, method: str) -> None:
        """Look before each update. kind: a class of optimizers. method: see optimizers.UPDATES."""
        update = getattr(kind, method)

        def watched(optimizer: Any, distribution: Any, pairs: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(pairs)
            self._before(optimizer, [variable for _, variable in pairs])
            return update(optimizer, distribution, pairs, *args, **kwargs)

        setattr(kind, method, watched)

    def _before(self, optimizer: Any, trained: Sequence[Any]) -> None:
        if tf.distribute.get_strategy().num_replicas_in_sync > 1 or _compiled_by_xla():
            return
        if optimizer not in self._taken:
            with tf.init_scope(), tf.device("/CPU:0"):
                self._taken[optimizer] = tf.Variable(0, dtype=tf.int64, trainable=False)
                self._order = self._order or tf.Variable(0, dtype=tf.int64, trainable=False)
        taken = self._taken[optimizer]
        held = {_label(place, variable): _plain(variable) for place, variable in enumerate(trained)}
        if not _is_adasum(optimizer):
            known = {id(variable) for variable in held.values()}
            state = [each for each in state_of(optimizer) if id(_plain(each)) not in known]
            held |= {f"optimizer {_label(place, each)}": _plain(each) for place, each in enumerate(state)}
        if tf.executing_eagerly():
            if int(taken) in self._steps:
                self._look(optimizer, int(taken), list(held), list(held.values()))
        else:
            self._look_in_graph(optimizer, taken, held)
        taken.assign_add(1)

    def _look_in_graph(self, optimizer: Any, taken: Any, held: dict[str, Any]) -> None:
        def look() -> Any:
            values = [tf.identity(variable) for variable in held.values()]

            def call(step: Any, *arrays: Any) -> None:
                try:
                    self._look(optimizer, int(step), list(held), arrays)
                except OutOfSyncError as error:
                    # Raised in here, it would leave this rank waiting for what others no longer reduce.
                    self._found.append(error)

            with tf.control_dependencies([tf.py_function(call, [taken.read_value(), *values], [])]):
                # What all looks write to makes TensorFlow take them in one order, the other ranks' too.
                self._order.assign_add(1)
            return tf.constant(True)

        with tf.device("/CPU:0"):
            due = tf.reduce_any(tf.equal(taken.read_value(), tf.constant(self._steps, tf.int64)))
            tf.cond(due, look, lambda: tf.constant(False))

    def _raise_after_functions(self) -> None:
        call = Function.__call__

        @functools.wraps(call)
        def raising(function: Any, *args: Any, **kwargs: Any) -> Any:
            result = call(function, *args, **kwargs)
            if self._found:
                raise self._found.pop()
            return result

        Function.__call__ = raising

    def _look(self, optimizer: Any, step: int, labels: Sequence[str], values: Sequence[Any]) -> None:
        table = {label: _digest(value) for label, value in zip(labels, values)}
        for steps, call in self._due:
            if step in steps:
                call(optimizer, step, table)


class Comparison:
    """The ranks compare themselves: HVDKIT_CHECK_SYNC."""

    def __init__(self) -> None:
        self._keys = Keys()

    def compare(self, optimizer: Any, step: int, table: Table) -> None:
        """Raises OutOfSyncError on all ranks where they differ; reports where there is one rank alone."""
        hvd = _horovod()
        if hvd is None:
            return
        process_set = _process_set(optimizer, hvd)
        if process_set.size() == 1:
            if step == 1:
                print("hvdkit: check_sync: one rank, nothing to compare", file=sys.stderr)
            return
        key = self._keys.of(optimizer, lambda: (process_set.ranks, sorted(table)))
        name = f"hvdkit.check_sync.{key}"
        said = hvd.allgather_object((table, asdict(_evidence(optimizer))), name=name, process_set=process_set)
        tables = [each for each, _ in said]
        names = differing(tables)
        if names:
            evidence = [Evidence(**each) for _, each in said]
            moment = f"after step {step} of {key.split()[0]}: "
            raise out_of_sync(names, tables, evidence, process_set.ranks, moment)
        HISTORY.agreed.add(optimizer)


class Record:
    """The launcher compares: each rank records for the watch of `hvdkit run`."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._keys = Keys()

    def state(self, optimizer: Any, step: int, table: Table) -> None:
        """Record the state after a step of an optimizer, for the ranks that share it."""
        hvd = _horovod()
        if hvd is None:
            return
        ranks = _process_set(optimizer, hvd).ranks
        if hvd.rank() not in ranks or len(ranks) == 1:
            return
        with self._writer.guarded(f"recording step {step} of {type(optimizer).__name__}"):
            self._writer.event(
                {
                    "state": {
                        "key": self._keys.of(optimizer, lambda: (list(ranks), sorted(table))),
                        "step": step,
                        "ranks": list(ranks),
                        "table": table,
                        "evidence": asdict(_evidence(optimizer)),
                        "device": "",  # TensorFlow names no GPU so that two processes can tell it apart
                    }
                }
            )


def _evidence(optimizer: Any) -> Evidence:
    return Evidence(
        framework="tensorflow",
        watched=HISTORY.watched,
        wrapped=bool(HISTORY.counts[REDUCE]),
        uncovered=[],
        unsent=[],
        rates=[f"{rate_of(optimizer):g}"],
        decays=False,
        agreed=optimizer in HISTORY.agreed,
        seed=0,
        skipped=0,
        counts=dict(HISTORY.counts),
        last=dict(HISTORY.last),
    )


def _horovod() -> Any:
    """Horovod's module, once it is initialized; None before, and where the script has not imported it."""
    hvd = sys.modules.get("horovod.tensorflow")
    return hvd if hvd is not None and hvd.is_initialized() else None


def _process_set(optimizer: Any, hvd: Any) -> Any:
    reduction = _reduction(optimizer)
    return reduction.process_set if reduction else getattr(optimizer, "process_set", hvd.global_process_set)


def _is_adasum(optimizer: Any) -> bool:
    """Adasum combines what each rank's own optimizer makes of its own gradients: averages of these differ."""
    reduction = _reduction(optimizer)
    return reduction is not None and reduction.op == sys.modules["horovod.tensorflow"].Adasum


def _reduction(optimizer: Any) -> Any:
    """How hvdkit's DistributedOptimizer reduces; None for any other."""
    guards = sys.modules.get("hvdkit.keras.guards")  # whose package connects Horovod to Keras
    return getattr(type(optimizer), guards.MARK, None) if guards else None


def _compiled_by_xla() -> bool:
    graph = ops.get_default_graph() if tf.inside_function() else None
    return graph is not None and bool(control_flow_util.GraphOrParentsInXlaContext(graph))


def _plain(variable: Any) -> Any:
    """The variable of TensorFlow inside one of Keras 3."""
    return variable.value if hasattr(variable, "path") else variable


def _label(place: int, variable: Any) -> str:
    """The same on all ranks: by its place, and by its name without numbers."""
    name = getattr(variable, "path", None) or variable.name.split(":")[0]
    return f"{_COUNTED.sub('', name)} [{place}]"


def _digest(value: Any) -> str:
    return hashlib.sha256(tf.convert_to_tensor(value).numpy().tobytes()).hexdigest()[:16]
