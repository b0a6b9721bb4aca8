"""What expressions may be: the same for any spelling, and never more than the program says."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent, indent

import pytest

from hvdkit.migrate.values.flow import Flow
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names
from hvdkit.source.project.opening import open_project


def probe(folder: Path, text: str, **files: str) -> tuple[Flow, Names, ast.expr]:
    """The flow of a project, its main file, and the argument of the call `probe(...)` in it."""
    for name, content in files.items():
        (folder / f"{name}.py").write_text(dedent(content))
    main = folder / "main.py"
    main.write_text(dedent(text))
    project = open_project([main])
    names = project.files[main]
    return Flow(project), names, names.calls["probe"][-1].args[0]


CASES = {
    "assignment": ("from m import M\nx = M()\nprobe(x)", {"m.M"}),
    "a default of the same name": ("from m import M\nx = M()\ndef f(x=x):\n    probe(x)\nf()", {"m.M"}),
    "alias": ("from m import M as N\nK = N\ny = x = K()\nprobe(y)", {"m.M"}),
    "either branch": ("import m\nx = m.A() if flag else m.B()\nprobe(x)", {"m.A", "m.B"}),
    "or": ("import m\nprobe(m.A() or m.B())", {"m.A", "m.B"}),
    "walrus": ("import m\nprobe(y := m.A())", {"m.A"}),
    "tuple": ("import m\nx, (y, z) = m.A(), (m.B(), m.C())\nprobe(z)", {"m.C"}),
    "list element": ("import m\nx = [m.A(), m.B()]\nprobe(x[1])", {"m.B"}),
    "any list element": ("import m\nx = [m.A(), m.B()]\nprobe(x[i])", {"m.A", "m.B"}),
    "loop over a list": ("import m\nfor x in [m.A(), m.B()]:\n    probe(x)", {"m.A", "m.B"}),
    "comprehension": ("import m\nfor x in [m.A() for _ in y]:\n    probe(x)", {"m.A"}),
    "class method": (
        "import m\nclass A:\n    def __init__(self):\n        self.f = m.M()\n"
        "    @classmethod\n    def read(cls):\n        return cls()\nprobe(A.read().f)",
        {"m.M"},
    ),
    "property": (
        "import m\nclass A:\n    def __init__(self):\n        self.made = m.M()\n"
        "    @property\n    def kept(self):\n        return self.made\nprobe(A().kept)",
        {"m.M"},
    ),
    "function of a property": (
        "import m\nclass A:\n    def run(self):\n        return m.M()\n"
        "    @property\n    def kept(self):\n        return self.run\nprobe(A().kept())",
        {"m.M"},
    ),
    "what a module has under a name": (
        "import m\ndef make(module, name):\n    return getattr(module, name)()\n"
        "make(m, 'B')\nprobe(make(m, 'A'))",
        {"m.?"},
    ),
    "attribute by its name": (
        "import m\nclass A:\n    def __init__(self):\n        self.f = m.M()\n"
        "probe(getattr(A(), 'f', m.N()))",
        {"m.M", "m.N"},
    ),
    "named tuple": (
        "import m\nfrom collections import namedtuple\nT = namedtuple('T', 'a b')\n"
        "def f():\n    return T(m.A(), b=m.B())\nprobe(f().b)",
        {"m.B"},
    ),
    "named tuple, unpacked": (
        "import m\nfrom collections import namedtuple\nT = namedtuple('T', ['a', 'b'])\n"
        "x, y = T(b=m.B(), a=m.A())\nprobe(x)",
        {"m.A"},
    ),
    "dict": ("import m\nx = {'a': m.A(), 'b': m.B()}\nprobe(x['b'])", {"m.B"}),
    "dict store": ("import m\nx = {}\nx['a'] = m.A()\nx['b'] = m.B()\nprobe(x['a'])", {"m.A"}),
    "dict comprehension": ("import m\nx = {k: m.A() for k in y}\nprobe(x['b'])", {"m.A"}),
    "with": ("import m\nwith m.A() as x:\n    probe(x)", {"m.A"}),
    "given back": (
        "import m\ndef f(a, b):\n    b = b.cuda()\n    return b\nf(1, m.A())\nprobe(f(2, m.B()))",
        {"m.B"},
    ),
    "given back, or another": (
        "import m\ndef f(a, b):\n    if a:\n        b = m.C()\n    return b\nf(1, m.A())\nprobe(f(2, m.B()))",
        {"m.A", "m.B", "m.C"},
    ),
    "returned": ("import m\ndef f():\n    return m.A()\nprobe(f())", {"m.A"}),
    "lambda": ("import m\nf = lambda: m.A()\nprobe(f())", {"m.A"}),
    "argument": ("import m\ndef f(a, b):\n    probe(b)\nf(1, m.A())", {"m.A"}),
    "a loop over keywords": (
        "import m\ndef f(a, **k):\n    for n, v in k.items():\n        probe(v)\nf(a=m.A(), b=m.B())",
        {"m.B"},
    ),
    "keyword": ("import m\ndef f(a, *, b=None):\n    probe(b)\nf(1, b=m.A())", {"m.A"}),
    "default": ("import m\ndef f(a=m.A()):\n    probe(a)\nf()", {"m.A"}),
    "partial": (
        "import m\nfrom functools import partial\ndef f(a, b):\n    probe(b)\npartial(f, 1, m.A())()",
        {"m.A"},
    ),
    "spawned": (
        "import m\nimport torch.multiprocessing as mp\n"
        "def f(rank, a):\n    probe(a)\nmp.spawn(f, args=(m.A(),))",
        {"m.A"},
    ),
    "process": (
        "import m\nfrom torch.multiprocessing import Process\n"
        "def f(a):\n    probe(a)\nProcess(target=f, args=(m.A(),))",
        {"m.A"},
    ),
    "attribute": (
        "import m\nclass C:\n    def __init__(self):\n        self.x = m.A()\n"
        "    def f(self):\n        probe(self.x)",
        {"m.A"},
    ),
    "attribute from outside": ("import m\nclass C: pass\nc = C()\nc.x = m.A()\nprobe(c.x)", {"m.A"}),
    "attribute of a base": (
        "import m\nclass B:\n    def __init__(self):\n        self.x = m.A()\nclass C(B): pass\nprobe(C().x)",
        {"m.A"},
    ),
    "given to the parent class": (
        "import m\nclass B:\n    def __init__(self, a):\n        self.x = a\n"
        "class C(B):\n    def __init__(self, a):\n        super().__init__(a)\nprobe(C(m.A()).x)",
        {"m.A"},
    ),
    "given to a parent class by its name": (
        "import m\nclass B:\n    def __init__(self, a):\n        self.x = a\n"
        "class C(B):\n    def __init__(self, a):\n        B.__init__(self, a)\nprobe(C(m.A()).x)",
        {"m.A"},
    ),
    "returned by a grandparent's method": (
        "import m\nclass A:\n    def f(self):\n        return m.A()\nclass B(A): pass\n"
        "class C(B):\n    def f(self):\n        return super(C, self).f()\nprobe(C().f())",
        {"m.A"},
    ),
    "given to a static method": (
        "import m\nclass C:\n    @staticmethod\n    def f(a, b):\n        probe(b)\nC.f(m.A(), m.B())",
        {"m.B"},
    ),
    "class attribute": ("import m\nclass C:\n    x = m.A()\nprobe(C.x)", {"m.A"}),
    "another class": (
        "import m\nclass C: pass\nclass D: pass\nc = C()\nc.x = m.A()\nd = D()\nd.x = m.B()\nprobe(d.x)",
        {"m.B"},
    ),
    "gives itself": ("import m\nx = m.A().to(d).cuda()\nprobe(x.eval())", {"m.A"}),
    "called instance": (
        "import m\nclass C:\n    def __call__(self, a):\n        probe(a)\nc = C()\nc(m.A())",
        {"m.A"},
    ),
    "decorated instance in an attribute": (
        "import m\nclass C:\n    def __call__(self, a):\n        probe(a)\n"
        "class D:\n    def __init__(self):\n        self.c = C()\n    def f(self):\n        self.c(m.A())",
        {"m.A"},
    ),
    "unpacked call": ("import m\nx, y = m.both()\nprobe(y)", {"m.both[1]"}),
    "amp.initialize": (
        "import m\nfrom apex import amp\nx, y = amp.initialize(m.A(), m.B())\nprobe(y)",
        {"m.B"},
    ),
    "unknown call": ("probe(what.ever())", {"?.ever"}),
    "circle": ("import m\nx = m.A()\nwhile x:\n    x = f(x)\ndef f(y):\n    return y\nprobe(x)", {"m.A"}),
    "chain without an end": ("import m\nx = m.A\nwhile x:\n    x = x.next\nprobe(x())", None),
    "positions without an end": ("import m\nx = m.A()\nwhile x:\n    x, y = x\nprobe(x)", None),
    "positions that double": (
        "import m\nx, y = m.both()\nwhile x:\n    x, y = f(y, x)\n"
        "def f(a, b):\n    return a if flag else (a, b)\nprobe(x)",
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values(case: str, tmp_path: Path) -> None:
    text, expected = CASES[case]
    flow, names, node = probe(tmp_path, text)
    made = flow.made(names, node)
    if expected is None:
        assert 0 < len(made) < 20
    else:
        assert made == expected


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case][1]])
def test_renamed_variables_change_nothing(case: str, tmp_path: Path) -> None:
    text, expected = CASES[case]
    tree = ast.parse(text)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound -= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    bound -= {
        "m",
        "M",
        "N",
        "mp",
        "amp",
        "partial",
        "Process",
        "probe",
        "what",
        "getattr",
        "classmethod",
        "staticmethod",
        "super",
        "namedtuple",
        "property",
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in bound:
            node.id = f"loader_{node.id}"
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in bound:
            node.name = f"loader_{node.name}"
        elif isinstance(node, (ast.arg, ast.keyword)) and node.arg in bound:
            node.arg = f"loader_{node.arg}"
    flow, names, node = probe(tmp_path, ast.unparse(tree))
    assert flow.made(names, node) == expected


def test_through_files(tmp_path: Path) -> None:
    flow, names, node = probe(
        tmp_path,
        "from models import *\nimport helper as h\nprobe(h.wrap(build()))",
        models="from m import A\ndef build():\n    return A()\n",
        helper="def wrap(x):\n    return x\n",
    )
    assert flow.made(names, node) == {"m.A"}
    assert [str(where.source.path.name) for where, _ in _sites(flow, names, "wrap")] == ["main.py"]


def test_a_file_named_like_its_folder_and_its_function(tmp_path: Path) -> None:
    folder = tmp_path / "Unet"
    folder.mkdir()
    flow, names, node = probe(
        folder, "from Unet import Unet\nprobe(Unet())", Unet="from m import A\ndef Unet():\n    return A()\n"
    )
    assert flow.made(names, node) == {"m.A"}


def test_a_name_that_a_package_gives_hides_its_file_of_that_name(tmp_path: Path) -> None:
    folder = tmp_path / "core"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .launch import launch\n")
    (folder / "launch.py").write_text("from m import A\ndef launch():\n    return A()\n")
    flow, names, node = probe(tmp_path, "from core import launch\nprobe(launch())")
    assert flow.made(names, node) == {"m.A"}


@pytest.mark.parametrize("asked", ["'run.make'", "asked"])
def test_a_file_that_is_imported_by_a_name_that_is_written_out(asked: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "make.py").write_text("from m import A\ndef build():\n    return A()\n")
    text = f"import importlib\nasked = 'run.make'\nmade = importlib.import_module({asked})\n"
    flow, names, node = probe(tmp_path, f"{text}probe(getattr(made, 'build')())")
    assert flow.made(names, node) == {"m.A"}


@pytest.mark.parametrize(
    "asked", ["f'run.{name}'", "'run.' + name", "'run.{}'.format(name)", "'run.%s' % name"]
)
def test_files_that_are_imported_by_a_name_that_is_chosen_as_it_runs(asked: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for name, made in (("one", "A"), ("two", "B")):
        text = f"import torch\nfrom m import {made}\ndef build():\n    return {made}()\n"
        (tmp_path / "run" / f"{name}.py").write_text(text)
    text = f"import importlib\nname = input()\nmade = importlib.import_module({asked})\n"
    flow, names, node = probe(tmp_path, f"{text}probe(made.build())")
    assert flow.made(names, node) == {"m.A", "m.B"}


def _sites(flow: Flow, names: Names, name: str) -> list[tuple[Names, ast.Call]]:
    for other in flow.project.files.values():
        for binding in other.module.names.get(name, ()):
            if isinstance(binding.node, ast.FunctionDef):
                return flow.call_sites(other, binding.node)
    raise AssertionError(name)


def test_what_another_file_puts_into_a_module(tmp_path: Path) -> None:
    (tmp_path / "comm.py").write_text("GROUP = None\n\ndef group():\n    return GROUP\n")
    flow, names, node = probe(tmp_path, "import m\nimport comm\ncomm.GROUP = m.M()\nprobe(comm.group())")
    assert flow.made(names, node) == {"m.M"}


def test_a_function_that_a_function_gives_is_called_by_another_name(tmp_path: Path) -> None:
    text = (
        "import m\ndef make(scale):\n    def step(state):\n        probe(state['net'])\n    return step\n"
        "train = make(2)\ntrain(dict(net=m.M(), count=m.N()))\n"
    )
    flow, names, node = probe(tmp_path, text)
    assert flow.made(names, node) == {"m.M"}
    function = names.function(node)
    assert function is not None
    assert [call.lineno for _, call in flow.call_sites(names, function)] == [7]


def test_what_a_dict_is_made_with_by_keyword(tmp_path: Path) -> None:
    flow, names, node = probe(tmp_path, "import m\nparts = dict(net=m.M(), other=m.N())\nprobe(parts[key()])")
    assert flow.made(names, node) == {"m.M", "m.N"}


def test_stored(tmp_path: Path) -> None:
    flow, names, node = probe(tmp_path, "class C: pass\nc = C()\nc.x = 1\nc.x = 2\nprobe(c.x)")
    assert isinstance(node, ast.Attribute)
    assert [ast.literal_eval(b.value) for _, b in flow.stored(names, node) if b.value] == [1, 2]
    flow, names, node = probe(tmp_path, "probe(c.x)")
    assert isinstance(node, ast.Attribute)
    assert flow.stored(names, node) == []


def test_a_knot_of_mutual_calls_is_answered_in_reasonable_work(tmp_path: Path) -> None:
    """40 functions that all call each other and store under one key: exponential if walked path by path."""
    functions = "".join(
        f"def f{i}(x, y):\n    y.k = x\n"
        + "".join(f"    f{j}(y.k, x)\n" for j in range(40) if j != i)
        + "    return y if x else y\n"
        for i in range(40)
    )
    flow, names, node = probe(tmp_path, f"import m\n{functions}f0(m.A(), m.B())\nprobe(f7(m.C(), m.D()))")
    assert flow.made(names, node) == {"m.A", "m.C", "m.D"}


MADE_FOR_CALLERS = {
    "by branches": """\
        def make(model, kind):
            if kind:
                optimizer = optim.SGD(model)
            else:
                optimizer = optim.Adam(model)
            return optimizer
        """,
    "through another function": """\
        def inner(model):
            return optim.SGD(model)
        def make(model, kind):
            optimizer = inner(model)
            return optimizer
        """,
    "a class of its own": """\
        class Own(optim.Optimizer):
            pass
        def make(model, kind):
            return Own(model)
        """,
}
KEPT = {
    "in a list": "    optimizer = optim.SGD(model)\n    KNOWN.append(optimizer)\n    return optimizer\n",
    "made elsewhere": "    return GLOBAL\nGLOBAL = optim.SGD(everything)\n",
    "what it is given": "    return model\n",
}


def two_calls(folder: Path, function: str) -> list[frozenset[Value]]:
    """What two calls of a function `make` give."""
    calls = "a = make(optim.SGD(x), 1)\nb = make(a, 2)\nprobe((a, b))"
    text = f"from torch import optim\n{dedent(function)}\n{calls}"
    flow, names, node = probe(folder, text)
    assert isinstance(node, ast.Tuple)
    return [flow.values(names, item) for item in node.elts]


@pytest.mark.parametrize("case", MADE_FOR_CALLERS)
def test_calls_that_make_an_optimizer_each_are_told_apart(case: str, tmp_path: Path) -> None:
    one, other = two_calls(tmp_path, MADE_FOR_CALLERS[case])
    told = {value for value in one | other if value.call is not None}
    assert len({value.call for value in told}) == 2
    assert one & told and other & told and not one & other & told


@pytest.mark.parametrize("case", KEPT)
def test_calls_that_may_give_the_same_optimizer_are_not(case: str, tmp_path: Path) -> None:
    one, other = two_calls(tmp_path, f"def make(model, kind):\n{KEPT[case]}")
    assert one == other
    assert {value.call for value in one} == {None}


def test_what_a_helper_wraps_is_what_its_call_gives(tmp_path: Path) -> None:
    text = """\
        import m
        from torch.nn.parallel import DistributedDataParallel

        def bare(net):
            return net.module

        def wrap(net, gpu):
            net = net.to(gpu)
            net = DistributedDataParallel(net)
            return net

        a = wrap(m.A(), 0)
        b = wrap(m.B(), 1)
        probe((a, bare(b)))
        """
    flow, names, node = probe(tmp_path, dedent(text))
    assert isinstance(node, ast.Tuple)
    inside = [flow.unwrap(flow.values(names, item)) for item in node.elts]
    assert [{value.name for value in values} for values in inside] == [{"m.A"}, {"m.B"}]


def test_results_that_say_nothing_are_told_apart_up_to_a_number(tmp_path: Path) -> None:
    calls = "\n".join(f"x = anything.part_{number}()" for number in range(120))
    give = f"def give(anything):\n{indent(calls, '    if flag: ')}\n    return x\n"
    text = f"import m\n{give}x = m.M()\nprobe(give(0) or x)"
    flow, names, node = probe(tmp_path, text)
    assert {value.name for value in flow.values(names, node)} == {"?", "m.M"}
