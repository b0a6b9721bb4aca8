"""Which programs run a function: those that call it, hand it on, or may mean it by a method's name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.source.project.opening import open_project

GUARD = "\n\nif __name__ == '__main__':\n    "
FUNCTION = "def train(depth=0):\n    here()\n    train(depth + 1)\n"
OUTER = FUNCTION + "\ndef outer():\n    train()\n\ndef show(x):\n    print(x)\n"
CLASS = "class Base:\n    def go(self):\n        self.train()\n"
CLASS += "\nclass Trainer(Base):\n    def train(self):\n        here()\n"
NET = "class Net:\n    def forward(self, x):\n        here()\n"
MAKES = NET + "\ndef make():\n    return Net()\n"
NO_GRAD = "import torch\n\n@torch.no_grad()\ndef b():\n    here()\n"
REGISTERED = "@register('b')\ndef b():\n    here()\n"


@pytest.mark.parametrize(
    ("helper", "script", "runs"),
    [
        (FUNCTION, "from helper import train\n\ntrain()\n", True),
        (FUNCTION, "import helper\n\nprint(helper.__doc__)\n", False),
        (FUNCTION, "from helper import train as t\n\nrunner(lambda: t())\n", True),
        (FUNCTION + GUARD + "train()\n", "import helper\n\nprint(helper)\n", False),
        (OUTER, "from helper import show, train\n\nshow(train)\n", True),
        (OUTER, "from helper import show\n\nshow(1)\n", False),
        (OUTER, "from helper import outer\n\nouter()\n", True),
        (CLASS, "from helper import Trainer\n\nTrainer().train()\n", True),
        (CLASS, "from helper import Trainer\n\nTrainer().go()\n", True),
        (CLASS, "from helper import Trainer\n\nmake(Trainer).train()\n", True),
        (CLASS, "from helper import Trainer\n\nmodel = Other()\nprint(Trainer)\n", False),
        (NET, "from helper import Net\n\nparts = [Net()]\nparts[0](1)\n", True),
        (MAKES, "from helper import make\n\nparts = [make()]\nparts[0](1)\n", True),
        (MAKES, "from helper import Net as N\n\nprint(N)\n", True),
        (MAKES, "import helper\n\nprint(helper.__doc__)\n", False),
        (REGISTERED, "import helper\n\nfind('b')()\n", True),
        (NO_GRAD, "import helper\n\nfind('b')()\n", False),
    ],
    ids=[
        "called",
        "not called",
        "under another name",
        "under another script's main guard",
        "handed on",
        "named by what does not run",
        "through another function",
        "a method",
        "a method of a subclass, by its base",
        "a method of something unknown",
        "a method that nothing calls in this program",
        "what the library calls",
        "what the library calls, of a class that is made",
        "of a class under another name",
        "of a class that nothing names in this program",
        "handed on by its decorator",
        "a decorator that keeps it",
    ],
)
def test_a_function_runs_where_something_that_runs_names_it(
    tmp_path: Path, helper: str, script: str, runs: bool
) -> None:
    other = "import torch\nfrom helper import *" + GUARD + "Trainer().go()\n    train()\n"
    assert _runs(tmp_path, helper=helper, script=f"import torch\n{script}", other=other) is runs


@pytest.mark.parametrize(
    ("script", "runs"),
    [
        ("def main():\n    here()\n", True),
        ("set_up()\n\ndef main():\n    here()\n", True),
        ("def main():\n    here()\n\ndef other():\n    main()\n", True),
        ("def unused():\n    here()\n\ndef main():\n    pass\n" + GUARD + "main()\n", False),
        ("class Trainer:\n    def train(self):\n        here()\n" + GUARD + "x.train()\n", True),
        ("class Trainer:\n    def train(self):\n        here()\n" + GUARD + "print(Trainer)\n", True),
    ],
    ids=["a console script", "after a set-up", "a library", "a script", "a class in a demo", "a class named"],
)
def test_others_run_what_a_library_gives_them(tmp_path: Path, script: str, runs: bool) -> None:
    assert _runs(tmp_path, script=f"import torch\n{script}") is runs


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ("find = getattr(module, 'run')\nfind()", True),
        ("module.run()", True),
        ("getattr(module, 'test')()", False),
        ("module.__dict__[name]()", True),
        ("module.__dict__[name](1)", False),
        ("other.run()", False),
    ],
)
def test_a_module_that_is_chosen_is_asked_for_a_function(tmp_path: Path, asked: str, runs: bool) -> None:
    (tmp_path / "settings").mkdir()
    here = "import torch\n\ndef run():\n    here()\n"
    (tmp_path / "settings" / "small.py").write_text(here)
    script = (
        f"import importlib\nimport torch\nmodule = importlib.import_module(f'settings.{{name}}')\n{asked}\n"
    )
    assert _runs(tmp_path, script=script) is runs


def _runs(folder: Path, **files: str) -> bool:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    facts = Facts(open_project([folder]))
    (program,) = (p for p in programs_of(facts) if p.entry.source.path.name == "script.py")
    ((names, node),) = ((names, call) for names in facts.files for call in names.calls.get("here", ()))
    assert isinstance(node, ast.Call)
    return call_graph(facts).runs(program.entry, program.files, names, node)


def test_what_is_imported_by_a_name_that_is_chosen_as_it_runs(tmp_path: Path) -> None:
    (tmp_path / "apps" / "video").mkdir(parents=True)
    (tmp_path / "apps" / "video" / "train.py").write_text("import torch\n\ndef main():\n    here()\n")
    entry = tmp_path / "main.py"
    entry.write_text(
        "from importlib import import_module\nimport torch\n\nimport_module(f'apps.{input()}.train').main()\n"
    )
    facts = Facts(open_project([entry]))
    program = next(program for program in programs_of(facts) if program.entry.source.path == entry)
    names = next(names for names in facts.files if names.source.path.name == "train.py")
    (call,) = names.calls["here"]
    assert call_graph(facts).runs(program.entry, program.files, names, call)
