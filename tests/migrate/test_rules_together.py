"""All rules at once: the edits of each combine with the others', and a second run finds nothing to do."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability, Plan
from hvdkit.migrate.rules import all_rules
from tests.rule_examples import changes, keeps


def plan_of(folder: Path, text: str, files: tuple[tuple[str, str], ...], options: Options) -> Plan:
    """The plan of train.py and other files beside it."""
    for name, content in (*files, ("train.py", text)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return make_plan([folder], options)


def migrated(folder: Path, text: str) -> str:
    """What all rules make of a program in one file."""
    (file,) = plan_of(folder, dedent(text), (), Options()).files
    assert not file.problem
    return file.after


@pytest.mark.parametrize(("rule", "example"), [*changes(all_rules()), *keeps(all_rules())])
def test_an_example_of_one_rule_goes_through_all(rule: Rule, example: Change | Keep, tmp_path: Path) -> None:
    target = example.target if isinstance(example, Change) else "horovod"
    text = example.texts()[0] if isinstance(example, Change) else example.text()
    plan = plan_of(tmp_path, text, example.files, Options(target, example.suggested))
    assert not plan.unreadable
    problems = [file.problem for file in plan.files if file.problem]
    if "init_process_group" not in text:  # a part of a program: nothing starts the job that DDP belongs to
        problems = [problem for problem in problems if "HVD110" not in problem]
    assert not problems


KERAS = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""


def test_an_added_argument_stands_behind_what_the_last_one_became(tmp_path: Path) -> None:
    after = migrated(tmp_path, KERAS + "model.fit(train, verbose=2)\n")
    first = "hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()"
    assert f"verbose=2 if hvd.rank() == 0 else 0, callbacks=[{first}])\n" in after


def test_a_single_callback_that_writes_becomes_one_of_a_list_on_rank_0(tmp_path: Path) -> None:
    after = migrated(tmp_path, KERAS + 'model.fit(train, callbacks=tf.keras.callbacks.TensorBoard("logs"))\n')
    assert '*([tf.keras.callbacks.TensorBoard("logs")] if hvd.rank() == 0 else [])]' in after


def test_what_is_put_into_a_scope_moves_out_with_it(tmp_path: Path) -> None:
    after = migrated(
        tmp_path,
        """\
        import shutil
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.SGD(0.1)
            for x in tf.data.Dataset.range(8).batch(2):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            shutil.rmtree("logs")
            model.save("model.keras")
        """,
    )
    assert "\n    tape = hvd.DistributedGradientTape(tape)\n    gradients = " in after
    assert "\n    if optimizer.iterations == 1:\n        hvd.broadcast_variables(model.variables" in after
    assert "\n# hvdkit: TODO[HVD718] " in after
    assert after.endswith('\nif hvd.rank() == 0:\n    model.save("model.keras")\n')


EVALUATE = """\
def evaluate(model):
    print("accuracy", model(1))

if __name__ == "__main__":
    evaluate(None)
