"""Calls of a TensorFlow program that write files, and which processes reach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.images import is_image
from hvdkit.migrate.facts.files.writers import Writer, own_file, unguarded_writers
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.keras.model_calls import is_model, keras_models
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.once import once_all
from hvdkit.migrate.values.arguments import given
from hvdkit.source.index.names import Names

# Library functions that write a file -> position and name of the argument that says where.
FUNCTIONS = {
    "tensorflow.saved_model.save": (1, "export_dir"),
    "tensorflow.io.write_file": (0, "filename"),
    "tensorflow.keras.utils.plot_model": (1, "to_file"),
    "keras.models.save_model": (1, "filepath"),
    "keras.saving.save_model": (1, "filepath"),
    "keras.utils.plot_model": (1, "to_file"),
    "keras.utils.save_img": (0, "path"),
    "keras.preprocessing.image.save_img": (0, "path"),
    "matplotlib.pyplot.savefig": (0, "fname"),
    "matplotlib.pyplot.imsave": (0, "fname"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
    "cv2.imwrite": (0, "filename"),
    "cv2.VideoWriter": (0, "filename"),
    "skimage.io.imsave": (0, "fname"),
    **{
        f"imageio{version}.{name}": (0, "uri")
        for version in ("", ".v2", ".v3")
        for name in ("imwrite", "imsave", "mimwrite", "mimsave", "get_writer")
    },
}
# Methods that do -> the classes whose objects have them; models have those of MODEL_METHODS.
METHODS = {
    "save": ("tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager"),
    "write": ("tensorflow.train.Checkpoint",),
    "save_weights": (),
    "export": (),
    "savefig": ("matplotlib.pyplot.figure", "matplotlib.pyplot.gcf", "matplotlib.pyplot.subplots[0]"),
}
MODEL_METHODS = frozenset(("save", "save_weights", "export"))
SUMMARY = "tensorflow.summary.create_file_writer"
# What takes files away -> position and name of the argument that says which.
DELETES = {
    "shutil.rmtree": (0, "path"),
    "os.remove": (0, "path"),
    "os.unlink": (0, "path"),
    "os.rmdir": (0, "path"),
    "tensorflow.io.gfile.rmtree": (0, "path"),
    "tensorflow.io.gfile.remove": (0, "path"),
    "os.rename": (0, "src"),
    "os.replace": (0, "src"),
    "shutil.move": (0, "src"),
    "tensorflow.io.gfile.rename": (0, "src"),
}
DELETED = frozenset(("rmtree", "remove", "unlink", "rmdir"))  # the others move


@dataclass(frozen=True)
class Saved:
    """A call that writes. target: where to, if it says; where: the processes that reach it."""

    names: Names
    node: ast.Call
    what: str
    target: ast.expr | None
    where: Where


@once_all
def saves(facts: Facts) -> Iterator[Saved]:
    """Every call that writes a file in programs to rewrite, and in those that Horovod runs already."""
    for saved in (*_by_functions(facts), *_by_methods(facts)):
        if saved.target is None or not own_file(facts, saved.names, saved.target):
            yield saved


@once_all
def _by_functions(facts: Facts) -> Iterator[Saved]:
    for site in facts.calls(*FUNCTIONS):
        position, parameter = FUNCTIONS[site.name]
        target = given(site.node, position, parameter)
        where = where_runs(facts, site.names, site.node)
        yield Saved(site.names, site.node, site.name.rpartition(".")[2], target, where)


@once_all
def _by_methods(facts: Facts) -> Iterator[Saved]:
    for method, classes in METHODS.items():
        for names, call, receiver in facts.methods(method):
            if names not in tensorflow_files(facts):
                continue
            values = facts.flow.values(names, receiver)
            model = method in MODEL_METHODS and any(
                is_model(facts, v) or v in keras_models(facts) for v in values
            )
            image = method == "save" and any(is_image(facts, value) for value in values)
            if model or image or any(value.name in classes for value in values):
                target = given(call, 0, "filepath")
                yield Saved(names, call, method, target, where_runs(facts, names, call))


@once_all
def other_writers(facts: Facts) -> Iterator[Writer]:
    """What every rank would write besides, by open() or a library; not what a service or a logger keeps."""
    known = {saved.node for saved in (*_by_functions(facts), *_by_methods(facts))}
    for writer in unguarded_writers(facts):
        if writer.node not in known and not writer.log and not _holds(writer, known):
            yield writer


def _holds(writer: Writer, known: set[ast.Call]) -> bool:
    """Whether a file is opened for calls that are known to write."""
    around = writer.names.statement(writer.node)
    return any(node in known for node in ast.walk(around))


@once_all
def summaries(facts: Facts) -> Iterator[Saved]:
    """Every writer of summaries."""
    for site in facts.calls(SUMMARY):
        folder = given(site.node, 0, "logdir")
        if folder is not None:
            where = where_runs(facts, site.names, site.node)
            yield Saved(site.names, site.node, "create_file_writer", folder, where)


def deletions(facts: Facts) -> Iterator[Saved]:
    """Every call that deletes or moves files, but those that each process made for itself."""
    for site in facts.calls(*DELETES):
        gone = given(site.node, *DELETES[site.name])
        made = facts.flow.values(site.names, gone) if gone is not None else ()
        if not any((value.name or "").startswith("tempfile.") for value in made):
            where = where_runs(facts, site.names, site.node)
            yield Saved(site.names, site.node, site.name.rpartition(".")[2], gone, where)
