"""What the training data of a TensorFlow program is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.source.index.names import Names

# What fit takes a row of for each sample.
ARRAYS = ("x", "y", "sample_weight")


def pipeline_sources(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.expr]]:
    """The sources of the datasets that a program trains on, and the arrays that its fits are given."""
    for dataset in dataset_chains(facts).training:
        if dataset.names in program.files:
            for chain in dataset.chains:
                yield chain.source.names, chain.source.node
    for call in keras_calls(facts):
        if call.names in program.files and call.method in ("fit", "fit_generator"):
            for name in ARRAYS:
                given = call.argument(name)
                if given is not None:
                    yield call.names, given
