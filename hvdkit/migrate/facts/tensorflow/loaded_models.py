"""Models that a program loads with their optimizer, and trains on: Keras's own load_model wraps none."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.tensorflow_programs import training_files
from hvdkit.migrate.facts.tensorflow.read_back import spelled
from hvdkit.migrate.values.arguments import given, keyword
from hvdkit.migrate.values.value import Value

OWN_FORMAT = ".keras"


def loaded_from_own_format(facts: Facts) -> Iterator[Site]:
    """The calls of load_model that read a file of Keras's own format with its optimizer.

    The class of Horovod's optimizer is in it, which no load_model finds there; in HDF5 its name is enough.
    """
    for site in facts.calls(*words.LOADS, *words.DISTRIBUTED_LOADS):
        path = given(site.node, 0, "filepath")
        uncompiled = keyword(site.node, "compile")
        if site.names not in training_files(facts) or path is None:
            continue
        if f"{OWN_FORMAT}'" in spelled(site.names, path) and uncompiled is None:
            yield site


@once
def trained_as_loaded(facts: Facts) -> tuple[Value, ...]:
    """The calls of Keras's load_model whose result fit or train_on_batch trains, and nothing compiles."""
    values = facts.flow.values
    calls = [call for call in keras_calls(facts) if call.names in training_files(facts)]
    compiled = {
        value for call in calls if call.method == "compile" for value in values(call.names, call.model)
    }
    found = {
        value
        for call in calls
        if call.method in ("fit", "fit_generator", "train_on_batch")
        for value in values(call.names, call.model)
        if value.name in words.LOADS and value not in compiled
    }
    return tuple(
        sorted(found, key=lambda value: (str(value.names.source.path), value.names.line(value.node)))
    )
