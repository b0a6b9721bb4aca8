"""The state of every generator of random numbers of a process, taken and set."""

from __future__ import annotations

import random
import sys
from typing import Any
from weakref import WeakSet

from tensorflow.python.eager import context

_of_keras: WeakSet[Any] = WeakSet()  # the generators of Keras 3, which are variables
_order: dict[int, int] = {}  # of construction, by id


def watch_generators(kind: Any) -> None:
    """Know each generator of Keras 3 from its construction on. kind: their class."""
    build = kind.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        _order[id(self)] = len(_order)
        _of_keras.add(self)

    kind.__init__ = init


def states() -> dict[str, Any]:
    """Of Python, numpy, TensorFlow and Keras.

    An operation with a seed of its own starts anew from here on, as it does where a state is set: TensorFlow
    gives no access to where it is.
    """
    running = context.context()
    running.clear_kernel_cache()
    return {
        "random": random.getstate(),
        "numpy": sys.modules["numpy"].random.get_state(),
        "tensorflow": (running._seed, running._rng.getstate()),
        "keras": [generator.state.numpy() for generator in _generators()],
    }


def restore(taken: dict[str, Any]) -> None:
    """Set what was taken, perhaps by another process."""
    random.setstate(taken["random"])
    sys.modules["numpy"].random.set_state(taken["numpy"])
    seed, state = taken["tensorflow"]
    running = context.context()
    running._set_global_seed(seed)
    running._rng.setstate(state)
    for generator, value in zip(_generators(), taken["keras"]):
        generator.state.assign(value)


def held_by_generators() -> set[int]:
    """The ids of the variables that are states of generators."""
    return {id(getattr(generator.state, "value", generator.state)) for generator in _of_keras}


def _generators() -> list[Any]:
    return sorted(_of_keras, key=lambda generator: _order[id(generator)])
