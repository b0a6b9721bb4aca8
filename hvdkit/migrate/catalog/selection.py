"""Which rules --select, --ignore and pyproject.toml mean: ids, or beginnings of ids, of rules that exist."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import takewhile

from hvdkit.errors import HvdkitError
from hvdkit.migrate.catalog.rule_files import COMMANDS, rule_files


class UnknownRule(HvdkitError):
    """A rule was named that the command does not have."""


def rules_named(values: Sequence[str], command: str, where: str) -> tuple[str, ...]:
    """The ids, or beginnings of ids, in texts such as "HVD2,HVD301".

    where: the option or the key that they are from. Raises: UnknownRule.
    """
    named = tuple(part.strip() for value in values for part in value.split(",") if part.strip())
    for name in named:
        if not any(rule.startswith(name) for rule in rule_files(command)):
            raise _unknown(name, command, where)
    return named


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
    other = next((c for c in COMMANDS if any(rule.startswith(name) for rule in rule_files(c))), "")
    if other:
        return UnknownRule(
            f"{where} {name}: that is a rule of hvdkit {other}",
            f"hvdkit {command} has different rules, and none with this id",
            f"remove it here, or pass it to hvdkit {other}",
        )
    near = nearest_rule(name, [*rule_files(command)])
    return UnknownRule(
        f"{where} {name}: hvdkit {command} has no rule whose id begins with this",
        "rules that do not exist would look like rules that found nothing",
        f"did you mean {near}? hvdkit rules lists them" if near else "hvdkit rules lists them",
    )
