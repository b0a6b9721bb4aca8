"""HVD512: what the ranks say to each other through mpi4py's COMM_WORLD, Horovod says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.device_numbers import ranks_for_devices
from hvdkit.migrate.facts.launch.mpi import LIBRARY, REDUCTIONS, Handed, Talk, mpi, translated
from hvdkit.migrate.facts.launch.readers import only_root_reads
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.collectives import Part, same_again

ALONE = (
    "only rank 0 gets here from {place}, and all ranks have to: mpi4py blocks forever there, too, where the "
    "message is large, and otherwise the other ranks mistake it for the next one"
)
ALLGATHER = ("gather", "allgather", "allreduce")


def check(facts: Facts) -> Iterator[Finding]:
    found = mpi(facts)
    devices = ranks_for_devices(facts)
    for talk in found.talks:
        if translated(facts, talk.names):
            does = "local_rank" if talk.node in devices else talk.does
            message = f"{talk.does} of mpi4py's COMM_WORLD becomes {_verb(does)}"
            found_here = required(facts, "HVD512", talk.names, talk.node, message, _said, facts, talk, does)
            yield found_here.knowing(_by_rank_0_alone(facts, talk))
    for handed in found.handed:
        if translated(facts, handed.names):
            message = "COMM_WORLD, all ranks, becomes Horovod's set of all processes"
            yield required(facts, "HVD512", handed.names, handed.node, message, _handed, facts, handed)
    for names in facts.files:
        if translated(facts, names):
            for statement in _inner_imports(names):
                message = "mpi4py is no longer used here"
                yield safe(facts, "HVD512", names, statement, message, edits.delete, names, statement)


def _by_rank_0_alone(facts: Facts, talk: Talk) -> str:
    """What to know of a transfer that only rank 0 comes to from some place: the others do not take part."""
    function = talk.names.function(talk.node)
    if talk.does in ("rank", "size") or function is None:
        return ""
    for names, call in facts.flow.call_sites(talk.names, function):
        if where_runs(facts, names, call) is Where.RANK_0:
            return ALONE.format(place=names.place(call))
    return ""


def _verb(does: str) -> str:
    """Horovod's function."""
    return "broadcast_object" if does == "bcast" else "allgather_object" if does in ALLGATHER else does


def _said(facts: Facts, talk: Talk, does: str) -> list[Edit]:
    names, source, hvd = talk.names, talk.names.source, horovod_name(facts, talk.names)
    root = talk.given.get("root")
    if does == "bcast":
        # Named, since Horovod takes the object's type for a name, and only the root knows the object.
        sent: list[Part] = [f"{hvd}.broadcast_object(", talk.given["obj"], ", root_rank=", root or "0"]
        return edits.recast(source, talk.node, [*sent, ', name="bcast")'])
    if does not in ALLGATHER:
        return [edits.replace(source, talk.node, f"{hvd}.{does}()")]
    gathered: list[Part] = [f"{hvd}.allgather_object(", talk.given["sendobj"], f', name="{does}")']
    if does == "allreduce":
        operation = talk.given.get("op")
        function = "sum" if operation is None else REDUCTIONS[names.qualified(operation)[0]]
        gathered = [f"{function}(", *gathered, ")"]
    nowhere_else = _left_out(facts, talk) if does == "gather" else []
    return [*edits.recast(source, talk.node, gathered), *nowhere_else]


def _left_out(facts: Facts, talk: Talk) -> list[Edit]:
    """`xs = None` on the ranks to which gather gives nothing, unless only the root looks at it."""
    names, statement = talk.names, talk.names.statement(talk.node)
    root = talk.given.get("root")
    if isinstance(statement, ast.Expr) and statement.value is talk.node:
        return []
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    plain = isinstance(statement, ast.Assign) and statement.value is talk.node and len(statement.targets) == 1
    if target is None or not plain or not same_again(target) or not (root is None or _is_number(root)):
        raise edits.CannotEdit("only the root gets what mpi4py gathers, and it is not put into one variable")
    if (root is None or root.value == 0) and only_root_reads(facts, names, target):  # type: ignore[attr-defined]
        return []
    lines = [
        f"if {horovod_name(facts, names)}.rank() != {names.source.segment(root) if root else 0}:",
        f"\t{names.source.segment(target)} = None",
    ]
    return [edits.after(names.source, statement, lines)]


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _handed(facts: Facts, handed: Handed) -> Edit:
    if handed.assigned is not None:
        return edits.delete(handed.names, handed.assigned)
    return edits.replace(
        handed.names.source, handed.node, f"{horovod_name(facts, handed.names)}.global_process_set"
    )


def _inner_imports(names: Names) -> Iterator[ast.stmt]:
    """Imports of mpi4py alone in a function or a `try`; the module's own go as all that nothing uses."""
    for _, binding in names.imports:
        statement = names.statement(binding.node)
        if (
            binding.qualified.partition(".")[0] == LIBRARY
            and names.parents[statement] is not names.source.tree
        ):
            if len(getattr(statement, "names", ())) == 1:
                yield statement


RULE = Rule(
    id="HVD512",
    title="mpi4py's COMM_WORLD becomes Horovod",
    what=(
        "In torch.distributed programs: replaces the calls of mpi4py's MPI.COMM_WORLD by Horovod's, through "
        "whichever variable, attribute, parameter or result it passes: its rank and size, barrier, bcast, "
        "gather and allgather of objects, and allreduce of numbers by SUM, MAX or MIN. Where it is only "
        "passed on or tested, it becomes hvd.global_process_set. The import is removed with its last use. "
        "HVD904 refuses the other programs with mpi4py as they are: one use without a counterpart leaves "
        "all others in the program."
    ),
    why=(
        "mpi4py knows the ranks only where mpirun started them. Under horovodrun with Gloo it sees each "
        "process alone, as rank 0 of 1."
    ),
    safety=(
        "Safe: the same objects to the same ranks, in the order in which mpi4py matches its calls, since "
        "all transfers of one kind share a name. The root of bcast gets its own object back, where mpi4py "
        "returns a copy. gather returns its list on all ranks, so it is set to None on the others where "
        "they may read it. A sum of floats adds in rank order; MPI guarantees no order."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os

            import torch.distributed as dist
            from mpi4py import MPI

            def setup():
                comm = MPI.COMM_WORLD
                os.environ["WORLD_SIZE"] = str(comm.size)
                os.environ["RANK"] = str(comm.Get_rank())
                port = comm.bcast(free_port(), root=0)
                dist.init_process_group("gloo")
                comm.Barrier()
            """,
            """\
            import os

            import horovod.torch as hvd
            import torch.distributed as dist

            def setup():
                os.environ["WORLD_SIZE"] = str(hvd.size())
                os.environ["RANK"] = str(hvd.rank())
                port = hvd.broadcast_object(free_port(), root_rank=0, name="bcast")
                dist.init_process_group("gloo")
                hvd.barrier()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from mpi4py import MPI

            comm = MPI.COMM_WORLD
            dist.init_process_group("gloo", rank=comm.Get_rank(), world_size=comm.Get_size())
            if comm.rank == 0:
                comm.send([1, 2], dest=1)
            """,
            reason="Horovod has no point-to-point messages: all of it stays, and HVD904 refuses the program",
        ),
    ),
)
