"""HVD009: what has no counterpart in torch.distributed, and imports of Horovod that would stay."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, safe
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.horovod_names import TOPS, horovod_names
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.always_there import always_there, falls_back_alone
from hvdkit.migrate.rewrites.ddp_names import CALLS, FUNCTIONS, NAMES, OTHERS
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

KNOWN = frozenset((*CALLS, *FUNCTIONS, *OTHERS))
# What starts a function in Horovod's ranks, beside Horovod's own.
RUNNERS = ("sparkdl.HorovodRunner", "ray.train.horovod.HorovodTrainer")
BY_TORCHRUN = "start this script by torchrun --nproc-per-node N"
# By the beginning of a name. What is not here has no advice but this.
NONE = "torch.distributed has nothing like it: remove it, or keep Horovod"
ADVICE = {
    "elastic": "start it by torchrun --max-restarts N, and load the last checkpoint at the start of main()",
    "join": "end every rank after the same number of batches, or use torch.distributed.algorithms.join.Join",
    "SyncBatchNorm": "use torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) before it is wrapped",
    "Adasum": "use hvd.Average, with the learning rate for it",
}


def check(facts: Facts) -> Iterator[Finding]:
    yield from _calls(facts)
    for names, node, name in horovod_names(facts):
        if name not in NAMES and not _in_call(facts, names, node):
            yield _refused(names, node, name)
    for names in facts.files:
        yield from _imports(facts, names)
    for program in programs_of(facts):
        if program.kind == "tf-horovod":
            message = "the program trains with TensorFlow, and DDP is PyTorch's"
            advice = "tf.distribute.MultiWorkerMirroredStrategy is TensorFlow's own"
            yield refused("HVD009", program.entry, program.entry.source.tree, message, advice)


def _calls(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*RUNNERS):
        message = f"{site.name} starts the ranks with Horovod"
        yield refused("HVD009", site.names, site.node, message, "start the script by torchrun")
    for site in facts.calls(*(f"{module}." for module in words.HOROVOD), "horovod."):
        module = next((m for m in words.HOROVOD if site.name.startswith(f"{m}.")), "horovod")
        name = site.name[len(module) + 1 :]
        if name.startswith(("tensorflow", "keras")):
            continue  # the program's kind refuses it
        statement = site.names.statement(site.node)
        if site.name == "horovod.run" and isinstance(site.names.parents[statement], ast.If):
            yield from _no_runner(facts, site.names, statement)
            continue
        own = module.startswith("hvdkit") and name == "broadcast"
        given = site.node.args or site.node.keywords
        if name not in KNOWN or own or (name in CALLS and given):
            yield _refused(site.names, site.node, name)


def _no_runner(facts: Facts, names: Names, statement: ast.stmt) -> Iterator[Finding]:
    """horovod.run() where an option asks for it: the script stops there."""
    message = "the script stops where it starts ranks itself"
    stop = f'raise SystemExit("{BY_TORCHRUN}")'
    yield safe(facts, "HVD009", names, statement, message, edits.replace, names.source, statement, stop)
    yield manual("HVD009", names, statement, message, "remove the option: torchrun starts the ranks")


def _refused(names: Names, node: ast.AST, name: str) -> Finding:
    advice = next((said for start, said in ADVICE.items() if name.startswith(start)), NONE)
    return refused("HVD009", names, node, f"{name} of Horovod has no counterpart in DDP", advice)


def _in_call(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a name is an argument of a call of Horovod, which the rule of that call reads."""
    modules = tuple(f"{module}." for module in words.HOROVOD)
    return any(
        isinstance(parent, ast.Call)
        and any(name.startswith(modules) for name in facts.flow.qualified(names, parent.func))
        for parent in names.ancestors(node)
    )


def _imports(facts: Facts, names: Names) -> Iterator[Finding]:
    """Imports that no use of their names takes away: in a function, in a `try`, and of what is not used."""
    for name, binding in names.imports:
        statement = names.parents.get(binding.node)
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if binding.qualified.partition(".")[0] == "mpi4py" and any(_horovod(names)):
            message = "mpi4py sends between the ranks, and under torchrun each process is alone in MPI"
            yield refused("HVD009", names, statement, message, "use torch.distributed for it")
        if binding.qualified.partition(".")[0] == "horovod" and not names.uses.get(name):
            message = "nothing uses this import"
            if len(statement.names) == 1:
                yield safe(facts, "HVD009", names, statement, message, edits.delete, names, statement)
            continue
        if not binding.qualified.startswith(words.HOROVOD):
            continue
        missing = len(names.module.names.get(name, ())) != 1  # `except ImportError: hvd = None`
        around = names.parents[statement]
        if isinstance(around, ast.Try) and missing:
            yield _may_be_missing(facts, names, around, statement, name)
        elif not isinstance(names.parents[statement], ast.Module) and len(statement.names) == 1:
            message = "Horovod is not used any more"
            yield safe(facts, "HVD009", names, statement, message, edits.delete, names, statement)


def _may_be_missing(facts: Facts, names: Names, around: ast.Try, statement: ast.stmt, name: str) -> Finding:
    """An import in a `try:`: torch.distributed is always there, so that what handles its absence goes."""
    if falls_back_alone(names, around, name, words.HOROVOD):
        message = "torch.distributed is always there: what is used without Horovod goes"
        return safe(facts, "HVD009", names, statement, message, always_there, names, around, statement)
    message = (
        f"{words.HOROVOD[0]} is imported where it may be missing, and what is used then could not be followed"
    )
    return refused("HVD009", names, statement, message, "import it above all else, and always use it")


def _horovod(names: Names) -> Iterator[str]:
    return (name for top in TOPS for name in names.imported(top))


RULE = Rule(
    id="HVD009",
    title="What DDP has no counterpart for",
    what="Refuses a program that uses elastic training, process sets, Adasum, hvd.join() "
    "or mpi4py, one of TensorFlow, and one that imports Horovod only where it is installed.",
    why="torch.distributed has no such function, or one that means something else.",
    safety="Nothing is rewritten: the program is left as it is. Only an import in a function is removed, and one "
    "that may fail with what is used instead of Horovod then.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.join()
            """,
            reason="ranks with fewer batches take part in the collectives of the others",
            reported=True,
        ),
    ),
)
