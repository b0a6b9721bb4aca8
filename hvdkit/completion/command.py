"""`hvdkit completion`: prints the script, which shtab makes of the parsers. No key starts Python then."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hvdkit.arguments import CommandParser, parsed
from hvdkit.cli import COMMANDS
from hvdkit.errors import HvdkitError
from hvdkit.reference.commands import parser_of
from hvdkit.reports import Report

SHELLS = ("bash", "zsh", "fish")
# Arguments that are files, or folders, by what the help calls them.
FILES = ("PATH", "FILE", "SCRIPT")
FOLDERS = ("DIR", "FOLDER")
EXAMPLES = """\
eval "$(hvdkit completion bash)"           bash: in this shell; in ~/.bashrc, in each
hvdkit completion zsh > ~/.zfunc/_hvdkit   zsh: with fpath+=~/.zfunc above compinit in ~/.zshrc
hvdkit completion fish > ~/.config/fish/completions/hvdkit.fish
"""


def parser() -> CommandParser:
    """The parser of `hvdkit completion`."""
    made = CommandParser(
        "completion",
        "Print a script that completes commands, options and files when Tab is pressed.",
        EXAMPLES,
        {"0": "printed", "2": "hvdkit failed"},
    )
    made.add_argument("shell", choices=SHELLS, help="the shell that reads it")
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit completion`."""
    import shtab

    args = parsed(parser(), argv[1:])
    if args.shell not in shtab.SUPPORTED_SHELLS:
        raise HvdkitError(
            f"the installed shtab, {shtab.__version__}, does not support {args.shell}",
            fix="pip install --upgrade shtab",
        )
    whole = argparse.ArgumentParser("hvdkit")
    whole.add_argument("-V", "--version", action="store_true", help="the version")
    commands = whole.add_subparsers()
    for name, (_, what) in COMMANDS.items():
        made = parser_of(name)
        for action in made._actions:
            if isinstance(action, Report):
                action.nargs = 0  # the next word is not its file
            elif action.metavar in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif action.metavar in FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        commands.add_parser(name, help=what, parents=[made], add_help=False)
    print(shtab.complete(whole, args.shell))
    return 0
