"""What docs/architecture.md says holds: its layers and invariants, and everything it names exists.

The import graph of the whole of hvdkit is built from its files: no cycle, and no arrow that points up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import hvdkit
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Place

ROOT = Path(hvdkit.__file__).parent
PAGE = ROOT.parent / "docs" / "architecture.md"
FRAMEWORKS = {"torch", "tensorflow", "keras", "horovod"}
Graph = dict[str, set[str]]
LINES, LINES_OF_RULE = 400, 200


def name_of(path: Path) -> str:
    """The dotted name of a module's file."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """The modules of hvdkit that a file names in imports, wherever they stand: for type checking, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "hvdkit writes its imports out"
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in modules else node.module or ""


@cache
def all_imports() -> Graph:
    """Each module of hvdkit, and all that it imports."""
    trees = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
    return {name: {*imports(tree, {*trees})} for name, tree in trees.items()}


def import_graph() -> Graph:
    """Each module of hvdkit, and those of hvdkit that it imports."""
    found = all_imports()
    return {name: imported & {*found} - {name} for name, imported in found.items()}


def cycle(graph: Graph) -> list[str]:
    """Modules that import each other in a cycle, in that order; none where there is no cycle."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        if name not in done:
            for other in sorted(graph[name]):
                if found := walk(other, [*way, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := walk(name, []))), [])


def test_a_cycle_is_seen() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def test_no_import_cycles() -> None:
    assert cycle(import_graph()) == []


def layers() -> list[str]:
    """The folders of hvdkit/migrate in the order in which docs/architecture.md names them, lowest first."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [row.replace("/", ".") for row in re.findall(r"(?m)^\| `([\w/]+)` \|", text)]
    return [f"hvdkit.{row}" if row.startswith("source.") else f"hvdkit.migrate.{row}" for row in rows]


def layer_of(module: str, order: list[str]) -> str | None:
    """The folder that a module lies in, the innermost of those that are named."""
    return max((s for s in order if f"{module}.".startswith(f"{s}.")), key=len, default=None)


def upward(graph: Graph, order: list[str]) -> Iterator[tuple[str, str]]:
    """The imports of what lies in a layer above."""
    for module, imported in graph.items():
        own = layer_of(module, order)
        for other in imported if own is not None else ():
            above = layer_of(other, order)
            if above is not None and own is not None and order.index(above) > order.index(own):
                yield module, other


# Each has the other's: hvdkit.keras runs on TensorFlow, and hvdkit.tensorflow is for Keras.
ONE_ROOM = {"hvdkit.keras": "hvdkit.tensorflow"}


def between_folders(graph: Graph) -> Graph:
    """Each folder of hvdkit, and those that it imports."""
    found: Graph = {}
    for module, imported in graph.items():
        own, *others = (".".join(each.split(".")[:2]) for each in (module, *imported))
        own = ONE_ROOM.get(own, own)
        if (ROOT.parent / own.replace(".", "/")).is_dir():
            found.setdefault(own, set()).update({ONE_ROOM.get(other, other) for other in others} - {own})
    return {folder: others & {*found} for folder, others in found.items()}


def test_no_arrow_between_folders_runs_back_up() -> None:
    folders = between_folders(import_graph())
    assert len(folders) > 20
    assert cycle(folders) == []


def test_an_arrow_that_points_up_is_seen() -> None:
    graph = {"low.one": {"high.inner.two"}, "high.three": {"low.one"}, "high.inner.two": {"high.three"}}
    assert [*upward(graph, ["low", "high", "high.inner"])] == [("low.one", "high.inner.two")]


def test_imports_point_down() -> None:
    assert [*upward(import_graph(), layers())] == []


def test_every_layer_is_a_folder_and_every_folder_of_facts_a_layer() -> None:
    order = layers()
    assert [s for s in order if not (ROOT.parent / s.replace(".", "/") / "__init__.py").exists()] == []
    facts = {path.parent for path in (ROOT / "migrate" / "facts").rglob("*.py")}
    assert {name_of(folder / "__init__.py") for folder in facts} <= {*order}


def below(module: str, *packages: str) -> bool:
    """Whether a module lies in one of these packages of hvdkit."""
    return f"{module}.".startswith(tuple(f"hvdkit.{package}." for package in packages))