"""


def test_a_script_of_its_own_that_lends_its_functions_starts_horovod(tmp_path: Path) -> None:
    train = (
        "import torch\nfrom evaluate import evaluate\nloss.backward()\noptimizer.step()\nevaluate(model)\n"
    )
    files = {
        file.path.name: file
        for file in plan_of(tmp_path, train, (("evaluate.py", EVALUATE),), Options()).files
    }
    assert not any(file.problem for file in files.values())
    after = files["evaluate.py"].after
    assert after.startswith("import horovod.torch as hvd\n")
    assert 'if __name__ == "__main__":\n    hvd.init()\n' in after


def test_such_a_script_that_chooses_its_gpu_starts_horovod_alone(tmp_path: Path) -> None:
    train = (
        "import torch\nfrom evaluate import evaluate\nloss.backward()\noptimizer.step()\nevaluate(model)\n"
    )
    choice = '    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n    evaluate(torch.load("model.pt"))'
    chosen = "import os\nimport torch\n\n" + EVALUATE.replace("    evaluate(None)", choice).replace(
        "model(1)", "1"
    )
    files = plan_of(tmp_path, train, (("evaluate.py", chosen),), Options()).files
    after = next(file.after for file in files if file.path.name == "evaluate.py")
    assert '__main__":\n    hvd.init()\n    os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n' in after


def test_a_device_that_an_evaluation_takes_by_an_option_stays(tmp_path: Path) -> None:
    take = (
        "import torch\nfrom devices import device_of\n\nnet = torch.load('net.pt').to(device_of(args.gpu))\n"
    )
    devices = "import torch\n\ndef device_of(number):\n    return torch.device(f'cuda:{number}')\n"
    helpers = (("devices.py", devices), ("evaluate.py", take + "print(net(x))\n"))
    train = take + "net(x).sum().backward()\noptimizer.step()\n"
    files = plan_of(tmp_path, train, helpers, Options(suggested=True)).files
    found = next(file for file in files if file.path.name == "devices.py")
    assert [f.applicability for f in found.findings if f.rule == "HVD112"] == [Applicability.MANUAL]


HELPERS = """\
import torch.distributed as dist

def train(model, optimizer, loader):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
    print(dist.get_rank())

def accuracy(model):
    return model(1)
"""
TRAIN = """\
import torch
import torch.distributed as dist
from helpers import train

dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train(model, optimizer, torch.utils.data.DataLoader(data))
"""
TEST = "import torch\nfrom helpers import accuracy\n\nprint(accuracy(torch.nn.DataParallel(model)))\n"


def test_a_script_that_only_shares_a_file_with_a_training_stays_as_it_is(tmp_path: Path) -> None:
    helpers = (("helpers.py", HELPERS), ("test.py", TEST))
    files = {file.path.name: file for file in plan_of(tmp_path, TRAIN, helpers, Options()).files}
    assert not any(file.problem for file in files.values())
    assert "hvd.rank()" in files["helpers.py"].after
    assert files["test.py"].after == TEST


def test_what_a_helper_shows_where_it_is_run_itself_stays(tmp_path: Path) -> None:
    """A schedule with a demo below its main guard: the training that imports it never comes to the demo."""
    shown = (
        "import torch\n\ndef flat(optimizer):\n    return optimizer\n\n"
        'if __name__ == "__main__":\n    flat(torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.1))\n'
    )
    helpers = (("helpers.py", HELPERS), ("schedules.py", shown))
    text = TRAIN.replace("import torch\n", "import torch\nimport schedules\n", 1)
    files = {file.path.name: file for file in plan_of(tmp_path, text, helpers, Options()).files}
    assert "hvd.DistributedOptimizer" in files["train.py"].after
    assert files["schedules.py"].after == shown and not files["schedules.py"].findings


WRAPPING = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def accuracy(model):
    return model(1)

def evaluate():
    model = DDP(torch.nn.Linear(2, 1))
    print(accuracy(model))

if __name__ == "__main__":
    dist.init_process_group("nccl")
    evaluate()
"""


def test_what_an_evaluation_wraps_in_a_file_of_the_training_needs_no_optimizer(tmp_path: Path) -> None:
    """The training's own steps are unknown, and its gradients are averaged after backward() (HVD416)."""
    text = (
        "import torch\nimport torch.distributed as dist\nfrom apex import amp\n"
        "from evaluate import accuracy\n\n"
        'dist.init_process_group("nccl")\n'
        "model = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "model, optimizer = amp.initialize(model, optimizer)\n"
        "model = torch.nn.parallel.DistributedDataParallel(model)\n"
        "for x in torch.utils.data.DataLoader(data):\n"
        "    model(x).sum().backward()\n    optimizer.step()\nprint(accuracy(model))\n"
    )
    plan = plan_of(tmp_path, text, (("evaluate.py", WRAPPING),), Options())
    after = {file.path.name: file.after for file in plan.files}
    assert not any(program.refused for program in plan.programs)
    assert "hvd.allreduce_async_" in after["train.py"]
    assert "hvd.broadcast_parameters" in after["evaluate.py"] and "DDP(" not in after["evaluate.py"]


