"""The TensorFlow programs of benchmarks/truth_tf.py are whole, and what their ranks do wrong is seen."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from hvdkit.migrate.conditions import tensorflow_table

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from truth import claims
from truth.tf import held
from truth.tf.choices import WAYS, Choices, drawn, fitting
from truth.tf.programs import BATCH, SAMPLES, TRAINED, program

PLAIN = fitting({**{thing: ways[0] for thing, ways in WAYS.items()}, "validation": "held", "save": "weights"})


def rank(number: int, **other: Any) -> dict[str, Any]:
    """What the probe of a rank sees of a right run."""
    mine = list(range(number, TRAINED, 2))
    return {
        "error": "",
        "trained": [mine[at : at + BATCH] for at in range(0, len(mine), BATCH)],
        "looked": [list(range(TRAINED, SAMPLES))],
        "written": ["model.weights.h5"] if number == 0 else [],
        "end": ["1.5"],
        **other,
    }


def seen(second: dict[str, Any], there: tuple[str, ...] = ("model.weights.h5",)) -> list[claims.Fault]:
    """The faults of a run whose second rank does this."""
    return held.faults(PLAIN, held.Job("one host", 0, {0: rank(0), 1: second}, "", there))


def test_every_row_is_held() -> None:
    assert set(tensorflow_table.ROWS) == set(held.ROWS)


def test_a_right_run_has_no_fault() -> None:
    assert seen(rank(1)) == []


@pytest.mark.parametrize(
    ("other", "row"),
    [
        ({"trained": rank(0)["trained"]}, held.SHARDED),
        ({"looked": [list(range(TRAINED - 4, SAMPLES))]}, held.SHARDED),
        ({"end": ["1.6"]}, held.AVERAGED),
        ({"written": ["log.csv"]}, held.FILES),
        ({"trained": rank(1)["trained"][:-1]}, claims.VERDICT),
        ({"trained": []}, claims.VERDICT),
    ],
)
def test_what_a_rank_does_wrong_is_seen(other: dict[str, Any], row: str) -> None:
    assert row in {fault.row for fault in seen(rank(1, **other))}


def test_a_file_that_is_missing_is_seen() -> None:
    assert [fault.row for fault in seen(rank(1), there=())] == [claims.VERDICT]


def test_a_crash_refutes_the_verdict_alone() -> None:
    job = held.Job("two hosts", 1, {0: rank(0), 1: rank(1, error="ValueError: no")}, "", ())
    assert [fault.row for fault in held.faults(PLAIN, job)] == [claims.VERDICT]


def test_programs_are_python_and_differ() -> None:
    texts = {program(drawn(seed)) for seed in range(300)}
    assert len(texts) > 200
    for text in texts:
        ast.parse(text)


def test_a_plainer_program_stays_one() -> None:
    choices: Choices = drawn(3)
    for thing in WAYS:
        ast.parse(program(choices.plainer(thing)))
