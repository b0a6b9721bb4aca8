"""HVD102: RANK, WORLD_SIZE, SLURM_PROCID and the like come from Horovod, not from the environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.environment import DEFAULTS, ENVIRONMENT, gathered
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.ranks import RankRead, environment_reads, environment_stores, gathered_reads
from hvdkit.migrate.facts.launch.which_processes import caught
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

ONE_HOST = (
    "init_process_group uses this number as the rank, which holds on one host. For several hosts, write "
    "hvd.rank() where it distinguishes seeds, data, files or writers"
)
DEVICES = "CUDA_VISIBLE_DEVICES"
# Where a conditional expression may stand without parentheses around it.
ROOMY = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.keyword, ast.NamedExpr)


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        for read in environment_reads(names):
            if (chosen := _chosen_before(facts, read)) is not None:
                where, statement = chosen
                message = (
                    f"{read.source} is read in a try block, and without that launcher the devices stay as "
                    "chosen"
                )
                advice = (
                    f"remove it if {where.place(statement)} is to choose the device, else write "
                    f"str({horovod_name(facts, names)}.local_rank())"
                )
                yield manual("HVD102", names, read.node, message, advice)
                continue
            text = replacement(facts, read)
            message = f"{read.source} is not set by horovodrun, or set to something else; the value is {text}"
            one_host = read.function == "local_rank" and launch_of(facts).meanings.get(read.node) == "rank"
            if read.loop is not None:
                found = safe(facts, "HVD102", names, read.loop, message, _whole, names, read, read.loop, text)
            else:
                found = safe(facts, "HVD102", names, read.node, message, _edit, names, read.node, text)
            yield found.knowing(ONE_HOST if one_host else "")
        yield from _gathered(facts, names)


def _chosen_before(facts: Facts, read: RankRead) -> tuple[Names, ast.stmt] | None:
    """Where the project chooses a process's devices itself, if this read does so only under its launcher.

    `try: os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]`: Horovod always has a local rank.
    """
    names, statement = read.names, read.names.statement(read.node)
    chosen = {stored for stored, _ in environment_stores(names, DEVICES)}
    if statement not in chosen or read.default is not None or not caught(names, statement):
        return None
    # What starts a training script may import it by its name in a text: any distributed file may come first.
    files = [where for where in facts.files if "ddp" in kinds_of(facts, where)]
    others = ((where, other) for where in files for other, _ in environment_stores(where, DEVICES))
    return min(
        ((where, other) for where, other in others if other is not statement and not caught(where, other)),
        key=lambda place: (str(place[0].source.path), place[1].lineno),
        default=None,
    )


def _gathered(facts: Facts, names: Names) -> Iterator[Finding]:
    for node in gathered_reads(names):
        message = "launcher variables are collected in a loop, and horovodrun sets none of them"
        if variables := gathered(names, node):
            yield safe(facts, "HVD102", names, node, message, _one_by_one, facts, names, node, variables)
        else:
            advice = "build it from hvd.rank(), hvd.size(), hvd.local_rank() and hvd.local_size() instead"
            yield manual("HVD102", names, node, message, advice)


def _one_by_one(facts: Facts, names: Names, node: ast.DictComp, variables: list[ast.Constant]) -> Edit:
    """The same mapping written out, with Horovod's numbers as the texts that the environment holds."""
    source = names.source
    assert isinstance(node.value, ast.Subscript)
    environment = source.segment(node.value.value)
    lines = ["{"]
    for variable in variables:
        key, name = source.segment(variable), str(variable.value)
        if name in ENVIRONMENT:
            value = f"str({horovod_name(facts, names)}.{ENVIRONMENT[name]}())"
        elif name in DEFAULTS:
            value = f"{environment}.get({key}, {key[-1]}{DEFAULTS[name]}{key[-1]})"
        else:
            value = f"{environment}[{key}]"
        lines.append(f"\t{key}: {value},")
    return edits.replace(source, node, edits.written(source, names.statement(node), [*lines, "}"]).strip())


def replacement(facts: Facts, read: RankRead) -> str:
    """What to write for a read; a default that means "no launcher" is kept for a process on its own."""
    hvd = horovod_name(facts, read.names)
    value = f"{hvd}.{read.function}()"
    text = value if read.number else f"str({value})"
    if read.alone:
        return text
    source = read.names.source
    assert read.default is not None
    default = source.segment(read.default)
    if read.number and isinstance(read.default, ast.Constant) and isinstance(read.default.value, str):
        written = read.default.value.strip()
        default = written if written.lstrip("-").isdecimal() else f"int({default})"
    return f"{text} if {hvd}.size() > 1 else {default}"


def _edit(names: Names, node: ast.expr, text: str) -> Edit:
    parent = names.parents[node]
    roomy = isinstance(parent, ROOMY) or (isinstance(parent, ast.Call) and node in parent.args)
    return edits.replace(names.source, node, text if roomy or " if " not in text else f"({text})")


def _whole(names: Names, read: RankRead, loop: ast.For, text: str) -> list[Edit]:
    """What a loop gives that looks for the first variable that is set; a `return` below it goes with it."""
    taken = names.statement(read.node)
    if isinstance(taken, ast.Return):
        below = edits.following(names, loop)
        assert below is not None
        return [edits.replace(names.source, loop, f"return {text}"), edits.delete(names, below)]
    assert isinstance(taken, ast.Assign)
    return [edits.replace(names.source, loop, f"{names.source.segment(taken.targets[0])} = {text}")]


RULE = Rule(
    id="HVD102",
    title="launcher variables become Horovod's functions",
    what=(
        "Replaces reads of RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK and of their Slurm "
        "and MPI equivalents (SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMI_RANK ...) in os.environ."
    ),
    why=(
        "horovodrun sets none of torchrun's, and inside a Slurm allocation SLURM_PROCID is the batch "
        "script's. A script that reads them with a default becomes N copies of one process without any error."
    ),
    safety=(
        "Safe: the functions return the numbers that the launcher sets in the environment. A default that "
        "says 'not started by a launcher', such as -1, is still what a single process gets."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch.distributed as dist

            dist.init_process_group("gloo")
            local_rank = int(os.environ["LOCAL_RANK"])
            name = "rank" + os.environ.get("RANK", "0")
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            dist.init_process_group("gloo")
            local_rank = hvd.local_rank()
            name = "rank" + str(hvd.rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch

            rank = int(os.environ.get("RANK", 0))
            """,
            reason="the program is not distributed by torch, so the variable may mean anything",
        ),
    ),
)
