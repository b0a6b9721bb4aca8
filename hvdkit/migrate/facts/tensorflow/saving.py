"""Calls of a TensorFlow program that write files, and which processes reach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.facts.guards import Where, where_runs
from hvdkit.migrate.facts.tensorflow.models import is_model
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

# Library functions that write a file.
FUNCTIONS = (
    "tensorflow.saved_model.save",
    "tensorflow.io.write_file",
    "tensorflow.keras.utils.plot_model",
    "keras.models.save_model",
    "keras.saving.save_model",
    "keras.utils.plot_model",
    "keras.utils.save_img",
    "keras.preprocessing.image.save_img",
    "matplotlib.pyplot.savefig",
    "numpy.save",
    "numpy.savez",
    "numpy.savez_compressed",
    "numpy.savetxt",
)
METHODS = {
    "save": ("tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager"),
    "write": ("tensorflow.train.Checkpoint",),
    "save_weights": (),
    "export": (),
}
SUMMARY = "tensorflow.summary.create_file_writer"
DELETES = ("shutil.rmtree", "tensorflow.io.gfile.rmtree")


@dataclass(frozen=True)
class Saved:
    """A call that writes. where: the processes that reach it."""

    names: Names
    node: ast.Call
    what: str
    where: Where


def saves(facts: Facts) -> Iterator[Saved]:
    """Every call that writes a file in programs to rewrite, and in those that Horovod runs already."""
    for site in facts.calls(*FUNCTIONS):
        yield Saved(
            site.names, site.node, site.name.rpartition(".")[2], where_runs(facts, site.names, site.node)
        )
    for method, classes in METHODS.items():
        for names, call, receiver in facts.methods(method):
            if names not in facts.tf.mentioned:
                continue
            values = facts.flow.values(names, receiver)
            model = method != "write" and any(is_model(facts, v) or v in facts.tf.models for v in values)
            if model or any(value.name in classes for value in values):
                yield Saved(names, call, method, where_runs(facts, names, call))


def summaries(facts: Facts) -> Iterator[Saved]:
    """Every writer of summaries."""
    for site in facts.calls(SUMMARY):
        if keyword(site.node, "logdir") is not None or site.node.args:
            yield Saved(site.names, site.node, "create_file_writer", where_runs(facts, site.names, site.node))


def deletions(facts: Facts) -> Iterator[Saved]:
    """Every call that deletes a folder, but one that each process made for itself."""
    for site in facts.calls(*DELETES):
        folder = site.node.args[0] if site.node.args else keyword(site.node, "path")
        made = facts.flow.values(site.names, folder) if isinstance(folder, ast.expr) else ()
        if not any((value.name or "").startswith("tempfile.") for value in made):
            yield Saved(site.names, site.node, "rmtree", where_runs(facts, site.names, site.node))
