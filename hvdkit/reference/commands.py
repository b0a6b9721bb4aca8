"""docs/commands: a page for each command, made from its parser by `scripts/docs`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib import import_module

from hvdkit.arguments import CommandParser
from hvdkit.cli import COMMANDS
from hvdkit.reports import Report

# Where a command is explained at length, below docs/.
GUIDES = {
    "init": "tutorial.md",
    "rules": "rules/README.md",
    "setup-ssh": "run.md",
    "install-horovod": "install.md",
    "completion": "index.md",
}


def parser_of(name: str) -> CommandParser:
    """The parser of a command."""
    made: CommandParser = import_module(COMMANDS[name][0]).parser()
    return made


def pages() -> dict[str, str]:
    """The pages by file name, with an index."""
    rows = "".join(f"| [{name}]({name}.md) | {what} |\n" for name, (_, what) in COMMANDS.items())
    index = (
        "# Commands\n\nMade from the parsers by `scripts/docs`. `hvdkit help COMMAND` prints the same.\n\n"
        f"| command | what it does |\n|---|---|\n{rows}\n"
        "`hvdkit --version` prints the version. What `--json` prints is in [json.md](../json.md).\n"
    )
    return {"README.md": index, **{f"{name}.md": page(parser_of(name)) for name in COMMANDS}}


def page(parser: CommandParser) -> str:
    """A command's page in Markdown."""
    usage = (parser.usage or parser.format_usage().removeprefix("usage: ").strip()).replace("\n       ", "\n")
    guide = GUIDES.get(parser.name, f"{parser.name}.md")
    parts = [
        f"# hvdkit {parser.name}",
        f"{str(parser.description).strip()}\nThe guide: [{guide}](../{guide}).",
        f"```text\n{usage}\n```",
        *(table for group in parser._action_groups for table in _tables(parser, group)),
        "## Examples\n\n```console\n" + "\n".join(map(_example, parser.examples)) + "\n```",
        *([parser.note] if parser.note else []),
        "## Exit codes\n\n| code | meaning |\n|---|---|\n"
        + "\n".join(f"| {code} | {_cell(what)} |" for code, what in parser.exits.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _tables(parser: CommandParser, group: argparse._ArgumentGroup) -> Iterator[str]:
    """The arguments of a group as a table; none where it has no argument besides --help."""
    rows = [
        f"| {_names(action)} | {_cell(parser._get_formatter()._expand_help(action))} |"
        for action in group._group_actions
        if not isinstance(action, argparse._HelpAction) and action.help
    ]
    if rows:
        title = str(group.title).capitalize()
        title = {"Positional arguments": "Arguments", "Optional arguments": "Options"}.get(title, title)
        yield "\n".join([f"## {title}\n", "| argument | meaning |", "|---|---|", *rows])


def _example(line: str) -> str:
    """What is typed, and what it does as a comment."""
    typed, gap, what = re.fullmatch(r"(\S.*?)(?:(\s{2,})(\S.*))?", line).groups("")  # type: ignore[union-attr]
    return f"$ {typed}{gap}# {what}" if what else f"$ {typed}"


def _names(action: argparse.Action) -> str:
    """How an argument is typed: `-np N`, `--num-proc N`."""
    value = action.metavar or action.dest
    if action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return f"`{value}`"
    said = "" if action.nargs == 0 else f"[={value}]" if isinstance(action, Report) else f" {value}"
    return ", ".join(f"`{name}{said}`" for name in action.option_strings)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
