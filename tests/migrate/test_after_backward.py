"""DDP said literally: what goes with it, and the exact reason where that is not possible."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, State

PROGRAM = """\
from contextlib import nullcontext

import torch
import torch.distributed as dist
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
net = torch.nn.Linear(2, 1)
model = DistributedDataParallel(net{given})
optimizer = make_optimizer(model)
for i, x in enumerate(batches):
{loop}
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
MIGRATED = """\
    loss = model(x).sum()
    loss.backward()
    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
    for handle in handles:
        hvd.synchronize(handle)
    if (i + 1) % 4 == 0:
"""


def plan_of(folder: Path, loop: str, given: str = "") -> Plan:
    """The plan for a program with this loop and these arguments of DDP."""
    text = PROGRAM.format(loop=indent(dedent(loop), "    ").rstrip(), given=given)
    (folder / "train.py").write_text(text)
    return make_plan([folder], Options())


@pytest.mark.parametrize(
    "loop",
    [
        """
        with model.no_sync() if ready(i) else nullcontext():
            loss = model(x).sum()
            loss.backward()
        """,
        """
        context = model.no_sync if (i + 1) % 4 else nullcontext
        with context():
            loss = model(x).sum()
            loss.backward()
        """,
        """
        model.require_backward_grad_sync = (i + 1) % 4 == 0
        loss = model(x).sum()
        loss.backward()
        """,
    ],
    ids=["no_sync", "held", "switch"],
)
def test_nobody_is_told_any_more_when_to_reduce(loop: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, loop)
    (file,) = plan.files
    assert not file.problem and MIGRATED in file.after
    assert "sync(" not in file.after and "require" not in file.after
    (row,) = (c for c in plan.programs[0].conditions if c.name == "every optimizer averages gradients")
    assert row.state is State.PROVEN


@pytest.mark.parametrize(
    ("choice", "test"),
    [
        ("model.no_sync() if (i + 1) % 4 else nullcontext()", "not ((i + 1) % 4)"),
        ("nullcontext() if last else model.no_sync()", "last"),
        ("model.no_sync() if not last and i else nullcontext()", "not (not last and i)"),
        ("model.no_sync() if not last else nullcontext()", "last"),
        ("model.no_sync() if wait else nullcontext()", "not wait"),
    ],
)
def test_the_pass_that_ddp_reduces_in_is_the_one_that_is_averaged(
    choice: str, test: str, tmp_path: Path
) -> None:
    (file,) = plan_of(tmp_path, f"with {choice}:\n    model(x).sum().backward()").files
    assert f"backward()\n    if {test}:\n        handles = [" in file.after


PLAIN = "model(x).sum().backward()"


@pytest.mark.parametrize(
    ("loop", "given", "reason"),
    [
        (PLAIN, ", process_group=dist.new_group([0, 1])", "DDP's process_group changes what is averaged"),
        (
            "with model.no_sync():\n    model(x).sum().backward()",
            "",
            "every backward pass of it is under no_sync()",
        ),
        (
            f"with model.no_sync() if ready(i) else nullcontext():\n    {PLAIN}\n    print(i)",
            "",
            "more code follows it where no_sync() may be active (train.py:14)",
        ),
        ("torch.nn.Embedding(9, 2, sparse=True)\n" + PLAIN, "", "gradients are sparse at train.py:13"),
    ],
    ids=["group", "never", "more", "sparse"],
)
def test_what_cannot_be_said_is_refused(loop: str, given: str, reason: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, loop, given)
    if not reason:  # without a backward pass nothing is trained that could be seen
        assert not any(finding.rule == "HVD416" for finding in plan.findings)
        return
    told = [finding.advice for finding in plan.findings if finding.rule == "HVD905"]
    assert all(program.refused for program in plan.programs) and not plan.changed
    assert any(reason in advice for advice in told), told
