"""HVD609: files that all ranks share are deleted by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, needed, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.sample_code import reads_sample
from hvdkit.migrate.facts.files.writers import needed_everywhere, own_file
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.launch.which_processes import Where, caught, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single, trained_by
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given
from hvdkit.source.index.names import Names

DELETES = ("os.remove", "os.unlink")
FOLDERS = ("shutil.rmtree", "os.system")
LISTS = ("glob", "iterdir", "rglob")  # methods of a Path that give more of them


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, path in _deleted(facts):
        if "horovod" in kinds_of(facts, names) or not _by_all(facts, names, call):
            continue
        if reads_sample(facts, names, call) or own_file(facts, names, path):
            continue
        statement = names.statement(call)
        alone = isinstance(statement, ast.Expr) and statement.value is call
        if alone and has_rank(facts, names, statement) and not needed_everywhere(facts, names, call):
            make = safe if only_single(facts, names) else needed
            message = "every rank would delete this file, and the second one finds none; rank 0 deletes it"
            condition = f"{horovod_name(facts, names)}.rank() == 0"
            yield make(
                facts, "HVD609", names, call, message, edits.guard, names.source, [statement], condition
            )
    for site in facts.calls(*FOLDERS):
        names, call = site.names, site.node
        folder = given(call, 0, "path" if site.name == FOLDERS[0] else "command")
        if folder is None or (site.name != FOLDERS[0] and not _removes(folder)):
            continue
        if not only_single(facts, names) or not _by_all(facts, names, call) or own_file(facts, names, folder):
            continue
        hvd = horovod_name(facts, names)
        message = "every rank would delete this, some of them after other ranks have written there"
        advice = f"put it under `if {hvd}.rank() == 0:`, and {hvd}.barrier() below, where all ranks run"
        yield manual("HVD609", names, call, message, advice)


def _deleted(facts: Facts) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
    """Calls that delete one file and fail where there is none, with its path."""
    for site in facts.calls(*DELETES):
        path = given(site.node, 0, "path")
        if path is not None:
            yield site.names, site.node, path
    for names, call, path in facts.methods("unlink"):
        if not call.args and not call.keywords and _is_path(facts, names, path):
            yield names, call, path


def _is_path(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether something is made by pathlib, or one of what a Path lists."""
    if any(name.startswith("pathlib.") for name in facts.flow.made(names, node)):
        return True
    bindings = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    listed = [getattr(b.value, "func", None) for b in bindings if b.kind == "each"]
    return any(
        isinstance(method, ast.Attribute) and method.attr in LISTS and _is_path(facts, names, method.value)
        for method in listed
    )


def _removes(command: ast.expr) -> bool:
    """Whether a command of the shell begins with rm: `"rm -r %s" % folder`, `f"rm {path}"`."""
    while isinstance(command, ast.BinOp) or (isinstance(command, ast.JoinedStr) and command.values):
        command = command.left if isinstance(command, ast.BinOp) else command.values[0]
    return isinstance(command, ast.Constant) and str(command.value).startswith("rm ")


def _by_all(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether every rank of a training runs a call, and nothing deals with its error."""
    everywhere = where_runs(facts, names, call) is Where.ALL and not caught(names, call)
    return everywhere and bool(trained_by(facts, names, call))


RULE = Rule(
    id="HVD609",
    title="files are deleted by rank 0",
    what=(
        "Puts an os.remove, os.unlink or a Path's unlink() that every rank would run under `if hvd.rank() "
        "== 0:`, and reports folders that every rank of a single-process script would delete."
    ),
    why="All ranks see that an old checkpoint exists; one deletes it, and the others fail with FileNotFoundError.",
    safety=(
        "Safe in a single-process script. Needed in a DDP script, where every rank already "
        "deleted it. Not touched: a rank's own file, a `try` that handles the error, and code that runs "
        "before Horovod. Writing into a folder after it was deleted has to wait for rank 0, so that "
        "is left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch

            def keep_one(step):
                old = f"model_{step - 1}.pt"
                if os.path.exists(old):
                    os.remove(old)

            for step, batch in enumerate(batches):
                model(batch).sum().backward()
                optimizer.step()
                keep_one(step)
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            def keep_one(step):
                old = f"model_{step - 1}.pt"
                if os.path.exists(old):
                    if hvd.rank() == 0:
                        os.remove(old)

            for step, batch in enumerate(batches):
                model(batch).sum().backward()
                optimizer.step()
                keep_one(step)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            os.system(f"")
            os.system(f"{command} -r {folder}")
            """,
            reason="none of these commands begins with rm",
        ),
    ),
)
