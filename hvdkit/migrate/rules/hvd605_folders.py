"""HVD605: a folder that several ranks make at once may exist when the second comes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import needed, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.files.found_folders import is_free
from hvdkit.migrate.facts.keras.vocabulary import KINDS
from hvdkit.migrate.facts.launch.which_processes import Where, caught, where_runs
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

MAKERS = ("os.makedirs", "os.mkdir")
PATHS = frozenset(("parents", "exist_ok"))  # what only a Path's mkdir() takes
QUESTIONS = frozenset(("os.path.exists", "os.path.isdir"))
PATH_QUESTIONS = frozenset(("exists", "is_dir"))


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*MAKERS):
        names, call = site.names, site.node
        kinds = kinds_of(facts, names) & {"single", "ddp", *KINDS}
        if not kinds or len(call.args) != 1 or any(item.arg != "exist_ok" for item in call.keywords):
            continue
        if getattr(keyword(call, "exist_ok"), "value", None) is True:
            continue
        if where_runs(facts, names, call) is not Where.ALL or caught(names, call):
            continue
        # All ranks have the name that was free, rank 0's (HVD418).
        common = only_single(facts, names) and is_free(names, call, call.args[0])
        make = safe if common or _asked(names, call) else needed
        message = "a different rank may have created the folder in the meantime: exist_ok=True"
        yield make(facts, "HVD605", names, call, message, _edits, site)
    for names, call, _ in facts.methods("mkdir"):
        if not kinds_of(facts, names) & {"single", "ddp", *KINDS} or names.qualified(call.func):
            continue
        asked = _path_asked(names, call)
        if not asked and not {item.arg for item in call.keywords} & PATHS:
            continue  # it may be no Path's
        if getattr(keyword(call, "exist_ok"), "value", None) is True:
            continue
        if where_runs(facts, names, call) is Where.ALL and not caught(names, call):
            make = safe if asked else needed
            message = "a different rank may have created the folder in the meantime: exist_ok=True"
            yield make(facts, "HVD605", names, call, message, _allowed, names, call)


def _allowed(names: Names, call: ast.Call) -> Edit:
    may_exist = keyword(call, "exist_ok")
    if may_exist is not None:
        return edits.replace(names.source, may_exist, "True")
    return edits.add_arguments(names.source, call, ["exist_ok=True"])


def _asked(names: Names, call: ast.Call) -> bool:
    """Whether the script asks first whether the folder is there, so that it may be."""
    return any(
        isinstance(node, ast.Call) and QUESTIONS & set(names.qualified(node.func))
        for parent in names.ancestors(call)
        if isinstance(parent, ast.If)
        for node in ast.walk(parent.test)
    )


def _path_asked(names: Names, call: ast.Call) -> bool:
    """Whether a Path is asked first whether it is there: `if not out.exists(): out.mkdir()`."""
    assert isinstance(call.func, ast.Attribute)
    path = ast.dump(call.func.value)
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in PATH_QUESTIONS
        and not (node.args or call.args)
        and ast.dump(node.func.value) == path
        for parent in names.ancestors(call)
        if isinstance(parent, ast.If)
        for node in ast.walk(parent.test)
    )


def _edits(site: Site) -> list[Edit]:
    source, call = site.names.source, site.node
    made = [_allowed(site.names, call)]
    if site.name == "os.mkdir":
        if not isinstance(call.func, ast.Attribute):
            raise edits.CannotEdit("os is not imported by name")
        made.append(Edit(source.end(call.func.value), source.end(call.func), ".makedirs"))
    return made


RULE = Rule(
    id="HVD605",
    title="folders created by several ranks",
    what="Adds exist_ok=True where every rank creates a folder.",
    why="All ranks see that it is missing, one creates it, and the others fail with FileExistsError.",
    safety=(
        "Safe where the script tests first: it accepts an existing folder. Safe, too, where one process "
        "looked for a free name, which all ranks then have. Needed elsewhere, where an existing folder was "
        "an error."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os
            from tensorflow import keras

            if not os.path.exists("out"):
                os.makedirs("out")
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            """\
            import os
            from tensorflow import keras

            if not os.path.exists("out"):
                os.makedirs("out", exist_ok=True)
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(x, y)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch

            try:
                os.makedirs("out")
            except OSError:
                pass
            loss.backward()
            """,
            reason="the error is dealt with",
        ),
    ),
)
