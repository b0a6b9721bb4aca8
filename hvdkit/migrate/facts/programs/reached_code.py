"""Whether a program reaches the call that starts Horovod: importing its file is not enough."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.code.callers import on_some_way
from hvdkit.migrate.facts.code.console_scripts import commands
from hvdkit.migrate.facts.code.main_guards import main_guard, module_imports
from hvdkit.migrate.facts.code.pools import in_pool
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, kinds_of, programs_with
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

# Statements that only define names.
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# What files call while they are imported, and what has nothing to do with ranks and devices.
SETTINGS = frozenset(
    (
        "matplotlib.use",
        "sys.path.append",
        "sys.path.insert",
        "warnings.filterwarnings",
        "warnings.simplefilter",
    )
)
# Calls that a migrated script may guard by its rank, or that make what is divided by the number of ranks.
ASKING = ("torch.", "torchvision.", "tensorflow.", "wandb.", "tqdm.")
NEVER_ASKING = (
    *("torch.set_", "torch.backends.", "torch.device", "torch.manual_seed", "torch.multiprocessing.set_"),
    *("torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.manual_seed"),
)
BUILTINS = ("print", "open")


def starting_sites(facts: Facts, program: ProgramFacts) -> list[Site]:
    """The calls of init_process_group or hvd.init() that running a program may come to."""
    sites = facts.calls_in(program.files, words.INIT, *words.HVD_INIT)
    return [site for site in sites if runs_in(facts, program, site.names, site.node)]


def started(facts: Facts, names: Names, node: ast.AST) -> set[bool]:
    """Whether Horovod runs, for each program that may come to a node; HVD110 starts those of one process.

    In a process of a pool it does not. A project that nowhere makes a process group is not asked.
    """
    if in_pool(facts, names, node):
        return {False}
    if not facts.calls(words.INIT, *words.HVD_INIT):
        return {True}
    running = {
        _starts(facts, program)
        for program in programs_with(facts, names)
        if runs_in(facts, program, names, node)
    }
    if running:
        return running
    # What only a person may call asks for its rank where some program with its file starts ranks.
    holding = {_starts(facts, program) for program in programs_with(facts, names)}
    return holding if holding == {False} else set()


def _starts(facts: Facts, program: ProgramFacts) -> bool:
    return program.kind in ("single", "horovod") or bool(starting_sites(facts, program))


def on_import(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node of a script of one process may run before HVD110's hvd.init(), during an import."""

    def at(where: Names, place: ast.AST) -> bool | None:
        if where.function(place) is not None:
            return None
        guard, last = main_guard(where), start_below(facts, where)
        if guard is not None:
            return guard not in where.ancestors(place)
        entry = any(program.entry is where for program in programs_with(facts, where))
        return not entry or last is None or getattr(place, "lineno", 0) <= (last.end_lineno or last.lineno)

    return on_some_way(facts, names, node, at)


