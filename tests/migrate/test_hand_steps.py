"""Programs that step by hand: what goes with the averages of HVD416, and why others are refused."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, State

HEAD = (
    "import library\nimport random\nimport torch\n\nmodel = torch.nn.Linear(2, 1)\nrate, best = 0.1, None\n"
)
STEP = "for p in model.parameters():\n    p.data.add_(p.grad, alpha=-rate)\nmodel.zero_grad()\n"
ROW = {"every optimizer averages gradients", "ranks start from the same weights"}


def plan_of(folder: Path, text: str, options: Options = Options()) -> Plan:  # noqa: B008
    """The plan for a program of one file."""
    (folder / "train.py").write_text(text)
    return make_plan([folder], options)


def looped(body: str) -> str:
    """A program with a loop over batches around some statements."""
    return f"{HEAD}for x in batches:\n{indent(dedent(body), '    ')}"


def after(plan: Plan) -> str:
    """What the file becomes, its averages and its start from the same weights proven."""
    (file,) = plan.files
    (program,) = plan.programs
    assert not file.problem and not program.refused
    assert {c.state for c in program.conditions if c.name in ROW} == {State.PROVEN}
    return file.after


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_ranks_start_alike_above_the_loops_and_below_what_is_loaded(tmp_path: Path, target: str) -> None:
    text = f"""\
def train(net, data, rate):
    for x in data:
        net(x).sum().backward()
{indent(STEP.replace("model", "net"), " " * 8)}

{HEAD}teacher = torch.nn.Linear(2, 1)
teacher.load_state_dict(model.state_dict())
model.load_state_dict(torch.load("model.pt"))
for epoch in range(3):
    train(model, batches, rate)
"""
    form = (
        "hvd.broadcast({})"
        if target == "hvdkit"
        else "hvd.broadcast_parameters({}.state_dict(), root_rank=0)"
    )
    lines = [form.format(name) for name in ("model", "teacher")]
    migrated = after(plan_of(tmp_path, text, Options(target)))
    assert "\n".join([*lines, "for epoch in range(3):"]) in migrated
    assert migrated.count("root_rank=0" if target == "horovod" else "broadcast(") == 2


def test_a_model_that_is_made_in_a_loop_is_sent_in_it(tmp_path: Path) -> None:
    text = f"""\
import torch

for fold in range(5):
    model = torch.nn.Linear(2, 1)
    for x in batches:
        model(x).sum().backward()
{indent(STEP, " " * 8)}"""
    migrated = after(plan_of(tmp_path, text.replace("rate", "0.1")))
    assert "    model = torch.nn.Linear(2, 1)\n    hvd.broadcast_parameters(model.state_dict()" in migrated


def test_rank_0_decides_over_the_rate(tmp_path: Path) -> None:
    text = looped(f"loss = model(x).sum()\nloss.backward()\n{STEP}") + (
        "    if best is None or loss.item() < best:\n        best = loss.item()\n"
        "    else:\n        rate /= 4.0\n"
    )
    (decided,) = (f for f in plan_of(tmp_path, text).findings if f.rule == "HVD410")
    assert "rank 0 decides" in decided.message
    migrated = after(plan_of(tmp_path, text))
    assert "if hvd.broadcast_object(bool(best is None or loss.item() < best), root_rank=0):" in migrated


def test_what_an_optimizer_has_is_averaged_with_what_is_stepped_by_hand(tmp_path: Path) -> None:
    made = "head = torch.nn.Linear(1, 1)\noptimizer = torch.optim.SGD(head.parameters(), lr=0.1)\nrate, best"
    text = looped(f"head(model(x)).sum().backward()\noptimizer.step()\n{STEP}")
    migrated = after(plan_of(tmp_path, text.replace("rate, best", made)))
    assert "for m in (head, model) for p in m.parameters()" in migrated
    assert "DistributedOptimizer" not in migrated and migrated.count("hvd.broadcast_parameters(") == 2


def test_a_norm_that_is_added_up_is_no_step(tmp_path: Path) -> None:
    norm = "norm = 0.0\nfor p in model.parameters():\n    norm += p.grad.norm()\n"
    body = f"model(x).sum().backward()\n{norm}{STEP}"
    assert "allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters()" in after(
        plan_of(tmp_path, looped(body))
    )


def test_several_passes_may_leave_gradients_out(tmp_path: Path) -> None:
    body = f"model(x).sum().backward()\nmodel(x).mean().backward()\n{STEP}"
    migrated = after(plan_of(tmp_path, looped(body)))
    assert migrated.count("average_gradients(model.parameters())") == 2
    assert "used = hvd.allgather_object(" in migrated


@pytest.mark.parametrize(
    "step",
    [
        "for p in model.parameters():\n    if p.dim() > 1:\n        p.data -= rate * p.grad\n",
        "for p in model.parameters():\n    if p.grad is None:\n        continue\n    p.data -= p.grad\n",
        f"try:\n{indent(STEP, '    ')}except TypeError:\n    pass\n",
    ],
    ids=["some", "asks", "tries"],
)
def test_a_step_that_may_leave_something_out_shows_no_gradient(step: str, tmp_path: Path) -> None:
    migrated = after(plan_of(tmp_path, looped(f"model(x).sum().backward()\n{step}")))
    assert "used = hvd.allgather_object(" in migrated


def test_a_batch_that_is_left_out_is_no_gradient_that_is(tmp_path: Path) -> None:
    body = f"if x is None:\n    continue\nmodel(x).sum().backward()\n{STEP}"
    assert "allgather" not in after(plan_of(tmp_path, looped(body)))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "model(x).sum().backward()\nfor p in model.parameters():\n"
            "    p.data.add_(p.grad, alpha=-random.random())\n",
            "uses random numbers, which differ on each rank",
        ),
        (
            f"loss = model(x).sum()\nloss.backward()\nrate = loss.item()\n{STEP}",
            "`rate` in the update at train.py:",
        ),
        (
            f"loss = model(x).sum()\nloss.backward()\nif loss.item() < 1:\n{indent(STEP, '    ')}",
            "`loss.item() < 1` in the update at train.py:",
        ),
        (
            "tensors = [model.weight, model.bias]\nmodel(x).sum().backward()\nfor p in tensors:\n"
            "    p.data -= p.grad\n",
            "what is in the list at train.py:",
        ),
        (
            "model(x).sum().backward()\nfor p in library.parts(model):\n    p.data -= p.grad\n",
            "whose parameters are updated at train.py:",
        ),
        ("model(x).sum().backward()\nmodel.weight.data -= model.weight.grad\n", "which tensor `model` is"),
        ("model(x).sum().backward()\nx[0].data -= x[0].grad\n", "what is updated at train.py:"),
        (
            "w = torch.ones(2, requires_grad=True)\n(model(x) * w).sum().backward()\nw.data -= w.grad\n",
            "`w` at train.py:",
        ),
        (
            f"model(torch.nn.Embedding(9, 2, sparse=True)(x)).sum().backward()\n{STEP}",
            "gradients are sparse at train.py:",
        ),
    ],
    ids=["random", "rate", "test", "list", "parts", "part", "entry", "loop", "sparse"],
)
def test_what_cannot_be_followed_is_refused_with_the_reason(body: str, reason: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, looped(body).replace("batches:", "batches(other):"))
    told = [finding.advice for finding in plan.findings if finding.rule == "HVD905"]
    assert all(program.refused for program in plan.programs) and not plan.changed
    assert any(reason in advice for advice in told), told
