"""HVD111: what decides whether the processes join says yes in each job of several, or is reported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.launch.join_gates import Gate, gate_of
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.launch_reach import launch_reach, tests_around
from hvdkit.migrate.facts.launch.lone_processes import ASKS_FOR_CARDS
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.lookups import calls_by_text
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

# What is the same for all processes, or is asked in order to join only once.
SAME = {"sys.platform", "os.name", "platform.system", "torch.distributed.is_initialized", *ASKS_FOR_CARDS}


def check(facts: Facts) -> Iterator[Finding]:
    code = list(_launch_code(facts))
    launching = {node for _, node in code}
    done: set[ast.AST] = set()
    for names, node in code:
        for test, wanted in tests_around(names, node):
            if test in done or _asks_the_same(names, test) or _both_ways(launching, names, test):
                continue
            if _all_inside(facts, launching, names, test):
                continue
            gate = gate_of(facts, names, test, wanted)
            if launch_reach(facts).holds(names, test) is wanted and (gate is None or not gate.by_option):
                continue
            done.add(test)
            text = " ".join(names.source.segment(test).split())
            message = (
                f"the job is joined only where `{text}` is {wanted}, which cannot be shown for every process"
            )
            advice = (
                f"make sure that `{text}` is {wanted} whenever hvd.size() > 1, or ask hvd.size() > 1 here"
            )
            if gate is not None:
                message += ": in a job of several ranks it is"
                yield safe(facts, "HVD111", names, test, message, _edit, facts, gate)
            else:
                yield manual("HVD111", names, test, message, advice)


def _edit(facts: Facts, gate: Gate) -> Edit:
    hvd, variable = horovod_name(facts, gate.names), gate.variable
    value = f"{variable} or {hvd}.size() > 1" if gate.joins else f"{variable} and {hvd}.size() == 1"
    return edits.before(gate.names.source, gate.statement, [f"{variable} = {value}"])


def _launch_code(facts: Facts) -> Iterator[tuple[Names, ast.AST]]:
    """Calls of init_process_group and mp.spawn, and the calls of functions that hold them."""
    waiting: list[tuple[Names, ast.AST]] = [(site.names, site.node) for site in launch_of(facts).inits]
    seen: set[ast.AST] = set()
    while waiting:
        names, node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield names, node
        function = names.function(node)
        if function is not None:
            waiting += facts.flow.call_sites(names, function)
            importing = [where for where in facts.files if names in facts.project.imports(where)]
            waiting += calls_by_text([names, *importing], names, function)


def _asks_the_same(names: Names, test: ast.expr) -> bool:
    """Whether a test asks about the machine or the group itself, or is the module's main guard."""
    for part in ast.walk(test):
        if isinstance(part, ast.Name) and part.id == "__name__":
            return True
        if isinstance(part, (ast.Name, ast.Attribute)) and set(names.qualified(part)) & SAME:
            return True
    return False


def _both_ways(launching: set[ast.AST], names: Names, test: ast.expr) -> bool:
    """Whether both branches of an `if` launch; what follows one that leaves is its other branch."""
    parent = names.parents[test]
    if not isinstance(parent, ast.If):
        return False
    other = parent.orelse
    if not other and isinstance(parent.body[-1], (ast.Return, ast.Raise)):
        block = edits.block(names, parent)
        other = block[block.index(parent) + 1 :]
    return all(
        any(part in launching for statement in branch for part in ast.walk(statement))
        for branch in (parent.body, other)
    )


def _all_inside(facts: Facts, launching: set[ast.AST], names: Names, test: ast.expr) -> bool:
    """Whether a function trains only in calls that launch first: `if config.train: launch(train)`, and no else."""
    function = names.function(test)
    through = [
        [call for where, call in path.calls if where is names and where.function(call) is function]
        for path in training_loops(facts).paths
    ]
    calls = [here for here in through if here]
    return bool(calls) and all(launching.intersection(here) for here in calls)


RULE = Rule(
    id="HVD111",
    title="every process of a job joins it",
    what=(
        "Lets a variable that decides whether init_process_group is called say yes in each job of several ranks, where "
        "the script trains either way; reports other tests around it that cannot be shown to let every process through."
    ),
    why=(
        "A job whose processes do not join is N copies of the script. Tests of the launcher's variables are "
        "rewritten and then hold; a switch in a configuration file is yours to set."
    ),
    safety=(
        "Safe: the variable is set in the same function, and read only below. A single process keeps the value it had; "
        "a job is never meant to train N separate models. Other tests are not edited: only you know the setting."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            distributed = not args.noddp
            if distributed:
                dist.init_process_group("nccl")
            model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            distributed = not args.noddp
            distributed = distributed or hvd.size() > 1
            if distributed:
                dist.init_process_group("nccl")
            model(x).sum().backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Config(dict):
                def __getattr__(self, name):
                    return self[name]

            def worker(rank, c):
                if c.gpus > 1:
                    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

            def main(gpus):
                c = Config(gpus=gpus)
                mp.spawn(worker, args=(c,), nprocs=c.gpus)
            """,
            reason="the number of spawned processes becomes hvd.size() (HVD108)",
        ),
    ),
)
