"""The way back, `hvdkit migrate --target ddp`: what each rule makes of its examples, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.cli import main
from hvdkit.migrate.back import all_rules
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability, Plan, State
from tests.migrate import back_before_steps as before_steps
from tests.migrate.back_refused import REFUSED, TRAINS
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


@pytest.mark.parametrize("row", before_steps.ROWS, ids=lambda row: row.name)
def test_what_would_part_silently_in_ddp_averages_before_each_step(row: Row, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PRELUDE + row.text)
    assert "average_before_steps(" in after(plan) and "DDP(" not in after(plan)
    assert "hvd" not in after(plan) and not plan.left and not plan.needed
    assert [c for p in plan.programs for c in p.conditions if c.state is State.OPEN] == []


def test_a_scaler_that_sees_the_gradients_of_one_rank_is_left_to_you(tmp_path: Path) -> None:
    text = PRELUDE + before_steps.ROWS[0].text.replace("optimizer.step()", "scaler.step(optimizer)")
    text = text.replace("model = Net()", "model, scaler = Net(), torch.amp.GradScaler('cpu')")
    assert [(each.rule, "overflow" in each.message) for each in plan_of(tmp_path, text).left] == [
        ("HVD007", True)
    ]


@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_has_not_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
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


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["mnist", "gan", "segmentation"])
def test_an_example_comes_back(name: str) -> None:
    """What migrate makes of a DDP script comes back to one, with nothing left to you."""
    script = EXAMPLES / name / "train_ddp_horovod.py"
    plan = make_plan([script], Options("ddp"))
    (file,) = (file for file in plan.files if file.path == script)
    assert not plan.leaves and "hvd" not in file.after
    original = script.with_name("train_ddp.py").read_text().splitlines()
    lost = set(original) - set(file.after.splitlines())
    assert len(lost) <= 0.15 * len(original), "\n".join(lost)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("horovodrun -np 4 python train.py --epochs 2", "torchrun --nproc-per-node 4 train.py --epochs 2"),
        (
            "horovodrun -np 8 -H one:4,two:4 python train.py",
            "torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint one:29500 train.py",
        ),
        ("mpirun -np 2 -bind-to none -x PATH python3 train.py", "torchrun --nproc-per-node 2 train.py"),
        ("mpirun -np 2 --mca pml ob1 python -u train.py", "torchrun --nproc-per-node 2 train.py"),
        ("hvdkit run -np 2 python -m train", "torchrun --nproc-per-node 2 -m train"),
    ],
)
def test_launch_lines_are_named_with_torchruns(line: str, instead: str, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(f"{line}\nhorovodrun -np 2 python other.py\n")
    plan = plan_of(tmp_path, "import horovod.torch as hvd\nimport torch\n\nhvd.init()\nprint(hvd.rank())\n")
    assert [note.partition(": ")[2] for note in plan.notes] == [f"`{line}` becomes `{instead}`"]


def test_single_changes_of_the_way_back_cannot_be_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import horovod.torch as hvd\n\nhvd.init()\n")
    assert main(["migrate", str(script), "--target", "ddp", "--interactive"]) == 2
    assert "--interactive leaves single changes" in capsys.readouterr().err


def test_rules_of_the_other_way_are_named_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", ".", "--target", "ddp", "--select", "HVD404"]) == 2
    assert "that is a rule of hvdkit migrate" in capsys.readouterr().err
    assert main(["migrate", ".", "--select", "HVD003"]) == 2
    assert "that is a rule of hvdkit migrate --target ddp" in capsys.readouterr().err


def test_a_script_without_horovod_stays_as_it_is(tmp_path: Path) -> None:
    text = (EXAMPLES / "mnist" / "train_ddp.py").read_text()
    plan = plan_of(tmp_path, text)
    assert after(plan) == text and not plan.findings and not plan.leaves


def test_the_report_names_the_rules_and_the_launcher(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PRELUDE + ROWS[0].text)
    assert main(["migrate", "train.py", "--target", "ddp", "--sarif=found.sarif"]) == 0
    shown = capsys.readouterr().out
    assert "start `torchrun --nproc-per-node N train.py`" in shown and shown.rstrip().endswith("ready")
    (run,) = json.loads(Path("found.sarif").read_text())["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [rule.id for rule in all_rules()]


def test_a_sampler_is_given_no_ranks_that_are_its_defaults(tmp_path: Path) -> None:
    text = dedent(
        """\
        import horovod.torch as hvd
        from torch.utils.data.distributed import DistributedSampler

        hvd.init()
        plain = DistributedSampler(range(4), num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
        last = DistributedSampler(
            range(4), num_replicas=hvd.size(), rank=hvd.rank())
        apart = DistributedSampler(range(4), num_replicas=hvd.size(), shuffle=False, rank=hvd.rank())
        of_others = DistributedSampler(range(4), num_replicas=hvd.local_size(), rank=hvd.local_rank())
        """
    )
    found = after(plan_of(tmp_path, text))
    assert "plain = DistributedSampler(range(4), shuffle=False)\n" in found
    assert "last = DistributedSampler(\n    range(4))\n" in found
    assert "num_replicas=dist.get_world_size(), shuffle=False, rank=dist.get_rank())" in found
    assert 'num_replicas=int(os.environ.get("LOCAL_WORLD_SIZE", 1))' in found


def test_what_runs_above_the_wrap_gets_the_model_itself(tmp_path: Path) -> None:
    text = dedent(
        """\
        import copy

        import horovod.torch as hvd
        import torch

        hvd.init()


        class Trainer:
            def __init__(self):
                self.model = torch.nn.Linear(4, 2)
                self.average = copy.deepcopy(self.model)
                groups = [{"params": [p for _, p in self.model.named_parameters()]}]
                self.optimizer = torch.optim.SGD(groups, lr=0.1)
                self.optimizer = hvd.DistributedOptimizer(
                    self.optimizer, named_parameters=self.model.named_parameters())
                hvd.broadcast_parameters(self.model.state_dict(), root_rank=0)
                self.first = copy.deepcopy(self.model)

            def train(self):
                self.model(torch.ones(1, 4)).sum().backward()
                self.optimizer.step()


        Trainer().train()
        """
    )
    found = after(plan_of(tmp_path, text))
    assert "self.average = copy.deepcopy(self.model)" in found
    assert "for _, p in self.model.named_parameters()" in found
    assert "self.first = copy.deepcopy(self.model.module)" in found
