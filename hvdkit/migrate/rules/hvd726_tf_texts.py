"""HVD726: logs, tables and other files that a TensorFlow program writes by itself are written by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import whole_statement
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.saving_calls import other_writers
from hvdkit.migrate.facts.tensorflow.ways import operation
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import guard
from hvdkit.migrate.rewrites.texts import text_block
from hvdkit.migrate.values.arguments import given
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MESSAGE = "every rank would write this file; rank 0 writes it"
LEFT = "every rank would write this file at the same time"


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[Names, list[ast.stmt]] = {}
    for writer in other_writers(facts):
        names = writer.names
        if names not in migrating_files(facts):
            continue
        whole = whole_statement(facts, writer)
        block = [whole] if whole is not None else text_block(facts, writer)
        if block:
            found.setdefault(names, []).extend(block)
        else:
            advice = f"put the writing under `if {horovod_name(facts, names)}.rank() == 0:`, what all ranks have to run outside"
            yield manual("HVD726", names, writer.node, LEFT, advice)
    for names, blocks in found.items():
        condition = f"{horovod_name(facts, names)}.rank() == 0"
        for row in edits.rows(names, list(dict.fromkeys(blocks))):
            yield safe(facts, "HVD726", names, row[0], MESSAGE, guard, facts, names, row, condition)
    for names, path in _caches(facts):
        message = "every rank would cache its elements in this file: each takes one of its own"
        yield safe(facts, "HVD726", names, path, message, _of_rank, facts, names, path)


def _caches(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The files that datasets are cached in."""
    paths = {
        path: names
        for drawn in dataset_chains(facts).drawn
        for chain in drawn.chains
        for names, call in chain.ops
        if operation(call) == "cache" and (path := given(call, 0, "filename")) is not None
    }
    for path, names in paths.items():
        known = rank_kinds(facts).inside(names, path) or getattr(path, "value", path) == ""
        if names in migrating_files(facts) and not known:
            yield names, path


def _of_rank(facts: Facts, names: Names, path: ast.expr) -> list[Edit]:
    return edits.appended(names.source, path, f' + f"-{{{horovod_name(facts, names)}.rank()}}"')


RULE = Rule(
    id="HVD726",
    title="logs and tables of a TensorFlow program are written by rank 0",
    what=(
        'Puts `with open(path, "w")` blocks that only write, and calls that write tables and figures, under '
        "`if hvd.rank() == 0:`. A file that is opened amid other work is left to you. "
        "The file of dataset.cache(path) gets the rank in its name. What Keras and TensorFlow write "
        "themselves is HVD718's."
    ),
    why="N processes open the same file: each empties it, or their lines come N times and mixed.",
    safety=(
        "Safe: the file then holds what rank 0 has seen, and nothing in the program reads it. A block that computes what is used below it, or calls what "
        "all ranks have to run, is not moved."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            history = model.fit(x, y)
            with open("log.txt", "w") as file:
                file.write(str(history.history))
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            history = model.fit(x, y)
            if hvd.rank() == 0:
                with open("log.txt", "w") as file:
                    file.write(str(history.history))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            with open("names.txt") as file:
                names = file.read()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(x, y)
            """,
            reason="the file is read",
        ),
    ),
)