def test_a_note_on_a_guarded_statement_stands_inside_the_guard(tmp_path: Path) -> None:
    after = migrated(
        tmp_path,
        """\
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.SGD(0.1)
        area = tf.keras.metrics.AUC()

        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
            area.update_state(x, loss)

        for x in data:
            strategy.run(step, args=(x,))
        print(area.result())
        """,
    )
    *_, test, note, printed = after.splitlines()
    assert test == "if hvd.rank() == 0:"
    assert note.startswith("    # hvdkit: TODO[HVD719] ")
    assert printed == "    print(area.result())"


SHARDED = """\
import torch
from helper import share
from torch.distributed.fsdp import FullyShardedDataParallel

torch.distributed.init_process_group()
model = FullyShardedDataParallel(torch.nn.Linear(2, 1))
share(x, xs)
model(x).sum().backward()
"""
SCATTERS = """\
import torch.distributed as dist

def share(part, parts):
    dist.scatter(part, parts, src=0)
"""


def test_a_refused_program_gets_no_notes_in_its_helpers(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SHARDED, (("helper.py", SCATTERS),), Options())
    assert all(file.findings for file in plan.files)
    assert not plan.changed


FACTORY = """\
import torch

def create_optimizer_v2(model, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return optimizer
"""
TWO_OPTIMIZERS = """\
import torch
from timm.optim import create_optimizer_v2
from torch.nn.parallel import DistributedDataParallel as DDP

torch.distributed.init_process_group("gloo")
one, two = DDP(torch.nn.Linear(2, 1)), DDP(torch.nn.Linear(1, 1))
first = create_optimizer_v2(one, lr=0.1)
second = create_optimizer_v2(two, lr=0.1)
for x in batches:
    first.zero_grad()
    one(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(one.parameters(), 1.0)
    first.step()
    second.zero_grad()
    two(x).sum().backward()
    second.step()
"""


def test_a_library_in_its_own_repository_makes_an_optimizer_with_each_call(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_OPTIMIZERS, (("timm/optim.py", FACTORY),), Options())
    (file,) = plan.changed
    assert file.path.name == "train.py"
    assert file.after.count("hvd.DistributedOptimizer(") == 2
    assert "first.synchronize()" in file.after
    assert "second.synchronize()" not in file.after


STARTER = """\
import os
import shutil
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
{helper}

def train(rank, size):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29500", world_size=size, rank=rank)
    torch.cuda.set_device(rank)
    model = DDP(torch.nn.Linear(4, 1).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4).cuda(rank)).sum().backward()
    optimizer.step()

def main():
    os.makedirs("out", exist_ok=True)
    {write}
    size = torch.cuda.device_count()
    mp.spawn(train, nprocs=size, args=(size,))

if __name__ == "__main__":
    main()
"""
HELPER = "def keep(name):\n    torch.save({}, os.path.join('out', name))\n"
WRITES = {
    "a save": ("", "torch.save({}, 'settings.pt')", "torch.save("),
    "a text": ("", "with open('log.txt', 'w') as file: file.write('begun')", "with open("),
    "a save, in a function": (HELPER, "keep('settings.pt')", "torch.save("),
}


@pytest.mark.parametrize("name", WRITES)
def test_rank_0_writes_what_one_process_wrote_before_it_started_the_ranks(name: str, tmp_path: Path) -> None:
    """And no rank is asked for before hvd.init()."""
    helper, write, call = WRITES[name]
    text = STARTER.format(helper=helper, write=write)
    (file,) = plan_of(tmp_path, text, (), Options(suggested=True)).files
    assert not file.problem
    lines = [line.strip() for line in file.after.splitlines()]
    written = next(place for place, line in enumerate(lines) if line.startswith(call))
    assert lines[written - 1] == "if hvd.rank() == 0:"
    in_main = file.after.partition("def main():")[2]
    asked = "hvd.rank()" if not helper else "keep("
    assert in_main.index("hvd.init()") < in_main.index(asked)
