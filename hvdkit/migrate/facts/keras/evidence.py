"""What each file shows of a TensorFlow program's kind."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.source.index.names import Names


def tensorflow_evidence(facts: Facts) -> Iterator[tuple[Names, str]]:
    """Files, and the kind that each makes its program."""
    if not tensorflow_files(facts):
        return
    for site in facts.calls(*words.INITS):
        yield site.names, "tf-horovod"
    for site in facts.calls(*words.MIRRORED):
        yield site.names, "tf-strategy"
    for call in keras_calls(facts):
        if call.method in ("fit", "fit_generator", "train_on_batch"):
            yield call.names, "tf-single"
    for step in applied_gradients(facts):
        yield step.names, "tf-single"
