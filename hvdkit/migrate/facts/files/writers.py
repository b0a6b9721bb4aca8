"""Calls that write files, and which processes reach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts.code.callers import on_every_way
from hvdkit.migrate.facts.code.pure import only_computes
from hvdkit.migrate.facts.data.sample_code import named_by_sample, prepares_data, reads_sample
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.files.images import is_image
from hvdkit.migrate.facts.files.vocabulary import (
    ARCHIVES,
    COPIES,
    DATA,
    DUMPS,
    FIGURES,
    LOGS,
    OPEN,
    OPENS,
    SAVES,
    TABLES,
)
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.paper_runs import (
    ranks_that_come,
    ranks_write_apart,
    writes_its_own,
)
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.values.arguments import given, keyword, passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names

# What gives something, and changes what it is asked of.
_CHANGES = frozenset(
    (
        "append",
        "backward",
        "extend",
        "input",
        "load_state_dict",
        "load_weights",
        "next",
        "pop",
        "popitem",
        "popleft",
        "step",
    )
)
_RANDOM = ("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "numpy.random.", "random.")
MAX_CALLERS = 4
IN_MEMORY = frozenset(("io.BytesIO", "io.StringIO", "tempfile.TemporaryFile"))

OF_ONE_PROCESS = frozenset(
    (
        "os.getpid",
        "tempfile.NamedTemporaryFile",
        "tempfile.TemporaryDirectory",
        "tempfile.mkdtemp",
        "tempfile.mkstemp",
    )
)


@dataclass(frozen=True)
class Writer:
    """One call that writes. log: it makes an object that goes on writing (SummaryWriter, wandb.init).

    opened: the `with open(...)` around it that makes the file. taken: all ranks may read it later:
    a sound, or a copy of what came from elsewhere. path: where such a one is written.
    """

    names: Names
    node: ast.Call
    name: str
    where: Where
    log: bool = False
    opened: ast.With | None = None
    taken: bool = False
    path: ast.expr | None = None


@once
def writers(facts: Facts) -> list[Writer]:
    """Every call that writes a file that other ranks would write, too; each rank reads samples of its own.

    What a data set prepares the others find, where one process of a host makes it first (HVD300).
    """
    return [
        replace(w, where=_narrowed(facts, w))
        for w in _written(facts)
        if not reads_sample(facts, w.names, w.node) and not prepares_data(facts, w.names, w.node)
        if not writes_its_own(facts, w.names, w.node)
    ]


def _narrowed(facts: Facts, writer: Writer) -> Where:
    """The processes that come to a writer: fewer than the tests around it show, if the paper job saw it."""
    if writer.where is Where.RANK_0:
        return writer.where
    ranks = ranks_that_come(facts, writer.names, writer.node)
    alone = ranks is not None and len(ranks) <= 1
    return Where.RANK_0 if alone or ranks_write_apart(facts, writer.names, writer.node) else writer.where


def _written(facts: Facts) -> Iterator[Writer]:
    for log, table in ((False, SAVES), (True, LOGS)):
        for site in facts.calls(*table):
            position, parameter = table[site.name]
            target = given(site.node, position, parameter)
            if target is not None and _of_one_rank(facts, site.names, target):
                continue
            where = where_runs(facts, site.names, site.node)
            mode = keyword(site.node, "mode") if log else None
            if mode is not None and rank_kinds(facts).inside(site.names, mode, "rank"):
                where = Where.RANK_0  # `mode=None if hvd.rank() == 0 else "disabled"`
            opened = _opened(site.names, site.node, target)
            yield Writer(site.names, site.node, site.name, where, log, opened)
    for site in facts.calls(*DATA):
        target = given(site.node, *DATA[site.name])
        if target is not None and not _of_one_rank(facts, site.names, target):
            where = where_runs(facts, site.names, site.node)
            yield Writer(site.names, site.node, site.name, where, taken=True, path=target)
    for names, call, owner in own_logs(facts):
        yield Writer(names, call, owner.name, where_runs(facts, names, call), log=True)
    yield from _by_methods(facts)
    yield from _archives(facts)
    yield from _copies(facts)
    yield from _opens(facts)


@once
def own_logs(facts: Facts) -> list[tuple[Names, ast.Call, ast.ClassDef]]:
    """The calls that make an object of a class of the project's which derives from such a log."""
    return [
        (where, call, owner)
        for names in facts.files
        for owner in names.of_kind(ast.ClassDef)
        if owner.bases and LOGS.keys() & facts.flow.bases(Value("class", owner.name, owner, names))
        for where in facts.files
        for call in where.calls.get(owner.name, ())
        if any(value.node is owner for value in facts.flow.values(where, call.func))
    ]


