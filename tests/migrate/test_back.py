"""The way back, `hvdkit migrate --target ddp`: what each rule makes of its examples, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.migrate.back import all_rules
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability, Plan, State
from tests.migrate.back_rows import PRELUDE, ROWS, Row
from tests.rule_examples import changes, examples, keeps


def plan_of(folder: Path, text: str) -> Plan:
    """The plan for a script that uses Horovod; a second run of its result changes nothing."""
    script = folder / "train.py"
    script.write_text(text)
    plan = make_plan([script], Options("ddp"))
    assert not plan.unreadable and not any(file.problem for file in plan.files)
    return plan


def after(plan: Plan) -> str:
    """What becomes of the script."""
    return plan.files[0].after


def refusals(plan: Plan) -> list[tuple[str, int]]:
    """What refuses the program, and where."""
    assert not plan.changed, "a refused program stays as it is"
    found = (each for each in plan.findings if each.applicability is Applicability.REFUSED)
    return [(each.rule, each.line) for each in found]


@pytest.mark.parametrize(("rule", "change"), changes(all_rules()))
def test_changes(rule: Rule, change: Change, tmp_path: Path) -> None:
    before, expected = change.texts()
    assert after(plan_of(tmp_path, before)) == expected


@pytest.mark.parametrize(("rule", "keep"), keeps(all_rules()))
def test_keeps(rule: Rule, keep: Keep, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, keep.text())
    assert after(plan) == keep.text()
    assert [each.rule for each in plan.findings] == ([rule.id] if keep.reported else [])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_has_both_kinds_of_examples(rule: Rule) -> None:
    kinds = {type(example) for _, _, example in examples([rule])}
    assert Change in kinds or rule.safety.startswith("Nothing is"), "a rule that edits shows what it edits"
    assert Keep in kinds
    assert all(text.strip() for text in (rule.title, rule.what, rule.why, rule.safety))


TRAINS = """\
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
"""
# What DDP would part silently, or has not: each is refused at the line that ends with `# here`.
REFUSED = {
    "two backward passes of one forward": (
        "HVD005",
        TRAINS
        + """\
for x in torch.ones(3, 4, 4):
    out = model(x)
    out.sum().backward(retain_graph=True)  # here
    out.mean().backward()
    optimizer.step()
""",
    ),
    "a method of the model trains": (
        "HVD005",
        """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

    def loss(self, x):
        return self(x).sum()


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x in torch.ones(3, 4, 4):
    model.loss(x).backward()  # here
    optimizer.step()
""",
    ),
    "an alias from before the wrap trains": (
        "HVD005",
        TRAINS.replace("hvd.broadcast_p", "net = model\nhvd.broadcast_p")
        + """\
for x in torch.ones(3, 4, 4):
    net(x).sum().backward()  # here
    optimizer.step()
""",
    ),
    "a parameter outside of the model": (
        "HVD003",
        """\
model = torch.nn.Linear(4, 2)
scale = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.1)  # here
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x in torch.ones(3, 4, 4):
    (model(x) * scale).sum().backward()
    optimizer.step()
""",
    ),
    "a part is unfrozen while it trains": (
        "HVD005",
        TRAINS.replace("optimizer = torch", "model[0].requires_grad_(False)\noptimizer = torch")
        + """\
for x in torch.ones(3, 4, 4):
    model(x).sum().backward()
    optimizer.step()
    model[0].requires_grad_(True)  # here
""",
    ),
    "the model is moved below": (
        "HVD003",
        TRAINS
        + """\
model.cuda()  # here
for x in torch.ones(3, 4, 4):
    model(x).sum().backward()
    optimizer.step()
