"""HVD104: tests whether a launcher started the process become hvd.size() > 1, or hold where they have to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.ranks import LaunchTest, launch_tests
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        hvd = horovod_name(facts, names)
        found = list(launch_tests(names))
        tested = {test.node for test in found}
        for test in found:
            text = f"{hvd}.size() {'==' if test.negated else '>'} 1"
            if _has_to_hold(names, test, tested):
                text = f"{'not ' if test.negated else ''}{hvd}.is_initialized()"
            message = (
                f"horovodrun does not set {test.variable}, so this would look as if nothing launched it: "
                f"{text}"
            )
            yield safe(facts, "HVD104", names, test.node, message, _edit, names, test.node, text)
    for site in facts.calls("torch.distributed.is_torchelastic_launched"):
        text = f"{horovod_name(facts, site.names)}.size() > 1"
        message = f"torchrun no longer starts the job: {text}"
        yield safe(facts, "HVD104", site.names, site.node, message, _edit, site.names, site.node, text)


def _has_to_hold(names: Names, test: LaunchTest, tested: set[ast.expr]) -> bool:
    """Whether the program ends where nothing launched it: under a launcher it trains in a single process, too."""
    parent = names.parents[test.node]
    if isinstance(parent, ast.Assert):
        return parent.test is test.node and not test.negated
    if not isinstance(parent, ast.If) or parent.test is not test.node:
        return False
    other = parent.body if test.negated else parent.orelse
    while len(other) == 1 and isinstance(other[0], ast.If) and other[0].test in tested and not test.negated:
        other = other[0].orelse
    last = other[-1] if other else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return bool({"sys.exit", "os._exit"}.intersection(names.qualified(last.value.func)))
    return isinstance(last, ast.Raise)


def _edit(names: Names, node: ast.expr, text: str) -> Edit:
    parent = names.parents[node]
    tight = isinstance(parent, (ast.UnaryOp, ast.Compare, ast.BinOp))
    return edits.replace(names.source, node, f"({text})" if tight else text)


RULE = Rule(
    id="HVD104",
    title="tests for a launcher ask Horovod",
    what=(
        'Replaces `"RANK" in os.environ`, `int(os.environ.get("RANK", -1)) != -1`, `os.environ.get("RANK") is not '
        "None` and their Slurm and MPI equivalents by hvd.size() > 1; by hvd.is_initialized() where the "
        "program ends unless they hold."
    ),
    why=(
        "They are false under horovodrun, and the script would take its single-process path in every "
        "process: N copies that train independently and overwrite each other's files, without any error."
    ),
    safety="Safe: true in a job of several processes, false in a single process, as before.",
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch.distributed as dist

            def init_distributed_mode(args):
                if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
                    args.gpu = 0
                elif "SLURM_PROCID" in os.environ:
                    args.gpu = 1
                else:
                    print("Not using distributed mode")
                    args.distributed = False
                    return
                dist.init_process_group("nccl")
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def init_distributed_mode(args):
                if hvd.size() > 1:
                    args.gpu = 0
                elif hvd.size() > 1:
                    args.gpu = 1
                else:
                    print("Not using distributed mode")
                    args.distributed = False
                    return
                dist.init_process_group("nccl")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch.distributed as dist

            ready = all(key in os.environ for key in ("RANK", "DATA"))
            dist.init_process_group("nccl")
            """,
            reason="one of them is not a launcher's",
        ),
    ),
)
