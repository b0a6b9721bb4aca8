"""Which files belong together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Facts, Options
from hvdkit.source.project.files import Project
from hvdkit.source.project.opening import open_project, python_files


def tree(folder: Path, *files: str) -> None:
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import torch\n")


FOUND = {
    "beside": ("util", "train.py", "util.py"),
    "package": ("pkg", "train.py", "pkg/__init__.py"),
    "module in a package": ("pkg.util", "train.py", "pkg/util.py"),
    "relative": (".util", "pkg/train.py", "pkg/util.py"),
    "relative, one up": ("..util", "pkg/sub/train.py", "pkg/util.py"),
    "the package itself": (".", "pkg/train.py", "pkg/__init__.py"),
    "absolute from inside a package": ("pkg.util", "pkg/sub/train.py", "pkg/util.py"),
    "a library": ("torch.nn", "train.py", None),
    "a library, in a package with a part of its name": ("torch", "pkg/torch/util.py", None),
    "a file in place of a library, beside a script": ("keras", "scripts/train.py", "scripts/keras.py"),
    "started from the folder above": ("util", "scripts/train.py", "util.py"),
    "from the folder around its own": ("eval.linear.util", "eval/linear/train.py", "eval/linear/util.py"),
    "another installed package": ("other", "site-packages/pkg/train.py", None),
    "beside, in an installed package": ("util2", "site-packages/pkg/train.py", "site-packages/pkg/util2.py"),
}


@pytest.mark.parametrize("case", FOUND)
def test_find(case: str, tmp_path: Path) -> None:
    name, importer, expected = FOUND[case]
    tree(tmp_path, "train.py", "util.py", "pkg/__init__.py", "pkg/util.py", "pkg/train.py")
    tree(tmp_path, "pkg/sub/__init__.py", "pkg/sub/train.py", "scripts/train.py")
    tree(tmp_path, "pkg/torch/__init__.py", "pkg/torch/util.py", "scripts/keras.py")
    tree(tmp_path, "eval/linear/train.py", "eval/linear/util.py")
    tree(tmp_path, "site-packages/pkg/__init__.py", "site-packages/pkg/train.py")
    tree(tmp_path, "site-packages/pkg/util2.py", "site-packages/other/__init__.py")
    found = Project().find(name, tmp_path / importer)
    assert found == (tmp_path / expected if expected else None)


@pytest.mark.parametrize(
    ("above", "found"),
    [
        ("def build(): ...\n", True),
        ("from parts import *\n", True),
        ("def load(): ...\n", False),
    ],
)
def test_a_file_above_that_has_nothing_of_what_is_imported(above: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("import torch\n" + above)
    (tmp_path / "tools").mkdir()
    script = tmp_path / "tools/train.py"
    script.write_text("import torch\nfrom data import build\n")
    assert open_project([tmp_path]).find("data", script) == (tmp_path / "data.py" if found else None)


def test_a_project_that_is_installed_is_found_from_its_scripts(tmp_path: Path) -> None:
    tree(tmp_path, "setup.py", "pkg/__init__.py", "horovod/__init__.py", "projects/adder/adder.py")
    adder = tmp_path / "projects/adder/adder.py"
    assert open_project([adder]).find("pkg", adder) == tmp_path / "pkg/__init__.py"
    assert open_project([adder]).find("horovod", adder) is None
    (tmp_path / "setup.py").unlink()
    assert open_project([adder]).find("pkg", adder) is None


def test_a_package_that_is_installed_from_a_folder_of_the_checkout(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "main.py",
        "setup.py",
        "logs/logs/__init__.py",
        "logs/logs/writer.py",
        "logs/examples/demo.py",
    )
    setup = tmp_path / "logs/setup.py"
    for named, expected in (("name='logs'", tmp_path / "logs/logs/writer.py"), ("name='tests'", None)):
        setup.write_text(f"from setuptools import setup\nsetup({named})\n")
        assert open_project([tmp_path]).find("logs.writer", tmp_path / "main.py") == expected


def test_a_framework_in_its_own_checkout_is_no_program(tmp_path: Path) -> None:
    tree(
        tmp_path, "apex/__init__.py", "apex/parallel/__init__.py", "examples/train.py", "apex/examples/own.py"
    )
    names = [path.name for path in open_project([tmp_path]).files]
    assert names == ["__init__.py", "own.py", "__init__.py", "train.py"]
    (tmp_path / "setup.py").write_text("import torch\nsetup(name='apex')\n")
    assert [path.name for path in open_project([tmp_path]).files] == ["setup.py", "own.py", "train.py"]


def test_an_installed_framework_is_no_program(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "site-packages"
    tree(packages, "torch/__init__.py", "torch/optim/__init__.py", "torch/optim/adam.py", "other/train.py")
    for asked in (packages, packages / "torch"):
        assert "adam.py" not in [path.name for path in open_project([asked]).files]
    assert [path.name for path in open_project([packages]).files] == ["train.py"]


def test_the_folder_that_it_stands_in_is_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "__init__.py", "train.py")
    monkeypatch.chdir(tmp_path)
    assert [path.name for path in open_project([Path()]).files] == ["__init__.py", "train.py"]


CHECKOUT = "import torch\nfrom own.engine import train\nfrom own.util import log\nfrom timm.util import log\n"


@pytest.mark.parametrize("missing", ["", "train", "engine.py"])
def test_a_package_that_is_checked_out_under_another_name(tmp_path: Path, missing: str) -> None:
    tree(tmp_path, "main.py", "util/log.py", "engine.py")
    (tmp_path / "main.py").write_text(CHECKOUT)
    (tmp_path / "engine.py").write_text("" if missing == "train" else "def train(): ...\n")
    if missing == "engine.py":
        (tmp_path / "engine.py").unlink()
    main = tmp_path / "main.py"
    project = open_project([main])
    assert project.find("own.util.log", main) == (None if missing else tmp_path / "util/log.py")
    assert project.find("own.engine", main) == (None if missing else tmp_path / "engine.py")
    assert project.find("timm.util", main) is None


def test_folders_that_a_script_puts_on_its_path(tmp_path: Path) -> None:
    tree(tmp_path, "core/raft.py", "lib/data.py", "lib/utils/log.py", "tools/train.py")
    here = tmp_path / "evaluate.py"
    here.write_text("import sys\nsys.path.append('core')\nimport raft\n")
    tool = tmp_path / "tools" / "train.py"
    tool.write_text("import _init_paths\nimport data, torch\nfrom utils.log import say\n")
    paths = (
        "import os, sys\nlib = os.path.join(here, '..', 'lib')\nadd = lambda path: sys.path.insert(0, path)\n"
    )
    (tmp_path / "tools" / "_init_paths.py").write_text(paths + "add(lib)\n")
    tools = {"tools/train.py", "tools/_init_paths.py"}
    files = {str(path.relative_to(tmp_path)) for path in open_project([here, tool]).files}
    assert files == {"evaluate.py", "core/raft.py", "lib/data.py", "lib/utils/log.py", *tools}


def test_files_without_a_framework_are_read_only_when_imported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nimport helper\n")
    (tmp_path / "helper.py").write_text("import below.deep\n")
    (tmp_path / "alone.py").write_text("x = 1\n")
    tree(tmp_path, "below/__init__.py", "below/deep.py")
    project = open_project([tmp_path])
    assert {path.name for path in project.files} == {"train.py", "helper.py", "__init__.py", "deep.py"}
    assert len(project.passed_over) == 2


def test_a_script_that_only_starts_what_others_hold_is_read(tmp_path: Path) -> None:
    tree(tmp_path, "src/train.py")
    (tmp_path / "src" / "__init__.py").touch()
    (tmp_path / "main.py").write_text("from src.train import main\n\nmain()\n")
    (tmp_path / "other.py").write_text("from src.train import main\n\nclass Other:\n    run = main\n")
    project = open_project([tmp_path])
    assert {path.name for path in project.files} == {"train.py", "main.py"}


def test_a_script_reaches_the_project_through_what_names_no_framework(tmp_path: Path) -> None:
    tree(tmp_path, "lib/model.py")
    (tmp_path / "train.py").write_text("import torch\nimport setup_path\nimport options\n")
    (tmp_path / "setup_path.py").write_text("import sys\nsys.path.insert(0, 'lib')\n")
    (tmp_path / "lib" / "options.py").write_text("def parse(): ...\n")
    (tmp_path / "lib" / "factory.py").write_text("import model\n\nmade = {'a': model}\n")
    (tmp_path / "lib" / "unused.py").write_text("import model\n\nmade = {'b': model}\n")
    start = "import setup_path\nfrom {} import {}\n\nif __name__ == '__main__':\n    print({})\n"
    (tmp_path / "demo.py").write_text(start.format("options", "parse", "parse()"))
    (tmp_path / "show.py").write_text(start.format("factory", "made", "made"))
    project = open_project([tmp_path])
    expected = {"train.py", "demo.py", "show.py", "setup_path.py", "options.py", "factory.py", "model.py"}
    assert {path.name for path in project.files} == expected
    assert {path.name for path in project.passed_over} >= {"unused.py"}


def test_a_unit_test_starts_nothing(tmp_path: Path) -> None:
    tree(tmp_path, "train.py")
    (tmp_path / "test_parts.py").write_text(
        "import unittest\nfrom train import x\n\ndef test_x(): ...\n\nx()\n"
    )
    assert [path.name for path in open_project([tmp_path]).files] == ["train.py"]


def test_what_such_a_script_puts_on_its_path_is_found_in_any_order(tmp_path: Path) -> None:
    tree(tmp_path, "lib/data.py", "lib/model.py", "src/train.py")
    main = tmp_path / "main.py"
    main.write_text("import sys\nsys.path.append('lib')\nimport data, model\nimport src.train\n\nmain()\n")
    project = open_project([tmp_path])
    imported = project.imports(project.files[main])
    assert {names.source.path.name for names in imported} == {"data.py", "model.py", "train.py"}


def test_python_files_leave_environments_out(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b/c.ipynb", "env/x.py", ".git/y.py", "node_modules/z.py")
    (tmp_path / "env/pyvenv.cfg").touch()
    assert [path.name for path in python_files(tmp_path)] == ["a.py", "c.ipynb"]


def test_a_script_that_names_python_in_its_first_line_needs_no_suffix(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("#!/usr/bin/env python3\nimport torch\n")
    (tmp_path / "start").write_text("#!/bin/sh\npython train\n")
    (tmp_path / "train.sh").write_text("#!/usr/bin/python3\n")
    (tmp_path / "notes").write_text("python\n")
    os.mkfifo(tmp_path / "pipe")
    assert list(python_files(tmp_path)) == [tmp_path / "train"]
    assert list(open_project([tmp_path]).files) == [tmp_path / "train"]


def test_unreadable_files_are_kept_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import torch\nif\n")
    (tmp_path / "old.py").write_text("import torch\nx = x.cuda(async=True)\n")
    project = open_project([tmp_path / name for name in ("bad.py", "old.py", "gone.py")])
    reasons = {path.name: unreadable.reason for path, unreadable in project.unreadable.items()}
    assert reasons["bad.py"] == "syntax error: invalid syntax"
    assert reasons["old.py"].endswith("async is a keyword since Python 3.7: write non_blocking=")
    assert reasons["gone.py"] == "cannot be read: No such file or directory"


def test_imports(tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_text("import a.b\nimport c.d as e\nfrom f import g\nfrom . import h\nfrom i import *\n")
    found = open_project([main]).files[main].modules
    assert found == {"a", "a.b", "c.d", "c", "f.g", "f", ".h", ".", "i"}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ('f"models.{name}_model"', ["models/one_model.py"]),
        ('"pkg.tasks." + name + ".expert"', ["pkg/tasks/a-b/expert.py", "pkg/tasks/c/expert.py"]),
        ("name", []),
        ('f"{name}.expert"', []),
    ],
    ids=["the end of the name", "the middle of the name", "all of the name", "the start of the name"],
)
def test_modules_that_are_imported_by_a_name_chosen_as_it_runs(
    tmp_path: Path, asked: str, found: list[str]
) -> None:
    tree(tmp_path, "pkg/__init__.py", "models/one_model.py", "models/other.py", "pkg/tasks/c/model.py")
    tree(tmp_path, "pkg/tasks/a-b/expert.py", "pkg/tasks/c/expert.py")
    script = tmp_path / "pkg" / "run.py"
    script.write_text(f"import importlib\nimport torch\n\nmodule = importlib.import_module({asked})\n")
    project = open_project([tmp_path])
    imports = project.imports(project.files[script])
    assert [names.source.path.relative_to(tmp_path).as_posix() for names in imports] == found


FRAMEWORK_TEXTS = {
    "import torch\n": True,
    "from torch.nn import Linear\n": True,
    "import pytorch_lightning\n": True,
    "import importlib\nm = importlib.import_module('torch.nn')\n": True,
    "import os\nos.system('torchrun train.py')\n": True,
    "# like torch's\nKNOWN = sys.modules.get('torch')\n": False,
    "": False,
}


def test_nobody_follows_the_values_of_files_that_use_no_framework(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.py").write_text("def start(n):\n    return open('log.txt', 'w')\n")
    (tmp_path / "tool.py").write_text("import other\n\nother.start(2).step()\n")
    monkeypatch.setattr(Facts, "calls", None)
    plan = make_plan([tmp_path / "tool.py"], Options(suggested=True))
    assert [file.path.name for file in plan.files] == ["other.py", "tool.py"]
    assert [(program.entry.name, program.kind) for program in plan.programs] == [("tool.py", "none")]
    assert not plan.changed and not plan.findings
    for text, uses in FRAMEWORK_TEXTS.items():
        (tmp_path / "other.py").write_text(text)
        assert open_project([tmp_path / "tool.py"]).uses_framework is uses, text


def test_files_of_no_framework_that_a_package_imports_by_computed_names_are_passed_over_once(
    tmp_path: Path,
) -> None:
    """They import the project, too; each was taken away twice, which ended in a KeyError."""
    tree(tmp_path, "train.py", "data/base.py")
    by_name = (
        "import importlib, torch\n\n\ndef find(name):\n    return importlib.import_module('data.' + name)\n"
    )
    (tmp_path / "data" / "__init__.py").write_text(by_name)
    (tmp_path / "data" / "numbers.py").write_text("from data.base import x\n\n\nclass Data(x):\n    pass\n")
    project = open_project([tmp_path])
    assert [path.name for path in project.passed_over] == ["numbers.py"]
