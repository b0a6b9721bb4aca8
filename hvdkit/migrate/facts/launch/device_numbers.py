"""Where a program says by a number on which device it works, and where that number comes from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import files_with, kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Calls whose first argument is a device number, and those that take it second.
SET_DEVICE = "torch.cuda.set_device"
BY_NUMBER = frozenset((SET_DEVICE, "torch.cuda.device", "torch.accelerator.set_device_index"))
DEVICE = "torch.device"
METHODS = ("to", "cuda")
FIRST_DEVICE = "cuda:0"
TEXTS = (ast.IfExp, ast.JoinedStr, ast.BinOp, ast.Call)
NUMBERED = re.compile(r"cuda:[1-9][0-9]*")


def device_numbers(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Expressions that stand where a device number is wanted."""
    for site in facts.calls(*sorted(BY_NUMBER)):
        if site.node.args:
            yield site.names, site.node.args[0]
    for site in facts.calls(DEVICE):
        number = index_of(site.node)
        if number is not None:
            yield site.names, number
        elif site.node.args:
            yield from in_text(site.names, site.node.args[0])
    for method in METHODS:
        for names, call, _ in facts.methods(method):
            if call.args:
                yield names, call.args[0]
                yield from in_text(names, call.args[0])


def index_of(call: ast.Call) -> ast.expr | None:
    """The number of `torch.device("cuda", n)` or `torch.device("cuda", index=n)`, beside the kind."""
    return call.args[1] if len(call.args) == 2 else keyword(call, "index")


@once
def ranks_for_devices(facts: Facts) -> set[ast.expr]:
    """The ranks that stand where a device number is wanted: `torch.device("cuda", dist.get_rank())`."""
    return {
        index
        for names, index in device_numbers(facts)
        if "ddp" in kinds_of(facts, names) and launch_of(facts).meaning(names, index) == {"rank"}
    }


def told_numbers(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """`torch.cuda.set_device(args.gpu)`, `f"cuda:{args.gpus[0]}"`: numbers that are no constants."""
    given = [(site.names, site.node.args[0]) for site in facts.calls(SET_DEVICE) if site.node.args]
    given += [(s.names, number) for s in facts.calls(DEVICE) if (number := index_of(s.node)) is not None]
    texts = [(site.names, site.node.args[0]) for site in facts.calls(DEVICE) if site.node.args]
    for method in METHODS:
        texts += [(names, call.args[0]) for names, call, _ in facts.methods(method) if call.args]
    given += [
        (n, c.args[0]) for n, c, _ in facts.methods("cuda") if c.args and is_option(facts, n, c.args[0])
    ]
    every = (*given, *(found for text in texts for found in in_text(*text)))
    for names, node in ((names, node) for names, node in every if only_single(facts, names)):
        parts = [part for part in names.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
        bound = [b for part in parts if isinstance(part, ast.Name) for b in names.bindings(part.id, part)]
        values = {value.name for part in parts for value in facts.flow.values(names, part)}
        if parts and not any(b.kind == "each" for b in bound) and not values & {DEVICE, "Constant"}:
            if not rank_kinds(facts).inside(names, node) and not rank_kinds(facts).inside(
                names, node, "local_rank"
            ):
                yield names, node


def is_option(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is an option of the command line, and nothing else."""
    origins = launch_of(facts).origins(names, node)
    return bool(origins) and all(origin.kind == "option" for origin in origins)


def goes_elsewhere(facts: Facts, names: Names) -> bool:
    """Whether a program of this file moves things to what may be the same number: `net.to(gpu_ids[0])`."""
    files = files_with(facts, names)
    moved = [
        (m, *where) for m in METHODS for where in facts.methods(m) if where[0] in files and where[1].args
    ]
    for method, where, call, _ in moved:
        given = call.args[0]
        if method == "cuda":
            maybe = not isinstance(given, ast.Constant) and not is_option(facts, where, given)
        else:
            maybe = isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant)
        devices = {value.name for value in facts.flow.values(where, given)} & {DEVICE, "Constant"}
        if maybe and not devices and not rank_kinds(facts).inside(where, given, "local_rank"):
            return True
    return False


def visible_devices(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """`os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu`."""
    for names in (names for names in facts.files if only_single(facts, names)):
        for target, binding in names.stores.get("['CUDA_VISIBLE_DEVICES']", ()):
            none = isinstance(binding.value, ast.Constant) and binding.value.value in ("", "-1")
            if "os.environ" in names.qualified(target) and not none:
                yield names, binding.value if isinstance(binding.value, ast.expr) else target


def first_devices(facts: Facts) -> set[Value]:
    """The texts "cuda:0" in scripts of one process that reach a place where a device is wanted."""
    files = {
        names
        for names in facts.files
        if FIRST_DEVICE in names.source.text and only_single(facts, names) and not spread(names)
    }
    if not files:
        return set()
    wanted = [(site.names, site.node.args[0]) for site in facts.calls(DEVICE) if site.node.args]
    wanted += [(names, call.args[0]) for names, call, _ in facts.methods("to") if call.args]
    found = {value for names, device in wanted for value in facts.flow.values(names, device)}
    for names, device in wanted:
        for origin in launch_of(facts).origins(names, device):
            if origin.option is not None and isinstance(origin.option.default, ast.Constant):
                found.add(Value("literal", "", origin.option.default, origin.names))
    found = {value for value in found if value.names in files and isinstance(value.node, ast.Constant)}
    return {value for value in found if getattr(value.node, "value", None) == FIRST_DEVICE}


def spread(names: Names) -> list[ast.Constant]:
    """Devices beside the first one that a file names: it spreads one model over them."""
    if NUMBERED.search(names.source.text) is None:
        return []
    constants = (node for node in names.of_kind(ast.Constant) if isinstance(node, ast.Constant))
    return [node for node in constants if isinstance(node.value, str) and NUMBERED.fullmatch(node.value)]


def in_text(
    names: Names, node: ast.expr, seen: tuple[ast.expr, ...] = ()
) -> Iterator[tuple[Names, ast.expr]]:
    """The number in `"cuda:" + str(n)`, `"cuda:{}".format(n)`, `f"cuda:{n}"`, and in those of a choice.

    A variable is followed to the texts that its function gives it.
    """
    if isinstance(node, ast.IfExp):
        yield from (found for way in (node.body, node.orelse) for found in in_text(names, way, seen))
    elif isinstance(node, ast.Name):
        given = [b.value for b in names.bindings(node.id, node) if b.kind == "assign" and not b.path]
        for value in given:
            if isinstance(value, TEXTS) and value not in seen:
                yield from in_text(names, value, (*seen, value))
    elif isinstance(node, ast.JoinedStr):
        texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        fields = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        if texts == ["cuda:"] and len(fields) == 1:
            yield names, fields[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_cuda(node.left):
        right = node.right
        if isinstance(right, ast.Call) and isinstance(right.func, ast.Name) and right.func.id == "str":
            if right.args:
                yield names, right.args[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_cuda(node.left):
        if not isinstance(node.right, (ast.Tuple, ast.Dict)):
            yield names, node.right  # "cuda:%d" % n
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if _is_cuda(node.func.value) and node.args:
            yield names, node.args[0]


def _is_cuda(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda:")


def is_taken_by_number(facts: Facts, value: Value) -> bool:
    """Whether something that has to know a device's number is given it."""
    for site in facts.calls(*sorted(BY_NUMBER)):
        chosen = {o.node for part in site.node.args[:1] for o in facts.flow.values(site.names, part)}
        if value.node in {node for made in chosen for node in ast.walk(made)}:
            return True
    return False