def _by_methods(facts: Facts) -> Iterator[Writer]:
    """What figures, tables and images write themselves."""
    for method, place in (*FIGURES.items(), *TABLES.items(), ("save", (0, "fp"))):
        for names, call, receiver in facts.methods(method):
            target = given(call, *place)
            if target is None or (isinstance(target, ast.Constant) and not isinstance(target.value, str)):
                continue
            if method == "save" and not any(is_image(facts, v) for v in facts.flow.values(names, receiver)):
                continue
            if not _of_one_rank(facts, names, target):
                where = where_runs(facts, names, call)
                yield Writer(names, call, method, where, taken=method not in FIGURES, path=target)


def _archives(facts: Facts) -> Iterator[Writer]:
    """What opens a file of a library's own kind to write into it."""
    for site in facts.calls(*ARCHIVES):
        target, mode = given(site.node, *ARCHIVES[site.name]), given(site.node, 1, "mode")
        writes = isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+")
        if target is not None and writes and not _of_one_rank(facts, site.names, target):
            where = where_runs(facts, site.names, site.node)
            yield Writer(site.names, site.node, site.name, where, taken=True)


def _of_one_rank(facts: Facts, names: Names, path: ast.expr) -> bool:
    """Whether one rank alone has a file: also one that a distributed script names after a sample."""
    drawn = not only_single(facts, names) and named_by_sample(facts, names, path)
    return drawn or own_file(facts, names, path)


def _copies(facts: Facts) -> Iterator[Writer]:
    """Copies: of a file that the same function saves the others would come too early, where rank 0 saves.

    Source that is kept with the results is read by a person, where no import looks for it.
    """
    saved = {
        (site.names, site.names.function(site.node), ast.dump(target))
        for site in facts.calls(*SAVES)
        if (target := given(site.node, *SAVES[site.name])) is not None
    }
    for site in facts.calls(*COPIES):
        names, copied = site.names, given(site.node, 0, "src")
        if copied is not None:
            found = (names, names.function(site.node), ast.dump(copied)) in saved
            where = where_runs(facts, names, site.node)
            taken = not found and not _is_kept_source(facts, site, copied)
            to = given(site.node, 1, "dst")
            yield Writer(names, site.node, site.name, where, taken=taken, path=to)


def _is_kept_source(facts: Facts, site: Site, copied: ast.expr) -> bool:
    """Whether a copy is one of a Python file, to a folder that is not put on sys.path."""
    texts = [part.value for part in ast.walk(copied) if isinstance(part, ast.Constant)]
    if not texts or not str(texts[-1]).endswith(".py") or not site.name.startswith("shutil.copy"):
        return False
    to = given(site.node, 1, "dst")
    folders = {part.id for part in ast.walk(to) if isinstance(part, ast.Name)} if to is not None else set()
    searched = facts.calls("sys.path.append", "sys.path.insert")
    return not any(
        part.id in folders
        for search in searched
        for part in ast.walk(search.node)
        if isinstance(part, ast.Name)
    )


def _opens(facts: Facts) -> Iterator[Writer]:
    """`open(path, "w")` that no call above writes into, and what is dumped into one."""
    filled = {
        id(item.context_expr)
        for site in facts.calls(*SAVES)
        for parent in site.names.ancestors(site.node)
        if isinstance(parent, ast.With)
        for item in parent.items
    }
    dumped = {
        id(item.context_expr): site
        for site in facts.calls(*DUMPS)
        if (opened := _opened(site.names, site.node, given(site.node, *DUMPS[site.name]))) is not None
        for item in opened.items
    }
    for names in facts.files:
        for call in names.calls.get(OPEN, ()):
            path, mode = path_and_mode(names, call)
            if path is None or id(call) in filled or not isinstance(mode, ast.Constant):
                continue
            if set(str(mode.value)) & set("wax") and not own_file(facts, names, path):
                where, dump = where_runs(facts, names, call), dumped.get(id(call))
                if dump is None:
                    yield Writer(names, call, OPEN, where)
                else:
                    target = given(dump.node, *DUMPS[dump.name])
                    yield Writer(names, dump.node, dump.name, where, opened=_opened(names, dump.node, target))


def is_target(names: Names, call: ast.Call, path: ast.AST) -> bool:
    """Whether a call writes a file, and a path is the one that it writes to."""
    places = [table[name] for table in (SAVES, DATA) for name in names.qualified(call.func) if name in table]
    if isinstance(call.func, ast.Attribute) and not names.qualified(call.func):
        places += [table[call.func.attr] for table in (FIGURES, TABLES) if call.func.attr in table]
    return any(given(call, *place) is path for place in places)


