"""Command lines: argparse's own parsers, and what was probably meant by a word that none of them knows."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like one that is not known; "" where none is like it."""
    from difflib import get_close_matches  # slow to import, and seldom needed

    return next(iter(get_close_matches(word, list(known), n=1)), "")


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """What the arguments say. Ends with exit code 2, as argparse does, where an option is unknown."""
    asked, unknown = parser.parse_known_args(arguments)
    if unknown:
        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        meant = (nearest(option, parser._option_string_actions) for option in options)
        hint = "".join(f"; did you mean {option}?" for option in meant if option)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return asked
