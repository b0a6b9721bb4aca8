"""What is left to you: open conditions, needed edits, unknown training; each named, exit code 1."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from hvdkit.cli import main
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import State
from tests.migrate.test_conditions import GOOD

# Horovod's from the start, and complete but for the broadcast: nothing is rewritten.
NO_BROADCAST = "".join(line for line in GOOD.splitlines(keepends=True) if "broadcast_parameters" not in line)
BACKWARD = 1 + next(n for n, line in enumerate(NO_BROADCAST.splitlines()) if "backward()" in line)
OPEN = "ranks start from the same weights: no broadcast of the model was found"
WHOLE = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=8, shuffle=True)
for epoch in range(3):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""
SPLIT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

data = TensorDataset(torch.eye(40, 4), torch.ones(40, 1))
train, val = random_split(data, [32, 8])
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(train, batch_size=8, shuffle=True)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "options", [[], ["--check"], ["--write", "--allow-no-vcs"], ["--output", "elsewhere"], ["--no-diff"]]
)
def test_an_open_condition_is_left_with_its_line(folder: Path, capsys: Capture, options: list[str]) -> None:
    (folder / "train.py").write_text(NO_BROADCAST)
    assert main(["migrate", "train.py", *options]) == 1
    out = capsys.readouterr().out
    assert f"\ntrain.py:{BACKWARD}: open: {OPEN}\n" in out
    assert "0 files, 1 left to you" in out


def test_an_open_condition_is_left_in_reports_for_machines(folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text(NO_BROADCAST)
    assert main(["migrate", "train.py", "--json", "-"]) == 1
    (program,) = json.loads(capsys.readouterr().out)["programs"]
    places = {row["name"]: row["places"] for row in program["conditions"] if row["state"] == "open"}
    path = str(folder / "train.py")
    assert places == {OPEN.partition(":")[0]: [{"path": path, "line": BACKWARD, "cell": 0}]}
    assert main(["migrate", "train.py", "--sarif", "-"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert result["message"]["text"] == f"open: {OPEN}" and result["level"] == "warning"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == BACKWARD


def test_an_open_condition_of_standard_input(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NO_BROADCAST.encode())))
    assert main(["migrate", "-"]) == 1
    assert f"line {BACKWARD}: open: {OPEN}\n" in capsys.readouterr().err


def test_a_missing_device_is_asked_for_where_one_is_chosen(folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text(GOOD.replace("hvd.local_rank()", "given.device"))
    line = 1 + next(n for n, text in enumerate(GOOD.splitlines()) if "set_device" in text)
    assert main(["migrate", "train.py"]) == 1
    assert f"\ntrain.py:{line}: open: each process has its own device: " in capsys.readouterr().out


def test_a_right_program_of_horovod_leaves_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text(GOOD)
    assert main(["migrate", "train.py", "--check"]) == 0
    assert "nothing left to you" in capsys.readouterr().out


def test_what_migration_would_break_is_restored(folder: Path, capsys: Capture) -> None:
    """An unseeded split was one split in the one process that there was: on N ranks it would be N."""
    (folder / "train.py").write_text(SPLIT)
    assert main(["migrate", "train.py"]) == 0
    out = capsys.readouterr().out
    assert "\n+" in out and "[32, 8], generator=torch.Generator().manual_seed(0))" in out
    assert "\ntrain.py:7: HVD403 " in out and "(choice: --suggested)\n" in out
    assert "nothing left to you, 1 more choice with --suggested" in out


def test_what_the_ranks_of_the_original_do_wrong_is_needed(folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text(WHOLE)
    assert main(["migrate", "train.py", "--no-diff"]) == 1
    out = capsys.readouterr().out
    assert (
        "\ntrain.py:9: HVD302 each rank draws its own share of the training data (needed: --suggested)" in out
    )
    assert "\ntrain.py:9: open: training data is sharded by rank: " in out
    assert "3 left to you, 2 of them done by --suggested" in out
    assert main(["migrate", "train.py", "--no-diff", "--suggested"]) == 0
    assert "(needed: --suggested)" not in capsys.readouterr().out


def test_a_choice_leaves_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text(SPLIT.replace("[32, 8]", "[32, 8], torch.Generator().manual_seed(0)"))
    assert main(["migrate", "train.py", "--no-diff"]) == 0
    out = capsys.readouterr().out
    assert (
        "\ntrain.py:7: HVD403 " in out and "(choice: --suggested)\n" in out and "nothing left to you" in out
    )


def test_what_waits_in_a_refused_program_is_not_asked_for(folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text("import deepspeed\n" + SPLIT + "deepspeed.initialize(model=model)\n")
    assert main(["migrate", "train.py", "--no-diff"]) == 1
    out = capsys.readouterr().out
    assert "refused" in out and "--suggested)" not in out and " open: " not in out


MODEL = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.1)
"""
UNSEEN = {
    "minimize, by arguments that are not written out": (MODEL + "opt.minimize(*told)\n", 5),
    "minimize, made elsewhere": (
        "import tensorflow as tf\n\ndef run(opt):\n    opt.minimize(loss, [w])\n\nrun(given.opt)\n",
        4,
    ),
    "apply, of gradients that were read": (MODEL + "opt.apply(read(), model.trainable_weights)\n", 5),
    "no optimizer": (
        "import tensorflow as tf\n\nw, b = tf.Variable(1.0), tf.Variable(0.0)\n"
        "with tf.GradientTape() as tape:\n    loss = w * x + b\n"
        "grads = tape.gradient(loss, [w, b])\nw.assign_sub(0.1 * grads[0])\n",
        7,
    ),
    "no optimizer, over all variables": (
        "import tensorflow as tf\n\nwith tf.GradientTape() as tape:\n    loss = model(x)\n"
        "for w, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):\n"
        "    w.assign(w - 0.1 * g)\n",
        6,
    ),
    "apply, of what is not known": (
        "import tensorflow as tf\n\nwith tf.GradientTape() as tape:\n    loss = f(w)\n"
        "grads = tape.gradient(loss, [w])\nstate.apply(grads, [w])\n",
        6,
    ),
    "train_on_batch": ("import keras\n\nbuilt.train_on_batch(x, y)\n", 3),
    "fit": ("import tensorflow as tf\n\nhub.load(name).fit(tf.constant(x), epochs=3)\n", 3),
    "a library's trainer, by its epochs": (
        "import torch\nfrom ultralytics import YOLO\n\nyolo = YOLO('n.pt')\nyolo.train(data=d, epochs=3)\n",
        5,
    ),
    "a library's trainer, by its model": (
        "import torch\nfrom somewhere import Learner\n\nlearner = Learner(data, torch.nn.Linear(2, 1))\n"
        "learner.fit_one_cycle(3)\n",
        5,
    ),
    "a library's trainer, by its loader": (
        "from sentence_transformers import SentenceTransformer, losses\n"
        "from torch.utils.data import DataLoader\n\n"
        "model = SentenceTransformer('mini')\nloader = DataLoader(pairs, batch_size=8)\n"
        "model.fit([(loader, losses.CosineSimilarityLoss(model))])\n",
        6,
    ),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_training_that_is_not_known_is_named(name: str, folder: Path, capsys: Capture) -> None:
    text, line = UNSEEN[name]
    (folder / "train.py").write_text(text)
    assert main(["migrate", "train.py", "--no-diff"]) == 1
    out = capsys.readouterr().out
    assert f"\ntrain.py:{line}: open: all training code is understood: " in out
    assert (folder / "train.py").read_text() == text


def test_training_that_is_half_known_is_named(folder: Path, capsys: Capture) -> None:
    """Two models: fit() is rewritten, and what apply() steps is not."""
    (folder / "train.py").write_text(
        MODEL + "model.compile('sgd', 'mse')\nmodel.fit(x, y)\nopt.apply(gradients, other.weights)\n"
    )
    assert main(["migrate", "train.py", "--no-diff", "--write", "--allow-no-vcs"]) == 1
    out = capsys.readouterr().out
    assert "opt.apply" not in (folder / "train.py").read_text().splitlines()[6]  # it has moved
    assert "\ntrain.py:7: open: every optimizer averages gradients: " in out


SILENT = {
    "scikit-learn beside torch": (
        "import torch\nfrom sklearn.cluster import KMeans\n\n"
        "features = torch.nn.Linear(2, 1)(x).numpy()\nKMeans(3).fit(features)\n"
    ),
    "scikit-learn beside TensorFlow": (
        "import tensorflow as tf\nfrom sklearn.preprocessing import StandardScaler\n\n"
        "StandardScaler().fit(tf.constant(x).numpy())\n"
    ),
    "a module that a library wraps": (
        "import torch\nfrom peft import get_peft_model\n\n"
        "model = get_peft_model(torch.nn.Linear(2, 1), config)\nmodel.train()\nmodel.train(mode=False)\n"
    ),
    "gradients of an input": (
        "import torch\n\nmodel = torch.nn.Linear(2, 1)\nx = torch.ones(2, requires_grad=True)\n"
        "model(x).sum().backward()\nprint(x.grad.sign())\n"
    ),
    "gradients of an input, by a tape": (
        "import tensorflow as tf\n\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    y = f(x)\n"
        "print(tape.gradient(y, x))\n"
    ),
    "gradients that are only measured": (
        "import tensorflow as tf\n\nnorm = tf.Variable(0.0)\nwith tf.GradientTape() as tape:\n    y = f(w)\n"
        "norm.assign(tf.norm(tape.gradient(y, w)))\n"
    ),
    "a function called minimize": (
        "import tensorflow as tf\nfrom scipy import optimize\n\noptimize.minimize(tf.exp, 1)\n"
    ),
    "apply of a data set": "import tensorflow as tf\n\ntf.data.Dataset.range(3).apply(ignore_errors())\n",
    "Horovod's optimizer": (
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\n"
        "opt = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))\nopt.minimize(loss, variables)\n"
    ),
    "an optimizer that may be Horovod's": (
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\n"
        "def run(opt):\n    opt.minimize(loss)\n\n"
        "run(held.opt)\nheld.opt = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))\n"
    ),
    "no framework": "from sklearn.svm import SVC\n\nSVC().fit(x, y)\n",
}


@pytest.mark.parametrize("name", SILENT)
def test_what_trains_nothing_is_not_named(name: str, folder: Path, capsys: Capture) -> None:
    (folder / "train.py").write_text(SILENT[name])
    assert main(["migrate", "train.py", "--no-diff"]) == 0
    assert "open: what trains" not in capsys.readouterr().out


def test_what_only_another_program_trains_is_not_named_of_this(folder: Path) -> None:
    (folder / "shared.py").write_text(
        dedent("""\
            import tensorflow as tf

            def train(opt):
                opt.apply(gradients)

            if __name__ == "__main__":
                train(tf.keras.optimizers.SGD(0.1))
            """)
    )
    (folder / "show.py").write_text("import shared\n\nprint(shared.tf.__version__)\n")
    programs = {program.entry.name: program.conditions for program in make_plan([folder], Options()).programs}
    assert [row.state for row in programs["shared.py"]] == [State.OPEN]
    assert programs["show.py"] == ()
