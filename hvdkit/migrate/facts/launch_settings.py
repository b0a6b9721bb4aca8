"""Command-line options that a launcher used to fill in, and that the migrated program has to set itself.

horovodrun passes no --local_rank, --rank or --world-size, and nobody remembers --multiprocessing-distributed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.launch import Launch
from hvdkit.migrate.facts.launch_options import Holder, Option
from hvdkit.migrate.facts.launch_reach import Reach
from hvdkit.migrate.facts.ranks import ALONE, constant

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

FLAG = "flag"


@dataclass(frozen=True)
class Setting:
    """An option to be set where the namespace is bound. function: Horovod's, or "flag" for yes."""

    option: Option
    function: str
    holders: tuple[Holder, ...]

    @property
    def always(self) -> bool:
        """Whether a lone process gets the same value by default, so that no condition is needed."""
        return self.function != FLAG and constant(self.option.default) == ALONE[self.function]


def settings(facts: Facts, launch: Launch, reach: Reach) -> Iterator[Setting]:
    """The options of programs that use torch.distributed, read somewhere and not assigned in every process."""
    wanted: dict[Option, str] = {option: FLAG for option in reach.flags}
    for origin in launch.definitions.values():
        if origin.option is not None:
            wanted.setdefault(origin.option, launch.meanings[origin.node])
    for option in launch.options.named("local_rank"):
        wanted.setdefault(option, "local_rank")
    for option, function in wanted.items():
        if "ddp" not in facts.kinds(option.names) or _assigned(facts, launch, reach, option):
            continue
        if _is_read(launch, option):
            yield Setting(option, function, tuple(launch.options.holders(option)))


def _is_read(launch: Launch, option: Option) -> bool:
    """Whether an option is read outside the calls that go away."""
    gone = {node for site in launch.inits for node in ast.walk(site.node)}
    rewritten = {inner for origin, _ in launch.rewritten() for inner in ast.walk(origin.node)}
    return any(node not in gone and node not in rewritten for _, node in launch.options.reads(option))


def _assigned(facts: Facts, launch: Launch, reach: Reach, option: Option) -> bool:
    """Whether some assignment to the option's attribute is run by every process of a job."""
    for names in facts.files:
        for target, binding in names.stores.get(option.dest, ()):
            if binding.kind != "assign" or option not in launch.options.of(names, target, option.dest):
                continue
            absent = isinstance(binding.value, ast.Constant) and binding.value.value is None
            if not absent and constant(binding.value) != -1 and reach.reached(names, binding.node):
                return True
    return False