def after_start(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether Horovod has started: HVD110 starts it below the imports, or first under the main guard.

    In a process of a pool it has not.
    """
    if in_pool(facts, names, call):
        return False
    function = names.function(call)
    if function is not None:
        return not run_by_nobody(facts, names, call) and not on_import(facts, names, call)
    entry = any(
        program.entry is names and program.kind == "single" for program in programs_with(facts, names)
    )
    guard = main_guard(names)
    if guard is not None:
        return entry and guard in names.ancestors(call)
    last = start_below(facts, names)
    return entry and last is not None and call.lineno > (last.end_lineno or last.lineno)


def start_below(facts: Facts, names: Names) -> ast.stmt | None:
    """The import that hvd.init() goes below: the last one, or the last before what may ask for ranks runs.

    torch is imported above it: an import may stand anywhere, in a notebook in each cell.
    """
    imports = module_imports(names)
    torch = min((getattr(b.node, "lineno", 0) for b in names.module.names.get("torch", ())), default=0)
    below = (s for s in names.source.tree.body if s.lineno > torch and s not in imports)
    first = next((s for s in below if _may_ask(facts, names, s)), None)
    if first is not None:
        imports = [statement for statement in imports if statement.lineno < first.lineno] or imports
    return next(reversed(imports), None)


def _may_ask(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a statement does something, when its file is run, that may ask for ranks later on."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    if any(isinstance(node, (*LOOPS, ast.With)) for node in names.walk(statement)):
        return True
    called = [(call, names.qualified(call.func)) for call in names.calls_in(statement)]
    return runs_project(facts, names, statement) or any(
        any(name.startswith(ASKING) and not name.startswith(NEVER_ASKING) for name in qualified)
        or (isinstance(call.func, ast.Name) and call.func.id in BUILTINS and not qualified)
        for call, qualified in called
    )


def runs_project(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a statement runs functions of the project, when its file is run or imported."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    return any(facts.flow.functions(names, call) for call in names.calls_in(statement))


def runs_in(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST) -> bool:
    """Whether a node may run in a program."""
    return names in program.files and call_graph(facts).runs(program.entry, program.files, names, node)


def run_by_nobody(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether no program is seen to come to a node: a configuration may name the class that it is in."""
    return not any(runs_in(facts, program, names, node) for program in programs_with(facts, names))


@once
def _run_alone(facts: Facts) -> dict[ast.AST, bool]:
    return {}


def run_alone(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether only programs that train nothing come to a node, each of them one process."""
    known, key = _run_alone(facts), names.function(node) or node
    if key not in known:
        kinds = [
            program.kind
            for program in programs_with(facts, names)
            if runs_in(facts, program, names, node)
            if is_started(facts, program.entry)  # a module without its program is no job of one process
        ]
        known[key] = bool(kinds) and all(kind == "none" for kind in kinds)
    return known[key]


def is_script(facts: Facts, names: Names) -> bool:
    """Whether a file runs something: what only defines things for others to import starts no job.

    A function that nothing in the project calls may be what a console script runs.
    """
    body = names.source.tree.body
    functions = [statement for statement in body if isinstance(statement, FUNCTIONS)]
    if main_guard(names) is not None or any(not facts.flow.call_sites(names, f) for f in functions):
        return True
    return any(does_something(names, one) or runs_project(facts, names, one) for one in body)


def is_started(facts: Facts, names: Names) -> bool:
    """Whether a file does something when people start it: not that of a model which nothing imports."""
    body = names.source.tree.body
    if main_guard(names) is not None:
        return True
    if not body or start_below(facts, names) in (None, body[-1]):
        return False
    runs = (does_something(names, one) or runs_project(facts, names, one) for one in body)
    return any(runs) or bool(commands(facts, names))


def does_something(names: Names, statement: ast.stmt) -> bool:
    """Whether a module-level statement does something that a rank may be asked in, beyond defining names."""
    if isinstance(statement, DEFINITIONS):
        return False
    if any(isinstance(node, (ast.For, ast.While, ast.With)) for node in ast.walk(statement)):
        return True
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and not (set(names.qualified(statement.value.func)) & SETTINGS)
    )


def trained_by(facts: Facts, names: Names, node: ast.AST) -> list[ProgramFacts]:
    """The programs that train with PyTorch and come to a node."""
    return [
        program
        for program in programs_with(facts, names)
        if program.migrates and runs_in(facts, program, names, node)
    ]


def only_single(facts: Facts, names: Names) -> bool:
    """Whether a file runs in programs of one process that train, and in none of several processes.

    Those that train nothing, and share it, start Horovod as well (HVD110).
    """
    return kinds_of(facts, names) - {"none"} == {"single"}


def of_one_process(facts: Facts, names: Names) -> bool:
    """The same of programs of either framework."""
    return only_single(facts, names) or kinds_of(facts, names) - {"none"} == {"tf-single"}
