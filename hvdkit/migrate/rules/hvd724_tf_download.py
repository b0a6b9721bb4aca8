"""HVD724: one process of each host downloads and unpacks a TensorFlow program's data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.downloads import downloads, whole
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files, only_started
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.starting import runs_started
from hvdkit.migrate.rewrites.tensorflow import after, barrier, before
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MESSAGE = "one process per host downloads; the others wait and find the data"


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[Names, list[ast.stmt]] = {}
    for names, call in downloads(facts):
        if names not in migrating_files(facts) or where_runs(facts, names, call) is not Where.ALL:
            continue
        statement = whole(facts, names, call)
        if statement is not None and only_started(facts, names) and runs_started(facts, names, call):
            found.setdefault(names, []).append(statement)
        else:
            hvd, wait = horovod_name(facts, names), barrier(facts, names)
            advice = (
                f"have one process of each host do it first: `if {hvd}.local_rank() != 0: {wait}` above it, "
                f"and `if {hvd}.local_rank() == 0: {wait}` below it, where every rank passes both"
            )
            message = "every process of a host would download or unpack into the same files at once"
            yield manual("HVD724", names, call, message, advice)
    for names, statements in found.items():
        for row in edits.rows(names, list(dict.fromkeys(statements))):
            if _waits(facts, names, edits.preceding(names, row[0])):
                continue
            yield safe(facts, "HVD724", names, row[0], MESSAGE, _edits, facts, names, row[0], row[-1])


def _waits(facts: Facts, names: Names, statement: ast.stmt | None) -> bool:
    """Whether a statement lets some processes of a host wait: `if hvd.local_rank() != 0: ...`."""
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Call)
        and any(q.endswith(".local_rank") for q in facts.flow.qualified(names, node.func))
        for node in ast.walk(statement.test)
    )


def _edits(facts: Facts, names: Names, first: ast.stmt, last: ast.stmt) -> list[Edit]:
    hvd, wait = horovod_name(facts, names), barrier(facts, names)
    return [
        *before(facts, names, first, [f"if {hvd}.local_rank() != 0:", f"\t{wait}"]),
        *after(facts, names, last, [f"if {hvd}.local_rank() == 0:", f"\t{wait}"]),
    ]


RULE = Rule(
    id="HVD724",
    title="one download for each host",
    what=(
        "Lets all but the first process of a host wait while that one calls get_file, keras.datasets' "
        "load_data, tensorflow_datasets, urlretrieve or extractall; then the others find the files. "
        "Both waits are one collective: horovod.tensorflow has no barrier."
    ),
    why=(
        "N processes that download and unpack into one folder at once read each other's partial files. It "
        "shows on the first run on a host, and so in every fresh container."
    ),
    safety=(
        "Safe: every rank makes the same data as before, and passes exactly one wait. A test or a loop "
        "around the download is part of what is waited for. In a return, next to calls of the script's own "
        "functions, and in files that other programs import it is reported."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            (x, y), _ = tf.keras.datasets.mnist.load_data()
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            if hvd.local_rank() != 0:
                hvd.allreduce(0, op=hvd.Sum)
            (x, y), _ = tf.keras.datasets.mnist.load_data()
            if hvd.local_rank() == 0:
                hvd.allreduce(0, op=hvd.Sum)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf
            import tensorflow_datasets as tfds

            data = tfds.load("mnist", split="train", download=False)
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            reason="it downloads nothing",
        ),
    ),
)
