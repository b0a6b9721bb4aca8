"""What each file shows of a TensorFlow program's kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.tensorflow import vocabulary as words
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


def tensorflow_evidence(facts: Facts) -> Iterator[tuple[Names, str]]:
    """Files, and the kind that each makes its program."""
    if not facts.tf.mentioned:
        return
    for site in facts.calls(*words.INITS):
        yield site.names, "tf-horovod"
    for site in facts.calls(*words.MIRRORED):
        yield site.names, "tf-strategy"
    for call in facts.tf.calls:
        if call.method in ("fit", "fit_generator", "train_on_batch"):
            yield call.names, "tf-single"
    for step in facts.tf.applied:
        yield step.names, "tf-single"
