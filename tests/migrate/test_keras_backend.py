"""Keras on PyTorch: hvdkit's own target refuses it as well, wherever the backend is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

KERAS = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\nmodel.fit(x, y)\n"
SET = 'import os\nos.environ["KERAS_BACKEND"] = "{}"\n'
PLACES = {
    "in the script": ({"train.py": SET.format("torch") + KERAS}, "train.py", 2),
    "in a module that it imports": (
        {"train.py": "import backend\n" + KERAS, "backend.py": SET.format("torch")},
        "backend.py",
        2,
    ),
    "in a command": ({"train.py": KERAS, "run.sh": "KERAS_BACKEND=torch python train.py\n"}, "train.py", 1),
    "in an image": (
        {"train.py": KERAS, "Dockerfile": "ENV KERAS_BACKEND torch\n"},
        "train.py",
        1,
    ),
    "in a manifest": ({"train.py": KERAS, "job.yaml": 'env:\n  KERAS_BACKEND: "torch"\n'}, "train.py", 1),
    "in Keras's own settings": ({"train.py": KERAS, "keras.json": '{"backend": "torch"}\n'}, "train.py", 1),
    "by a call": ({"train.py": 'import keras\nkeras.config.set_backend("torch")\n' + KERAS}, "train.py", 2),
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "train.py"


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
@pytest.mark.parametrize("place", PLACES)
def test_the_place_that_says_it_is_named(place: str, target: str, tmp_path: Path) -> None:
    files, name, line = PLACES[place]
    plan = make_plan([write(tmp_path, files)], Options(target))
    assert not plan.changed
    (finding,) = [finding for finding in plan.left if finding.rule in ("HVD791", "HVD792")]
    assert (finding.rule, finding.path.name, finding.line) == ("HVD792", name, line)
    assert "torch" in finding.message and "import hvdkit.keras as hvd" in finding.advice


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": SET.format("tensorflow") + "import torch\n" + KERAS},
        {"train.py": "import tensorflow as tf\nimport torch\n" + KERAS},
        {
            "train.py": KERAS,
            "run.sh": "# KERAS_BACKEND=torch python train.py\nKERAS_BACKEND=tensorflow python train.py\n",
        },
        {"train.py": 'import os\nprint(os.environ.get("KERAS_BACKEND", "torch"))\n' + KERAS},
    ],
)
def test_keras_on_tensorflow_is_migrated(files: dict[str, str], tmp_path: Path) -> None:
    plan = make_plan([write(tmp_path, files)], Options("hvdkit"))
    assert plan.changed and "hvdkit.tensorflow.keras" in plan.changed[0].after
