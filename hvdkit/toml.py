"""TOML as all commands read it: what cannot be used is one error, whatever the library raises for it."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib  # novm
else:
    import tomli as tomllib

_BITS = 64  # of an integer, by TOML 1.0; Python refuses to print one of more than 4300 digits


class NotToml(ValueError):
    """It is no TOML; the message says what is wrong."""


def parse_toml(raw: bytes) -> dict[str, Any]:
    """The table that a file holds. Raises: NotToml."""
    try:
        table: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
        _check_numbers(table)
    except RecursionError:
        raise NotToml("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise NotToml("it is not text in UTF-8") from None
    except ValueError as error:  # no TOML, or a number of more digits than Python reads
        raise NotToml(str(error)) from None
    return table


def _check_numbers(value: object) -> None:
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise NotToml(f"a number has more than {_BITS} bits")
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            _check_numbers(each)
