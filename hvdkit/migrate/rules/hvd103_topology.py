"""HVD103: get_rank, get_world_size, barrier and the like become Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.code.ends import ends_program
from hvdkit.migrate.facts.collectives.collectives import is_world
from hvdkit.migrate.facts.launch.device_numbers import ranks_for_devices
from hvdkit.migrate.facts.launch.jobs_only import in_jobs_only
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.library_groups import decides_group
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

DESTROY = "torch.distributed.destroy_process_group"
STARTED = "torch.distributed.is_initialized"
LONE = (
    "the process group was made for several ranks only, and Horovod is initialized in a single process, "
    "too: ask hvd.size() > 1 where this chooses a device or SyncBatchNorm"
)
FUNCTIONS = {
    "torch.distributed.get_rank": "rank()",
    "torch.distributed.get_world_size": "size()",
    "torch.distributed.get_node_local_rank": "local_rank()",
    "torch.distributed.is_initialized": "is_initialized()",
    "torch.distributed.barrier": "barrier()",
    DESTROY: "shutdown()",
    "torch.distributed.is_nccl_available": "nccl_built() > 0",
    "torch.distributed.is_gloo_available": "gloo_built()",
    "torch.distributed.is_mpi_available": "mpi_built()",
}
# Arguments without a meaning for Horovod, by the function's name; a group of all ranks is none.
IGNORED = {
    "torch.distributed.barrier": {"device_ids"},
    "torch.distributed.get_node_local_rank": {"fallback_rank"},
}
BACKEND = "torch.distributed.get_backend"


def check(facts: Facts) -> Iterator[Finding]:
    devices = ranks_for_devices(facts)
    for site in facts.calls(*FUNCTIONS, BACKEND):
        names, call = site.names, site.node
        hvd = horovod_name(facts, names)
        short = site.name.rpartition(".")[2]
        if site.name == STARTED and decides_group(facts, names, call):
            continue
        if _about_a_group(facts, site):
            message = f"{short} is asked about a group of ranks"
            advice = (
                "make the group a process set (hvd.add_process_set) and ask it: process_set.rank(), .size()"
            )
            yield manual("HVD103", names, call, message, advice)
            continue
        statement = names.statement(call)
        if site.name == DESTROY and isinstance(statement, ast.Expr) and _goes_on(facts, names, statement):
            message = "Horovod shuts down when the process exits: code below this may still call it"
            yield safe(facts, "HVD103", names, call, message, edits.delete, names, statement)
            continue
        if site.name == BACKEND:
            quote = _quote(names, call)
            text = f"({quote}nccl{quote} if {hvd}.nccl_built() else {quote}gloo{quote})"
        elif call in devices:
            text = f"{hvd}.local_rank()"
        else:
            text = f"{hvd}.{FUNCTIONS[site.name]}"
        if (
            " " in text
            and not text.startswith("(")
            and not isinstance(names.parents[call], (ast.If, ast.Assign))
        ):
            text = f"({text})"
        message = f"{short} becomes {text}"
        found = safe(facts, "HVD103", names, call, message, edits.replace, names.source, call, text)
        kept = site.name == STARTED and isinstance(statement, ast.Assign) and _starts_for_several(facts)
        yield found.knowing(LONE if kept else "")


def _goes_on(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether anything of the program runs after a statement: another worker, or what stands below it."""
    return launch_of(facts).several_workers(names) or not ends_program(facts, names, statement)


@once
def _starts_for_several(facts: Facts) -> bool:
    """Whether every process group is made only where there are several ranks."""
    sites = facts.calls(words.INIT)
    return bool(sites) and all(in_jobs_only(facts, site.names, site.node) for site in sites)


def _quote(names: Names, node: ast.AST) -> str:
    """The quote for a text at a node: inside an f-string not the string's own."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.JoinedStr):
            return "'" if '"' in names.source.segment(parent)[:4] else '"'
    return '"'


def _about_a_group(facts: Facts, site: Site) -> bool:
    """Whether a call asks about anything but the world of all ranks."""
    ignored = IGNORED.get(site.name, set())
    given = [*site.node.args, *(item.value for item in site.node.keywords if item.arg not in ignored)]
    if site.name == "torch.distributed.get_node_local_rank":
        given = []
    return not all(is_world(facts, site.names, value) for value in given)


RULE = Rule(
    id="HVD103",
    title="rank, size and barrier become Horovod's",
    what=(
        "Replaces get_rank, get_world_size, get_node_local_rank, is_initialized, barrier, "
        "destroy_process_group, get_backend and the is_..._available questions about backends."
    ),
    why="There is no longer a process group: torch would raise that it has not been initialized.",
    safety="Safe: same numbers, same meaning. A call about a group of ranks is left to you.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            if dist.is_initialized() and dist.get_rank() == 0:
                print(dist.get_world_size())
            dist.barrier(device_ids=[0])
            dist.destroy_process_group()
            """,
            """\
            import horovod.torch as hvd

            if hvd.is_initialized() and hvd.rank() == 0:
                print(hvd.size())
            hvd.barrier()
            hvd.shutdown()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            import torchmetrics
            from torch.nn.parallel import DistributedDataParallel as DDP

            def start():
                dist.init_process_group("nccl")

            if not dist.is_initialized():
                start()
            model = DDP(torch.nn.Linear(2, 1))
            mean = torchmetrics.MeanMetric()
            model(x).sum().backward()
            """,
            reason="the group that torchmetrics asks for is created later, when Horovod is initialized",
        ),
    ),
)
