"""Which rules --select, --ignore and pyproject.toml mean: ids, or beginnings of ids, of rules that exist."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import takewhile

from hvdkit.check import rules as check
from hvdkit.errors import HvdkitError
from hvdkit.migrate import rules as migrate
from hvdkit.migrate.rule import ids_in

_PACKAGES = {"migrate": migrate, "check": check}


class UnknownRule(HvdkitError):
    """A rule was named that the command does not have."""


def rules_named(values: Sequence[str], command: str, where: str) -> tuple[str, ...]:
    """The ids, or beginnings of ids, in texts such as "HVD2,HVD301".

    where: the option or the key that they are from. Raises: UnknownRule.
    """
    named = tuple(part.strip() for value in values for part in value.split(",") if part.strip())
    for name in named:
        if not any(rule.startswith(name) for rule in ids_of(command)):
            raise _unknown(name, command, where)
    return named


def ids_of(command: str) -> list[str]:
    """The ids of the rules of `migrate` or `check`; no rule is loaded."""
    return ids_in(_PACKAGES[command].__path__)


def nearest_rule(name: str, ids: Sequence[str]) -> str:
    """The id, or the hundred of ids, that is most like a name; "" where none is like it.

    Ids are numbers: those that begin alike are nearer than those that end alike.
    """
    name = name.upper()
    known = [*ids, *sorted({rule[:4] for rule in ids})]

    def likeness(rule: str) -> tuple[int, float]:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(rule, name))
        return len(list(alike)), SequenceMatcher(None, rule, name).ratio()

    return max(sorted(get_close_matches(name, known, n=len(known))), key=likeness, default="")


def _unknown(name: str, command: str, where: str) -> UnknownRule:
    other = next((c for c in _PACKAGES if any(rule.startswith(name) for rule in ids_of(c))), "")
    if other:
        return UnknownRule(
            f"{where} {name}: that is a rule of hvdkit {other}",
            f"hvdkit {command} has rules of its own, and none that it names",
            f"take it out here, or give it to hvdkit {other}",
        )
    near = nearest_rule(name, ids_of(command))
    return UnknownRule(
        f"{where} {name}: hvdkit {command} has no rule whose id begins like this",
        "rules that do not exist would pass for rules that found nothing",
        f"did you mean {near}? hvdkit rules lists them" if near else "hvdkit rules lists them",
    )