""",
    ),
    "DataParallel": (
        "HVD003",
        TRAINS.replace("hvd.broadcast_p", "model = torch.nn.DataParallel(model)\nhvd.broadcast_p"),
    ),
    "ranks that Spark starts": (
        "HVD009",
        "from sparkdl import HorovodRunner\nHorovodRunner(np=2).run(print)  # here\n",
    ),
    "Adasum": (
        "HVD003",
        TRAINS.replace("named_parameters=", "op=hvd.Adasum,  # here\n    named_parameters="),
    ),
    "sparse gradients": ("HVD003", TRAINS.replace("(optimizer, n", "(optimizer, sparse_as_dense=True, n")),
    "a compression of its own": (
        "HVD003",
        TRAINS.replace("(optimizer, n", "(optimizer, compression=mine, n") + "mine = object()\n",
    ),
    "join": ("HVD009", "hvd.join()  # here\n"),
    "an asynchronous collective": ("HVD009", "hvd.allreduce_async_(torch.ones(1))  # here\n"),
    "a process set": ("HVD009", "hvd.add_process_set([0, 1])  # here\n"),
    "elastic": ("HVD009", "state = hvd.elastic.TorchState(epoch=0)  # here\n"),
    "mpi4py": ("HVD009", "from mpi4py import MPI  # here\nprint(MPI.COMM_WORLD.Get_rank())\n"),
    "ranks of its own": ("HVD001", "hvd.init([0])  # here\n"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_part_silently_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    rule, body = REFUSED[name]
    text = f"import horovod.torch as hvd\nimport torch\n\nhvd.init()\n{body}"
    found = refusals(plan_of(tmp_path, text))
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    assert [place for place in found if place[0] == rule][:1] == [(rule, line) for line in marked] or (
        not marked and found[0][0] == rule
    )


def test_what_named_parameters_names_is_all_that_is_trained(tmp_path: Path) -> None:
    """Horovod itself stops where it is not: the groups of the optimizer need not be followed."""
    text = TRAINS.replace("model.parameters()", "[p for p in made_by_something(model)]")
    text = f"import horovod.torch as hvd\nimport torch\nfrom x import made_by_something\n\nhvd.init()\n{text}"
    plan = plan_of(tmp_path, f"{text}model(torch.ones(1, 4)).sum().backward()\noptimizer.step()\n")
    assert "model = DDP(model, broadcast_buffers=False)" in after(plan) and not plan.left and not plan.open


def test_an_import_of_horovod_that_nothing_uses_is_removed(tmp_path: Path) -> None:
    text = "import horovod\nimport horovod.torch as hvd\nimport torch\n\nhvd.init()\n"
    assert "horovod" not in after(plan_of(tmp_path, text))


def test_attributes_are_read_through_the_wrapper_once_there_is_one(tmp_path: Path) -> None:
    text = TRAINS.replace("hvd.broadcast_p", "print(model[0].bias)\nhvd.broadcast_p") + dedent(
        """\
        def save(path):
            torch.save(model.state_dict(), path)


        def show(net):
            print(net[0].weight, len(net), isinstance(net, torch.nn.Linear), hasattr(net, "module"))


        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
        save("model.pt")
        show(model)
        """
    )
    found = after(plan_of(tmp_path, f"import horovod.torch as hvd\nimport torch\n\nhvd.init()\n{text}"))
    assert "print(model[0].bias)" in found
    assert "torch.save(model.module.state_dict(), path)" in found
    asked = 'isinstance(net.module, torch.nn.Linear), hasattr(net, "module")'
    assert f"print(net.module[0].weight, len(net.module), {asked})" in found


def test_clipping_what_each_rank_computed_is_left_to_you(tmp_path: Path) -> None:
    text = f"import horovod.torch as hvd\nimport torch\n\nhvd.init()\n{TRAINS}" + dedent(
        """\
        model(torch.ones(1, 4)).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        """
    )
    assert [(each.rule, each.line) for each in plan_of(tmp_path, text).left] == [("HVD007", 10)]


def test_an_option_for_ranks_of_its_own_stops_the_script(tmp_path: Path) -> None:
    text = dedent(
        """\
        import sys

        import horovod
        import horovod.torch as hvd
        import torch

        if len(sys.argv) > 1:
            horovod.run(print, np=2)
        hvd.init()
        print(f"on {hvd.local_rank()}")
        """
    )
    plan = plan_of(tmp_path, text)
    assert [(each.rule, each.line) for each in plan.left] == [("HVD009", 8)]
    assert 'raise SystemExit("start this script by torchrun --nproc-per-node N")' in after(plan)
    assert """print(f"on {int(os.environ.get('LOCAL_RANK', 0))}")""" in after(plan)
    assert "import horovod" not in after(plan)


def test_tensorflow_is_refused(tmp_path: Path) -> None:
    text = (
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\ntape = tf.GradientTape()\n"
    )
    assert refusals(plan_of(tmp_path, text)) == [("HVD009", 1)]


def test_horovod_that_may_be_missing_is_refused(tmp_path: Path) -> None:
    text = dedent(
        """\
        import torch
        try:
            import horovod.torch as hvd
        except ImportError:
            hvd = None

        if hvd:
            hvd.init()
        """
    )
    assert refusals(plan_of(tmp_path, text)) == [("HVD009", 3)]


def test_an_option_for_adasum_stops_the_script_and_is_left_to_you(tmp_path: Path) -> None:
    text = TRAINS.replace(
        "named_parameters=", "op=hvd.Adasum if len(model) > 2 else hvd.Average, named_parameters="
    )
    plan = plan_of(tmp_path, f"import horovod.torch as hvd\nimport torch\n\nhvd.init()\n{text}")
    assert "if len(model.module) > 2:\n    # hvdkit: TODO[HVD003]" in after(plan)
    assert [(each.rule, each.line) for each in plan.left] == [("HVD003", 8)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_is_migrated_with_nothing_left(row: Row, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PRELUDE + row.text)
    assert not plan.left and not plan.needed
    assert "hvd" not in after(plan)
    assert [c for p in plan.programs for c in p.conditions if c.state is State.OPEN] == []
