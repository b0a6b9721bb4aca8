"""HVD851: all ranks of a node use its first GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called, mentioned, programs
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit

# Any of these words may choose a device in a way that is not looked for here.
CHOOSES = (
    "set_device",
    "CUDA_VISIBLE_DEVICES",
    "local_rank",
    "LOCAL_RANK",
    "device_count",
    "torch.cuda.device(",
)


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in programs(facts):
        if mentioned(program, *CHOOSES) or not _uses_cuda(facts, program) or not _trains(facts, program):
            continue
        for site in called(facts, "init", modules=("horovod.torch",)):  # hvdkit's own chooses it
            if site.names in program.files and site.node not in seen:
                seen.add(site.node)
                message = "no rank chooses its device: all ranks of a node share its first GPU"
                yield safe(facts, "HVD851", site.names, site.node, message, _pin, facts, site)


def _trains(facts: Facts, program: ProgramFacts) -> bool:
    """What only infers may be meant for one process, and start Horovod for the helpers that it imports."""
    return any(step.names in program.files for step in step_calls(facts).steps)


def _uses_cuda(facts: Facts, program: ProgramFacts) -> bool:
    """Whether something is moved to the current device: `.cuda()`, `.to("cuda")`, torch.device("cuda")."""
    for names, call, _ in facts.methods("cuda"):
        if names in program.files and not call.args and not call.keywords:
            return True
    plain = (call for names in program.files for call in (*names.calls["to"], *names.calls["device"]))
    return any(
        isinstance(part, ast.Constant) and part.value == "cuda"
        for call in plain
        for given in call.args[:1]
        for part in ast.walk(given)
    )


def _pin(facts: Facts, site: Site) -> Edit:
    names, statement = site.names, site.names.statement(site.node)
    if "torch" not in names.module.names:
        raise edits.CannotEdit("torch is not imported here")
    lines = [
        "if torch.cuda.is_available():",
        f"\ttorch.cuda.set_device({horovod_name(facts, names)}.local_rank())",
    ]
    return edits.after(names.source, statement, lines)


RULE = Rule(
    id="HVD851",
    title="no rank chooses its device",
    what="All ranks of a node train on its first GPU, and the others are idle: it is slow, or runs out of memory.",
    why='"cuda" is the current device, and that is the first one in every process.',
    safety="Safe: torch.cuda.set_device(hvd.local_rank()) right below hvd.init().",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2).cuda()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            if torch.cuda.is_available():
                torch.cuda.set_device(hvd.local_rank())
            model = torch.nn.Linear(2, 2).cuda()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            device = torch.device("cuda", hvd.local_rank())
            model = torch.nn.Linear(2, 2).to(device)
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the device is numbered",
        ),
    ),
)