def test_only_the_report_gives_findings_lines() -> None:
    assert not {"line", "column", "lineno"} & {
        field.name for kind in (Finding, Place) for field in fields(kind)
    }
    making = [
        name_of(path)
        for path in ROOT.rglob("*.py")
        if re.search(r"\bReported\(", path.read_text(encoding="utf-8").replace("class Reported(", ""))
    ]
    assert making == ["hvdkit.migrate.report.locations"]


def test_the_paper_job_is_below_all_commands() -> None:
    own = ("job", "library", "conditions")
    asked = {
        other
        for name, imported in import_graph().items()
        if below(name, *own)
        for other in imported
        if not below(other, *own)
    }
    assert asked == {"hvdkit.dataclass"}


def test_what_reads_code_imports_no_framework() -> None:
    packages = ("source", "migrate", "check", "explain", "job", "library", "conditions")
    found = {name: imported for name, imported in all_imports().items() if below(name, *packages)}
    assert len(found) > 300
    assert [name for name in found if {each.partition(".")[0] for each in found[name]} & FRAMEWORKS] == []
    helpers = ("torch", "tensorflow", "keras")  # hvdkit's own import theirs
    assert [name for name in found if any(below(each, *helpers) for each in found[name])] == []


def test_what_reads_code_defines_its_classes_late() -> None:
    """hvdkit.dataclass says why: small files are migrated in half the time."""
    early = re.compile(r"^(from dataclasses import .*\bdataclass\b|import dataclasses)", re.MULTILINE)
    paths = [
        path
        for folder in ("source", "migrate", "check", "job", "conditions")
        for path in (ROOT / folder).rglob("*.py")
    ]
    assert [path for path in paths if early.search(path.read_text(encoding="utf-8"))] == []


def test_all_that_the_page_links_to_is_there() -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE.read_text(encoding="utf-8"))
    assert len(targets) > 30
    assert [target for target in targets if not (PAGE.parent / target).exists()] == []


def test_every_invariant_has_its_test() -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## Invariants\n")
    invariants = re.split(r"(?m)^- ", rest.partition("\n## ")[0])[1:]
    assert len(invariants) > 5
    for invariant in invariants:
        named = re.findall(r"`(tests/\S+\.py)::(\w+)`", invariant)
        assert named, f"no test holds: {invariant}"
        for file, test in named:
            assert f"def {test}(" in (ROOT.parent / file).read_text(encoding="utf-8"), f"{file} has no {test}"


def too_long(lengths: dict[str, int]) -> dict[str, int]:
    """The files that have more lines than a file may have, a rule fewer than any other."""
    rule = re.compile(r"rules/hvd\d+_\w+\.py$")
    return {
        name: lines
        for name, lines in lengths.items()
        if lines > (LINES_OF_RULE if rule.search(name) else LINES)
    }


def test_a_file_that_is_too_long_is_seen() -> None:
    lengths = {"rules/hvd101_init.py": 201, "rules/hvd103_topology.py": 200, "a.py": 401, "b.py": 400}
    assert {*too_long(lengths)} == {"rules/hvd101_init.py", "a.py"}


def test_no_file_is_too_long() -> None:
    paths = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in paths.items()}
    assert too_long(lengths) == {}


# What ast has since Python 3.10. vermin holds the rest of the library to the oldest Python.
LATER_NODES = re.compile(
    r"Match\w*|match_\w+|TryStar|TypeAlias|TypeVar(?:Tuple)?|ParamSpec|TemplateStr|Interpolation"
)


def test_nodes_that_the_oldest_python_lacks_are_named_below_a_version_test_alone() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in ROOT.rglob("*.py")
        for tree in (ast.parse(path.read_bytes()),)
        for node in _outside_version_tests(tree)
        if isinstance(node, ast.Attribute) and LATER_NODES.fullmatch(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id == "ast"
    ]
    assert named == []


def _outside_version_tests(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a tree that run under every Python: not those behind `sys.version_info >= ... and`."""
    yield node
    if isinstance(node, (ast.If, ast.IfExp, ast.BoolOp)) and "sys.version_info" in ast.unparse(node):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside_version_tests(child)
