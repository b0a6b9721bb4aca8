"""HVD701: a TensorFlow program gets hvd.init() and, per process, the GPU of its local rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, required, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.vocabulary import KINDS
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import keras_versions, target_of
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.starting import at_start
from hvdkit.migrate.rewrites.tensorflow import tf
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

VISIBLE = ("tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices")

UNKNOWN = (
    "for TensorFlow 2.15 and earlier; under Keras 3 (TensorFlow 2.16 and later) plain Horovod's optimizer "
    "silently averages nothing and its tape fails: there, run `hvdkit migrate --target hvdkit`, which serves "
    "Keras 2 and 3"
)


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs_of(facts):
        if program.kind not in KINDS:
            continue
        chosen = next(_chosen(facts, program), None)
        names = program.entry
        if chosen is not None:
            where, node = chosen
            advice = f"remove it: {horovod_name(facts, names)}.local_rank() chooses the GPU of each process"
            message, statement = "every process would work on the same GPU", where.statement(node)
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                yield safe(facts, "HVD701", where, node, message, edits.delete, where, statement)
            else:
                yield manual("HVD701", where, node, message, advice)
        message = "Horovod starts first, and each process uses the GPU of its local rank"
        first = names.source.tree.body[0]
        finding = required(facts, "HVD701", names, first, message, _edit, facts, program)
        yield finding.knowing(_of_keras(facts, names))


def _of_keras(facts: Facts, names: Names) -> str:
    """What the Keras version means for the form that is written; "" where both are as asked for."""
    version, target = keras_versions(facts)[names], target_of(facts, names)
    if version.number == 0 and target == "horovod":
        return UNKNOWN
    if target != facts.options.target:
        return f"{version.said}, where plain Horovod averages nothing: hvdkit's form is written, which does"
    return ""


def _chosen(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.AST]]:
    """Where a program picks GPUs itself."""
    for site in facts.calls(*VISIBLE):
        if site.names in program.files and not rank_kinds(facts).inside(site.names, site.node, "local_rank"):
            yield site.names, site.node
    for names in program.files:
        for target, _ in names.stores.get("['CUDA_VISIBLE_DEVICES']", ()):
            if "os.environ" in names.qualified(target):
                yield names, target


def _edit(facts: Facts, program: ProgramFacts) -> Edit:
    names = program.entry
    hvd, tensorflow = horovod_name(facts, names), tf(names)
    lines = [f"{hvd}.init()"]
    if target_of(facts, names) == "horovod":
        taken = any("gpus" in scope.names for scope in names.scopes.values())
        gpus = "local_gpus" if taken else "gpus"
        lines += [
            f'{gpus} = {tensorflow}.config.list_physical_devices("GPU")',
            f"for gpu in {gpus}:",
            f"\t{tensorflow}.config.experimental.set_memory_growth(gpu, True)",
            f"if {gpus}:",
            f'\t{tensorflow}.config.set_visible_devices({gpus}[{hvd}.local_rank()], "GPU")',
        ]
    if not names.source.tree.body:
        raise edits.CannotEdit("the file is empty")
    return at_start(names, lines)


RULE = Rule(
    id="HVD701",
    title="a TensorFlow program starts Horovod",
    what=(
        "Adds hvd.init() at the program's start, and gives each process the GPU of its local rank, with "
        "memory growth enabled."
    ),
    why=(
        "TensorFlow allocates the whole memory of every GPU that it sees: two processes on one host would "
        "exhaust it. This must be set before the first operation."
    ),
    safety="Safe: in one process it changes only how GPU memory is allocated.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            def main():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(loss="mse")
                model.fit(x, y)

            if __name__ == "__main__":
                main()
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            def main():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(loss="mse")
                model.fit(x, y)

            if __name__ == "__main__":
                hvd.init()
                gpus = tf.config.list_physical_devices("GPU")
                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)
                if gpus:
                    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
                main()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.models.load_model("model.h5")
            print(model.predict(x))
            """,
            reason="nothing is trained",
        ),
    ),
)
