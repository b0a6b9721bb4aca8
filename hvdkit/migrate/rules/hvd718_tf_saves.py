"""HVD718: checkpoints, models and summaries of a TensorFlow program are written by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import needed_everywhere, writers
from hvdkit.migrate.facts.keras.downloads import downloads, whole
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files, only_started
from hvdkit.migrate.facts.tensorflow.saving_calls import DELETED, Saved, deletions, saves, summaries
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import guard, meeting, tf
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MESSAGE = "every rank would write this file; rank 0 writes it"


def check(facts: Facts) -> Iterator[Finding]:
    found = [saved for saved in saves(facts) if _by_all(facts, saved)]
    plain = _plain(facts, found)
    for names, statements in plain.items():
        for row in edits.rows(names, list(dict.fromkeys(statements.values()))):
            condition = _condition(facts, names)
            yield safe(facts, "HVD718", names, row[0], MESSAGE, guard, facts, names, row, condition)
    for saved in found:
        names, call = saved.names, saved.node
        if call in plain.get(names, ()):
            continue
        if _only_told(facts, saved):
            text = f" if {_condition(facts, names)} else None"
            yield safe(facts, "HVD718", names, call, MESSAGE, edits.wrap, names.source, call, "", text)
        else:
            advice = (
                f"put the writing under `if {_condition(facts, names)}:`, the code that all ranks have to "
                "run outside it"
            )
            yield manual(
                "HVD718", names, call, f"every rank would write the file of this {saved.what}", advice
            )
    # HVD724 lets one process of each host do these, with what they delete.
    fetched = {whole(facts, names, call) for names, call in downloads(facts)}
    for deleted in deletions(facts):
        names = deleted.names
        if _by_all(facts, deleted) and fetched.isdisjoint(names.ancestors(deleted.node)):
            does = "delete" if deleted.what in DELETED else "move"
            message = f"every rank would {does} this: a file that one rank has {does}d is missing on the next, or has been written again"
            advice = (
                f"put it under `if {_condition(facts, names)}:`, and `{meeting(facts, names)}` after it "
                "where the others write or read there"
            )
            yield manual("HVD718", names, deleted.node, message, advice)
    for saved in summaries(facts):
        names = saved.names
        if _by_all(facts, saved):
            message = "rank 0 writes the summaries; the other ranks' writer does nothing"
            yield safe(facts, "HVD718", names, saved.node, message, _summary, facts, saved)


def _by_all(facts: Facts, saved: Saved) -> bool:
    """Whether every rank of a migrated program would do it, to one and the same file."""
    names = saved.names
    return (
        names in migrating_files(facts)
        and saved.where is Where.ALL
        and not rank_kinds(facts).inside(names, saved.node)
    )


def _condition(facts: Facts, names: Names) -> str:
    """What holds on rank 0; in a file that other programs import, too, also where nobody starts Horovod."""
    hvd = horovod_name(facts, names)
    alone = "" if only_started(facts, names) else f"not {hvd}.is_initialized() or "
    return f"{alone}{hvd}.rank() == 0"


def _plain(facts: Facts, found: Iterable[Saved]) -> dict[Names, dict[ast.Call, ast.stmt]]:
    """Calls that are statements of their own, and what to guard: the `with open(...)` that makes their file, too."""
    opened = {writer.node: writer.opened for writer in writers(facts) if writer.opened is not None}
    plain: dict[Names, dict[ast.Call, ast.stmt]] = {}
    for saved in found:
        statement = saved.names.statement(saved.node)
        only = isinstance(statement, ast.Expr) and statement.value is saved.node
        if only and not needed_everywhere(facts, saved.names, saved.node):
            plain.setdefault(saved.names, {})[saved.node] = statement
    for calls in plain.values():
        alone = set(calls.values())
        for call in [call for call in calls if call in opened]:
            if alone.issuperset(opened[call].body):
                calls[call] = opened[call]
            else:
                del calls[call]
    return plain


def _only_told(facts: Facts, saved: Saved) -> bool:
    """Whether the path that a save gives is put in a variable that is only printed."""
    names, call = saved.names, saved.node
    parent = names.parents[call]
    if (
        not isinstance(parent, ast.Assign)
        or len(parent.targets) != 1
        or needed_everywhere(facts, names, call)
    ):
        return False
    target = parent.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses = [use for use in names.uses.get(target.id, ()) if isinstance(use.ctx, ast.Load)]
    return all(_is_printed(names, use) for use in uses)


def _is_printed(names: Names, use: ast.Name) -> bool:
    statement = names.statement(use)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in (
        "print",
        "info",
    )


def _summary(facts: Facts, saved: Saved) -> list[Edit]:
    names = saved.names
    other = f"{tf(names)}.summary.create_noop_writer()"
    parent = names.parents[saved.node]
    before, after = "", f" if {_condition(facts, names)} else {other}"
    if isinstance(parent, ast.Attribute):  # create_file_writer(...).as_default()
        before, after = "(", f"{after})"
    return edits.wrap(names.source, saved.node, before, after)


RULE = Rule(
    id="HVD718",
    title="TensorFlow files are written by rank 0",
    what=(
        "Puts model.save, save_weights, export, tf.saved_model.save, Checkpoint and CheckpointManager "
        "saves, plots, images (PIL, imageio, OpenCV, scikit-image) and numpy saves under `if hvd.rank() == "
        "0:`, with the `with open(...)` around them, and gives other ranks a summary writer that does "
        "nothing. In a file that other programs import, the test also holds where Horovod was not started. "
        "Files and folders that are deleted or moved are reported."
    ),
    why="N processes that write the same file at once corrupt it.",
    safety=(
        "Safe: the weights are the same on all ranks. A call whose arguments run the script's own "
        "functions, or whose result is used, is left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data)
            model.save("m.keras")
            model.save_weights("w.h5")
            print("done")
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data)
            if hvd.rank() == 0:
                model.save("m.keras")
                model.save_weights("w.h5")
            print("done")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data)
            if hvd.rank() == 0:
                model.save("m.keras")
            """,
            reason="it is guarded already",
        ),
    ),
)
