"""One file that cannot be read is left alone, whatever it raises, and the rest goes on."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.source.read.source import Source, parse

TRAIN = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
"""
HEX, DIGITS = "0x" + "f" * 6000, "9" * 6000
CELL = '{"cell_type": "code", "source": "import torch"}'
ODD = {
    "undefined.py": "# coding: undefined\nimport torch\nx.backward()\n",
    "punycode.py": "# coding: punycode\nimport torch\nx.backward()\n",
    "idna.py": f"# coding: idna\nimport torch\nx.backward()  # {'x' * 99}\n",
    "hex.py": "# coding: hex\nimport torch\nx.backward()\n",
    "utf_7.py": "# coding: utf-7\nimport torch\nx.backward()\n",
    "decimal.py": f"import torch\nx.backward({DIGITS})\n",
    "hexadecimal.py": f"import torch\ntorch.optim.SGD(x, lr={HEX}).step()\ntorch.manual_seed({HEX})\n",
    "binary.py": f"import torch\nx.backward(0b{'1' * 20000})\n",
    "nested.py": "import torch\nx.backward()\ny = " + "-" * 300_000 + "1\n",
    "number.ipynb": f'{{"cells": [{CELL}], "x": {DIGITS}}}',
    "negative.ipynb": f'{{"cells": [{CELL}], "x": [-{DIGITS}]}}',
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAIN)
    return tmp_path


@pytest.mark.parametrize("name", ODD)
@pytest.mark.timeout(60)
def test_one_file_is_left_alone(tree: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text(ODD[name])
    assert main(["migrate", ".", "--no-diff"]) == 1
    shown = capsys.readouterr().out
    assert f"left alone {name}:" in shown and "train.py after migration" in shown
    assert main(["check", "."]) == 1
    assert f"left alone {name}:" in capsys.readouterr().out
    assert main(["init"]) == 0
    assert "scripts    train.py\n" in capsys.readouterr().out


@pytest.mark.timeout(20)
def test_init_waits_for_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names that are read by their suffix: a FIFO, a device, and a file of more than any script's size."""
    for name in ("README.md", "run.sh", "more.py"):
        os.mkfifo(name)
    Path("zero.py").symlink_to("/dev/zero")
    with Path("huge.py").open("wb") as file:
        file.truncate(1 << 40)
    assert main(["init"]) == 0
    assert "scripts    train.py\n" in capsys.readouterr().out


@pytest.mark.timeout(20)
def test_files_beside_a_keras_program_are_read_in_the_same_way(tree: Path) -> None:
    """Commands and settings that choose its backend, and the versions that it requires."""
    Path("fit.py").write_text("import keras\nmodel = keras.Sequential([])\nmodel.compile()\nmodel.fit([1])\n")
    os.mkfifo("Makefile")
    Path("run.sh").symlink_to("/dev/zero")
    Path("requirements.txt").write_bytes(b"caf\xe9\nkeras==2.4\n")
    Path("run.sh").unlink()
    Path("run.sh").write_text("KERAS_BACKEND=torch python fit.py\n")
    Path("run.sh").chmod(0)
    assert main(["migrate", "fit.py", "--no-diff"]) in (0, 1)


@pytest.mark.parametrize("value", [DIGITS, HEX])
def test_a_number_in_a_file_of_settings_is_named(
    tree: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pyproject.toml").write_text(f"[tool.hvdkit.migrate]\ntarget = {value}\n")
    Path("nodes.toml").write_text(f'nodes = ["a", "b"]\ngpus_per_node = {value}\n')
    Path("tuned.toml").write_text(f"controller = {value}\n")
    Path("hvd.py").write_text("import horovod.torch as hvd\nhvd.init()\n")
    for words in (
        ["docker", "hvd.py"],
        ["migrate", "train.py"],
        ["doctor", "--nodes", "nodes.toml"],
        ["run", "--tuned", "tuned.toml", "-np", "2", "python", "train.py"],
    ):
        assert main(words) == 2
        assert re.search("more than 64 bits|Exceeds the limit", capsys.readouterr().err)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "euc-jp", "shift_jis", "koi8-r", "ascii"])
def test_encodings_of_text_are_read(encoding: str) -> None:
    text = f"# coding: {encoding}\nname = 'x'\n"
    found = parse(Path("x.py"), text.encode(encoding))
    assert isinstance(found, Source) and found.text == text


def test_numbers_that_python_prints_are_read() -> None:
    text = f"a = {'9' * 4300}\nb = 0x{'f' * 3500}\nc = '0x{'f' * 9000}'\n"
    assert isinstance(parse(Path("x.py"), text.encode()), Source)
    cells = json.dumps({"cells": [], "x": int("9" * 4300), "y": 1.5e300})
    assert isinstance(parse(Path("x.ipynb"), cells.encode()), Source)
