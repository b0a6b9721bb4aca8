"""The files of the rules: which there are, and what they say, without a check or the facts that it asks for.

A file ends with `RULE = Rule(id=..., title=..., ...)`: texts and examples written out, the title on one line.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hvdkit.migrate.catalog.rule import Change, Keep, Page, Rule

PACKAGE = Path(__file__).parents[2]
# The folder of each command's rules.
TO_DDP = "migrate --target ddp"
FOLDERS = {"migrate": "migrate/rules", TO_DDP: "migrate/back", "check": "check/rules"}
COMMANDS = tuple(FOLDERS)
TITLE = re.compile(r'^    title=(".*"),$', re.MULTILINE)
EXAMPLES = {"Change": Change, "Keep": Keep}


def rule_files(*commands: str) -> dict[str, Path]:
    """The file of each rule of these commands by the rule's id, in the order of the ids."""
    found = (path for command in commands for path in (PACKAGE / FOLDERS[command]).glob("hvd*.py"))
    by_id = {path.name.partition("_")[0].upper(): path for path in found}
    return dict(sorted(by_id.items()))


@cache
def load(command: str, *without: str) -> tuple[Rule, ...]:
    """Rules of a command, loaded: the RULE of each module named hvdNNN_..., in the order of the ids.

    without: the beginnings of ids that are left out.
    """
    files = {name: path for name, path in rule_files(command).items() if not name.startswith(without)}
    package = f"{PACKAGE.name}.{FOLDERS[command]}".replace("/", ".")
    modules = (f"{package}.{path.stem}" for path in files.values())
    return tuple(import_module(module).RULE for module in modules)


def title_in(path: Path) -> str:
    """The title of the rule in a file."""
    (line,) = TITLE.findall(path.read_text(encoding="utf-8"))
    return str(ast.literal_eval(line))


def read(path: Path) -> Page:
    """All that the file of a rule says for people."""
    *_, last = ast.parse(path.read_bytes()).body
    assert isinstance(last, ast.Assign) and isinstance(last.value, ast.Call), f"{path} ends with RULE"
    said = {field.name for field in fields(Page)}
    return Page(**{part.arg: _value(part.value) for part in last.value.keywords if part.arg in said})


def _value(node: ast.expr) -> Any:
    """A text, or a tuple of examples, as written."""
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in EXAMPLES:
        given = {part.arg: ast.literal_eval(part.value) for part in node.keywords if part.arg}
        return EXAMPLES[node.func.id](*map(ast.literal_eval, node.args), **given)
    return ast.literal_eval(node)
