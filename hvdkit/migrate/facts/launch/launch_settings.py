"""Command-line options that a launcher used to fill in, and that the migrated program has to set itself.

horovodrun passes no --local_rank, --rank or --world-size, and nobody remembers --multiprocessing-distributed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.launch_options import Holder, Option
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import Launch
from hvdkit.migrate.facts.launch.launch_reach import Reach
from hvdkit.migrate.facts.launch.ranks import ALONE, constant
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.source.index.names import Names

FLAG = "flag"


@dataclass(frozen=True)
class Setting:
    """An option to be set where the namespace is bound. function: Horovod's, or "flag" for yes."""

    option: Option
    function: str
    holders: tuple[Holder, ...]

    @property
    def always(self) -> bool:
        """Whether a single process has the same value, too, by default or since it is required."""
        if self.function == FLAG:
            return False
        required = self.option.required is not None
        return required or constant(self.option.default) == ALONE[self.function]


def settings(facts: Facts, launch: Launch, reach: Reach) -> Iterator[Setting]:
    """The options of torch.distributed programs that are read and that not every process assigns."""
    wanted: dict[Option, str] = dict.fromkeys(reach.flags, FLAG)
    for origin in launch.definitions.values():
        if origin.option is not None:
            wanted.setdefault(origin.option, launch.meanings[origin.node])
    for option in launch.options.local_rank():
        wanted.setdefault(option, "local_rank")
    for option, function in wanted.items():
        if "ddp" not in kinds_of(facts, option.names) or _assigned(facts, launch, reach, option):
            continue
        if option.default is not None and launch.meaning(option.names, option.default):
            continue  # the default is a rank that is read where the option is added
        if _is_read(launch, option):
            yield Setting(option, function, tuple(launch.options.holders(option)))


def _is_read(launch: Launch, option: Option) -> bool:
    """Whether an option is read outside the calls that go away."""
    gone = {node for site in launch.inits for node in ast.walk(site.node)}
    rewritten = {inner for origin, _ in launch.rewritten() for inner in ast.walk(origin.node)}
    read = any(node not in gone and node not in rewritten for _, node in launch.options.reads(option))
    return read or launch.options.read_as_items(option)


def _assigned(facts: Facts, launch: Launch, reach: Reach, option: Option) -> bool:
    """Whether every process of a job assigns the option's attribute in some function."""
    for names in facts.files:
        targets: set[ast.AST] = set()
        for target, binding in names.stores.get(option.dest, ()):
            value = binding.value
            absent = isinstance(value, ast.Constant) and value.value is None
            if binding.kind == "assign" and not absent and constant(value) != -1:
                if option in launch.options.of(names, target, option.dest):
                    targets.add(binding.node)
        functions = {names.function(target) for target in targets}
        for function in functions:
            body = names.source.tree.body if function is None else function.body
            if isinstance(body, list) and _in_every(names, reach, body, targets):
                return True
    return False


def _in_every(names: Names, reach: Reach, body: list[ast.stmt], targets: set[ast.AST]) -> bool:
    """Whether every way through a block passes one of the targets."""
    for statement in body:
        if isinstance(statement, ast.If):
            holds = reach.holds(names, statement.test)
            ways = [statement.body] if holds else [statement.orelse] if holds is False else []
            ways = ways or [statement.body, statement.orelse]
            if all(_in_every(names, reach, way, targets) for way in ways):
                return True
        elif isinstance(statement, (ast.With, ast.Try)):
            if _in_every(names, reach, statement.body, targets):
                return True
        elif isinstance(statement, ast.Assign) and any(part in targets for part in ast.walk(statement)):
            return True
    return False
