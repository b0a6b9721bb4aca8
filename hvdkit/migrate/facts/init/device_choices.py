"""What chooses the device of a process in a program that starts Horovod, and is the same in all of them.

`torch.device("cuda")` is the device that the process took by its local rank. A number, or a text with one,
that comes from an option, a configuration or the source is the same in every process of a host.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hvdkit.migrate.facts.code.launch_options import Option
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.device_numbers import BY_NUMBER, DEVICE, in_text, index_of
from hvdkit.migrate.facts.launch.launch import Origin, launch_of
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once_all
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.source.index.names import Names

_NUMBER = re.compile(r"(cuda:)?[0-9]+(,[0-9]+)*")


def chosen_for_all(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.expr]]:
    """The devices in a program that every process of a host takes alike, as far as they are seen to."""
    return [
        (names, device)
        for names, device, sure in _devices(facts)
        if names in program.files and runs_in(facts, program, names, device)
        if not _own(facts, names, device) and _alike(facts, names, device, sure)
    ]


@once_all
def _devices(facts: Facts) -> Iterator[tuple[Names, ast.expr, bool]]:
    """What is given where a device is wanted, and whether nothing else could be wanted there."""
    for site in facts.calls(DEVICE, *sorted(BY_NUMBER)):
        number = index_of(site.node) if site.name == DEVICE else None
        if number is not None or site.node.args:
            yield site.names, number or site.node.args[0], True
    for names, call, _ in facts.methods("cuda"):
        if call.args:
            yield names, call.args[0], True
    for names, call, _ in facts.methods("to"):
        if call.args:
            yield names, call.args[0], False  # or a type, or another tensor


def _own(facts: Facts, names: Names, device: ast.expr) -> bool:
    """Whether a device is one that was asked about itself, or the local rank's."""
    if any(value.kind == "made" and value.name == DEVICE for value in facts.flow.values(names, device)):
        return True  # it is looked at where it is made
    return rank_kinds(facts).inside(names, device, "local_rank")


def _alike(facts: Facts, names: Names, device: ast.expr, sure: bool) -> bool:
    """Whether a device is a number, or a text with one, that is the same in all processes."""
    numbered = _numbered_alike(facts, names, device)
    if numbered is not None:
        return numbered
    origins = launch_of(facts).origins(names, device)
    sure = sure or any(map(_is_device, origins))
    return any(_is_number(facts, origin, sure) for origin in origins)


def _numbered_alike(facts: Facts, names: Names, device: ast.expr) -> bool | None:
    """Whether a text such as f"cuda:{n}" has a number that is not the local rank; None for no such text."""
    numbers = list(in_text(names, device))
    if not numbers:
        return None
    return not all(rank_kinds(facts).inside(*number, "local_rank") for number in numbers)


def _is_device(origin: Origin) -> bool:
    """Whether one of the ways that a value may come is the name of a device."""
    value = origin.node.value if isinstance(origin.node, ast.Constant) else None
    return isinstance(value, str) and value.partition(":")[0] in ("cpu", "cuda")


def _is_number(facts: Facts, origin: Origin, sure: bool) -> bool:
    if origin.option is not None:
        return _option_numbers(origin.option, sure)
    node = origin.node
    if isinstance(node, ast.Constant):
        return _named(node, sure)
    numbered = _numbered_alike(facts, origin.names, node)
    if numbered is not None:
        return numbered
    # `cfg["device"] if torch.cuda.is_available() else "cpu"`: what a file says.
    return sure and isinstance(node, ast.Subscript) and not facts.flow.values(origin.names, node)


def _option_numbers(option: Option, sure: bool) -> bool:
    """Whether an option holds a device's number when nobody gives it, or must be given one."""
    kind = next((item.value for item in option.node.keywords if item.arg == "type"), None)
    if getattr(kind, "id", "") == "int":
        return sure
    return isinstance(option.default, ast.Constant) and _named(option.default, sure)


def _named(constant: ast.Constant, sure: bool) -> bool:
    """Whether a constant names one device: 0, "0", "cuda:0"."""
    value = constant.value
    if isinstance(value, int) and not isinstance(value, bool):
        return sure
    return isinstance(value, str) and bool(_NUMBER.fullmatch(value)) and (sure or value.startswith("cuda:"))
