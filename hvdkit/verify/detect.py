"""How a script expects to be started, read from its code: the facts that choose a launcher, and no others."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.files import read_file
from hvdkit.shell import word
from hvdkit.source.notebook import NOTEBOOK, program_of
from hvdkit.source.project.files import Project
from hvdkit.verify.warm.pool import READ_BY_TENSORFLOW

RANK_VARIABLES = {"RANK", "LOCAL_RANK", "WORLD_SIZE"}
SPAWNS = ("spawn", "start_processes")
STRATEGIES = ("MirroredStrategy", "MultiWorkerMirroredStrategy")
HOROVOD = ("hvdkit.torch", "hvdkit.tensorflow", "hvdkit.tensorflow.keras", "hvdkit.keras")
PLAIN = {"LARS"}  # of hvdkit.torch: an ordinary optimizer, in a DDP script as well
LOCAL_RANK_FLAGS = ("--local-rank", "--local_rank")
# A program with none of these in it does the same on whatever host its ranks are.
PLACE = re.compile(r"local_?(rank|size)|cross_?(rank|size)|cuda|device|gpu|nccl|hostname", re.IGNORECASE)


class ScriptError(HvdkitError):
    """The script cannot be read or parsed."""


class Launcher(Enum):
    """Who makes the ranks."""

    TORCHRUN = "torchrun"
    MPI = "mpirun"
    SPAWN = "its own processes"
    SINGLE = "plain python"
    STRATEGY = "a tf.distribute strategy"
    HOROVOD = "horovodrun"


@dataclass(frozen=True)
class Start:
    """launcher: who makes the ranks. local_rank_flag: the option through which each learns its local rank.
    tensorflow: the script trains with TensorFlow or Keras."""

    launcher: Launcher
    local_rank_flag: str = ""
    tensorflow: bool = False


def read_tree(path: Path) -> ast.Module:
    """Parse a script, or the program of a notebook. Raises when it is missing, unreadable or not Python."""
    try:
        text = program_of(path) if path.suffix == NOTEBOOK else read_file(path)
        return ast.parse(text, filename=str(path))
    except OSError as error:
        raise ScriptError(f"{path}: {error.strerror}", fix="name two scripts that exist") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise ScriptError(
            f"{path}{f', line {line}' if line else ''}: not Python: {getattr(error, 'msg', error)}",
            fix=f"make `python -m py_compile {word(path)}` succeed",
        ) from error


def how_to_start(path: Path, loaded: Iterable[Path] = ()) -> Start:
    """Read from a script and the modules of its project how it is started.

    loaded: further modules, which a run of the script has imported.
    """
    trees = dict(modules_of(path))
    trees.update((file, read_tree(file)) for file in loaded if file not in trees)
    text = set().union(*(set(_traits(tree)) for tree in trees.values()))
    flag = next((flag for flag in LOCAL_RANK_FLAGS if flag in text), "")
    tensorflow = "tensorflow" in text
    if "horovod" in text:
        return Start(Launcher.HOROVOD, tensorflow=tensorflow)
    if "spawn" in text:
        return Start(Launcher.SPAWN)
    if "mpi4py" in text:
        return Start(Launcher.MPI)
    if flag or "process group" in text or RANK_VARIABLES & text:
        return Start(Launcher.TORCHRUN, flag)
    if tensorflow and "strategy" in text:
        return Start(Launcher.STRATEGY, tensorflow=True)
    return Start(Launcher.SINGLE, tensorflow=tensorflow)


def framework_of(path: Path) -> str | None:
    """`torch` or `tensorflow`, if a script or a module of its project imports it or its Horovod."""
    nodes = (node for _, tree in modules_of(path) for node in ast.walk(tree))
    parts = {part for node in nodes for name in _imported_by(node) for part in name.split(".")[:2]}
    # Not for keras alone, which may run on another backend.
    return next((framework for framework in ("torch", "tensorflow") if framework in parts), None)


def warmed_framework(path: Path) -> str | None:
    """The framework of a script whose ranks may be forked from a process that has imported it.

    A script that sets what TensorFlow or Keras read while they are imported imports them itself.
    """
    framework = framework_of(path)
    if framework == "tensorflow" and any(
        named.startswith(READ_BY_TENSORFLOW) and named != "TF_CPP_MIN_LOG_LEVEL"
        for _, tree in modules_of(path)
        for named in _words(tree)
    ):
        return None
    return framework


def reads_place(path: Path) -> bool:
    """Whether a script or a module of its project may ask what differs by host: local rank, device, name."""
    return any(PLACE.search(word) for _, tree in modules_of(path) for word in _words(tree))


def _words(tree: ast.Module) -> Iterator[str]:
    """Names, and texts that are one word: no sentences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            yield node.value
        elif isinstance(node, (ast.Name, ast.Attribute, ast.arg, ast.keyword, ast.alias)):
            yield next(
                getattr(node, key) or "" for key in ("id", "attr", "arg", "name") if hasattr(node, key)
            )


def imports_own_package(path: Path) -> bool:
    """Whether a script imports from the package that it lies in, which takes `python -m package.script`."""
    package = path.parent.name
    beside = any(path.parent.joinpath(name).exists() for name in (package, f"{package}.py"))
    for node in ast.walk(read_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            return True
        if not beside and package in {name.split(".")[0] for name in _imported_by(node)}:
            return True
    return False


def _traits(tree: ast.Module) -> Iterator[str]:
    """What in this module speaks for a launcher; mpi4py where importing the module is enough to start it."""
    yield from (
        "mpi4py" for node in tree.body for name in _imported_by(node) if name.split(".")[0] == "mpi4py"
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ("horovod" for alias in node.names if _is_horovod(alias.name))
            yield from ("tensorflow" for alias in node.names if _is_tensorflow(alias.name))
        elif isinstance(node, ast.ImportFrom) and _is_horovod(node.module or ""):
            yield from ("horovod" for alias in node.names if alias.name not in PLAIN)
        elif isinstance(node, ast.ImportFrom) and _is_tensorflow(node.module or ""):
            yield "tensorflow"
        elif isinstance(node, ast.Call):
            name = _last_name(node.func)
            if name == "init_process_group":
                yield "process group"
            elif name in STRATEGIES:
                yield "strategy"
            elif name in SPAWNS or (name == "Process" and any(key.arg == "target" for key in node.keywords)):
                yield "spawn"
        elif isinstance(node, ast.Constant) and node.value in (*RANK_VARIABLES, *LOCAL_RANK_FLAGS):
            yield str(node.value)


def _is_horovod(module: str) -> bool:
    return module.split(".")[0] == "horovod" or module in HOROVOD


def _is_tensorflow(module: str) -> bool:
    return module.split(".")[0] in ("tensorflow", "keras")


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def modules_of(path: Path) -> Iterator[tuple[Path, ast.Module]]:
    """A script, and the modules of its project that it imports, directly or through each other.

    Importing a module runs the `__init__.py` of each package that it is in.
    """
    yield path, read_tree(path)
    project = Project(given=(path,))
    todo = deque([project.load(path)])
    seen = {path}
    while todo:
        names = todo.popleft()
        imported = [module.source.path for module in project.imports(names)] if names else []
        for file in (each for path in imported for each in (path, *_packages(path))):
            if file in seen:
                continue
            seen.add(file)
            module = project.load(file)
            if module:
                todo.append(module)
                yield file, module.source.tree


def _packages(path: Path) -> Iterator[Path]:
    """The `__init__.py` of each package that a module is in."""
    for folder in path.parents:
        init = folder / "__init__.py"
        if not init.is_file():
            return
        yield init


def _imported_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