def path_and_mode(names: Names, call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """Of `open(path, "w")`, and of a Path's `path.open("w")`; neither, of another call."""
    if OPENS.intersection(names.qualified(call.func)):
        return (call.args[0] if call.args else None), given(call, 1, "mode")
    if OPEN not in (getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
        return None, None
    if isinstance(call.func, ast.Name):
        own = not names.bindings(OPEN, call)
        return (call.args[0] if own and call.args else None), given(call, 1, "mode")
    mode = given(call, 0, "mode")
    is_mode = isinstance(mode, ast.Constant) and set(str(mode.value)) <= set("wax+bt")
    if not is_mode or not isinstance(call.func, ast.Attribute) or names.qualified(call.func):
        return None, None
    return call.func.value, mode


def _opened(names: Names, call: ast.Call, target: ast.expr | None) -> ast.With | None:
    """The `with open(...) as f` around a call that writes to f."""
    for parent in names.ancestors(call):
        if isinstance(parent, ast.With) and isinstance(target, ast.Name):
            for item in parent.items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == target.id:
                    return parent
    return None


def unguarded_writers(facts: Facts) -> Iterator[Writer]:
    """The writers that more than one process would run."""
    return (writer for writer in writers(facts) if writer.where is Where.ALL)


def whole_statement(facts: Facts, writer: Writer) -> ast.stmt | None:
    """The statement that only writes: the call, or the `with open(...)` around it and nothing else."""
    names, call = writer.names, writer.node
    statement = names.statement(call)
    if not isinstance(statement, ast.Expr) or statement.value is not call or writer.name == OPEN:
        return None
    if writer.taken or needed_everywhere(facts, names, call):
        return None
    if writer.name in DUMPS and not _ends_program(facts, names, writer.opened or statement):
        return None
    if writer.opened is None:
        return statement
    return writer.opened if writer.opened.body == [statement] else None


def _ends_program(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether nothing runs after a statement that could read its file: it is last in what is called last."""

    def at(where: Names, place: ast.AST) -> bool | None:
        last = where.statement(place)
        while edits.block(where, last)[-1] is last:
            parent = where.parents[last]
            if isinstance(parent, ast.Module):
                return True
            if isinstance(parent, FUNCTIONS):
                return None
            if not isinstance(parent, ast.If):
                return False
            last = parent
        return False

    return on_every_way(facts, names, statement, at)


def own_file(facts: Facts, names: Names, target: ast.expr, depth: int = 0) -> bool:
    """Whether what is written is memory, a file of one process, or a path with a rank, the local one too."""
    if "os.devnull" in names.qualified(target):
        return True
    in_memory = bool(facts.flow.made(names, target) & IN_MEMORY)
    ranked = any(rank_kinds(facts).inside(names, target, kind) for kind in ("rank", "local_rank"))
    if in_memory or ranked or _of_one_process(facts, names, target):
        return True
    known = _kept(facts, names, target) if depth < MAX_CALLERS else []
    return bool(known) and all(own_file(facts, *path, depth + 1) for path in known)


def _kept(facts: Facts, names: Names, path: ast.expr) -> list[tuple[Names, ast.expr]]:
    """The paths that an attribute keeps, or a parameter is given."""
    if isinstance(path, ast.Attribute):
        stored = [(where, binding.value) for where, binding in facts.flow.stored(names, path)]
        return [(where, value) for where, value in stored if isinstance(value, ast.expr)]
    if isinstance(path, ast.Name) and all(b.kind == "param" for b in names.bindings(path.id, path)):
        return [(where, one) for where, _, one in handed(facts, names, path)]
    return []


def handed(facts: Facts, names: Names, path: ast.Name) -> list[tuple[Names, ast.AST, ast.expr]]:
    """What a parameter gets where its function is called: the file, the call and the path."""
    function = names.function(path)
    if not isinstance(function, FUNCTIONS):
        return []
    sites = facts.flow.call_sites(names, function)
    paths = [(where, call, passed(names, function, where, call, path.id)) for where, call in sites]
    return [(where, call, one) for where, call, one in paths if one is not None]


def _of_one_process(facts: Facts, names: Names, path: ast.AST) -> bool:
    """Whether a path is made from what another process has otherwise: os.getpid(), tempfile.mkdtemp()."""
    waiting, seen = [(names, path)], set[ast.AST]()
    while waiting:
        where, whole = waiting.pop()
        for part in where.walk(whole):
            if not isinstance(part, (ast.Name, ast.Call)) or part in seen:
                continue
            seen.add(part)
            made = [value for value in facts.flow.values(where, part) if value.kind == "made"]
            if any(value.name.partition("[")[0] in OF_ONE_PROCESS for value in made):
                return True
            waiting += [(value.names, value.node) for value in made]
    return False


def needed_everywhere(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs what all ranks may have to run.

    The script's own functions, a model, and what loads weights, takes from a list or draws random numbers.
    """
    return any(_changes(facts, names, call) for call in names.calls_in(node))


def _changes(facts: Facts, names: Names, call: ast.Call) -> bool:
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if called in _CHANGES or any(name.startswith(_RANDOM) for name in names.qualified(call.func)):
        return True
    own = facts.flow.functions(names, call)
    if own:
        return not all(only_computes(facts, *function) for function in own)
    return any(value.kind == "made" for value in facts.flow.values(names, call.func))
