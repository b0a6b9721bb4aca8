"""Command lines: the parser of every command, and what was probably meant by an option it does not know."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence

from hvdkit import reports

Exits = Mapping[str, str]
# Two options that many commands have: as horovodrun names them, and with two hyphens before np.
RANKS = ("-np", "--num-proc", "--np")
HOSTS = ("-H", "--hosts")
INTERRUPTED = ("130", "interrupted")


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like one that is not known; "" where none is like it."""
    from difflib import get_close_matches  # slow to import, and seldom needed

    return next(iter(get_close_matches(word, list(known), n=1)), "")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows the file of a report as it is typed: `--json[=FILE]`, for which argparse has no form."""

    _GLUE = "\0"  # behind a space that is removed

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        shown = super()._format_args(action, default_metavar)
        return f"{self._GLUE}[={action.metavar}]" if isinstance(action, reports.Report) else shown

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return self._glued(super()._format_action_invocation(action))

    def format_help(self) -> str:
        return self._glued(super().format_help())

    def _glued(self, text: str) -> str:
        return text.replace(f" {self._GLUE}", "")


class CommandParser(argparse.ArgumentParser):
    """The parser of one command: its help ends with examples, a note and the exit codes.

    name: the command's. examples: a line each, as it is typed, with what it does after two spaces. note: what
    is worth knowing besides. exits: the meaning of each exit code; 130 (interrupted) is added where it is
    missing. usage: replaces the one that argparse makes.
    """

    def __init__(
        self,
        name: str,
        description: str,
        examples: str,
        exits: Exits,
        note: str = "",
        usage: str | None = None,
    ) -> None:
        super().__init__(
            prog=f"hvdkit {name}",
            usage=usage,
            description=description,
            formatter_class=_Formatter,
        )
        self.name = name
        self.examples = tuple(examples.strip().splitlines())
        self.note = note
        self.exits = dict([*exits.items(), *([] if INTERRUPTED[0] in exits else [INTERRUPTED])])
        width = max(map(len, self.exits))
        parts = [
            "\n".join(["examples:", *(f"  {line}" for line in self.examples)]),
            note,
            "\n".join(["exit codes:", *(f"  {code:<{width}}  {what}" for code, what in self.exits.items())]),
        ]
        self.epilog = "\n\n".join(part for part in parts if part)


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """What the arguments say. Ends with exit code 2, as argparse does, where an option is unknown.

    Raises: UsageError where a report may not be written to its place.
    """
    asked, unknown = parser.parse_known_args(reports.spelled(parser, arguments))
    if unknown:
        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        meant = [nearest(option, parser._option_string_actions) for option in options]
        meant = [*filter(None, meant), *reports.meant(parser, arguments, unknown)]
        hint = "".join(f"; did you mean {option}?" for option in meant)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    reports.check(parser, asked)
    return asked
