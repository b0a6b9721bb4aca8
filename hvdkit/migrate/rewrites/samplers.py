"""Whether and how a DataLoader of a single-process script gets a sampler that shares the data out."""

from __future__ import annotations

import ast
import re

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.batch_samplers import grouped
from hvdkit.migrate.facts.data.batches_by_count import taken_by_count
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.data.loaders_of_one_call import evaluates_too
from hvdkit.migrate.facts.data.loaders_of_phases import Phase, compared, phase_trained
from hvdkit.migrate.facts.data.sharding import ITERABLE, WEIGHTED, is_sharded
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.rewrites.collectives import fresh
from hvdkit.migrate.rewrites.graph_samples import drawn_from, is_of_graph
from hvdkit.migrate.values.arguments import given, is_on, keyword
from hvdkit.migrate.values.value import Value
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import COMPREHENSIONS, Names

WIDE = 110  # columns
RANDOM, SEQUENTIAL = "torch.utils.data.RandomSampler", "torch.utils.data.SequentialSampler"
PICKED = "torch.utils.data.SubsetRandomSampler"
STREAMS = ("webdataset.", "torchdata.", "torchtext.datasets.")  # their data sets are iterators


def gets_share(facts: Facts, loader: Loader) -> bool:
    """Whether HVD302 gives each rank its own share of a loader's data."""
    trains = is_trained_on(facts, loader) and only_single(facts, loader.names)
    return trains and not is_sharded(facts, loader) and not unshardable(facts, loader)


def unshardable(facts: Facts, loader: Loader) -> str:
    """Why a loader cannot be given its share; "" if it can. Fewer reasons hold where hvd.distribute works."""
    values = facts.flow.values(loader.names, loader.dataset)
    if any(ITERABLE in facts.flow.bases(value) or value.name.startswith(STREAMS) for value in values):
        return (
            "its data set is iterable and accepts no sampler: it has to yield only the rank's share in its "
            "__iter__"
        )
    together = any(isinstance(parent, COMPREHENSIONS) for parent in loader.names.ancestors(loader.node))
    if (together or _one_of_many(loader)) and phase_trained(facts, loader) is None:
        return "one call creates this loader and those for evaluation"
    if evaluates_too(facts, loader) and phase_trained(facts, loader) is None:
        return "one call creates this loader and those for evaluation"
    if taken_by_count(facts, loader.value):
        return "a loop calls next() for batches without checking how many there are, and a share has fewer"
    if facts.options.target == "hvdkit" and phase_trained(facts, loader) is None:
        return ""
    if loader.batch_sampler is not None and not in_groups(facts, loader):
        return "it has its own batch_sampler"
    known = (empty_sampler, plain_sampler, picking_sampler, weighted_sampler)
    if loader.sampler is not None and not any(find(facts, loader) for find in known):
        return "it has its own sampler"
    if loader.dataset is None and not is_of_graph(loader):
        return "its data set was not found"
    try:
        sampler_edits(facts, loader)
    except edits.CannotEdit as error:
        return str(error)
    return _unpacked_problem(loader)


def _one_of_many(loader: Loader) -> bool:
    """`for part in ("train", "test"): loaders[part] = DataLoader(...)`."""
    statement = loader.names.statement(loader.node)
    keys = [t.slice for t in getattr(statement, "targets", ()) if isinstance(t, ast.Subscript)]
    counted = {
        part.id
        for parent in loader.names.ancestors(statement)
        if isinstance(parent, (ast.For, ast.AsyncFor))
        for part in ast.walk(parent.target)
        if isinstance(part, ast.Name)
    }
    return any(part.id in counted for key in keys for part in ast.walk(key) if isinstance(part, ast.Name))


def _unpacked_problem(loader: Loader) -> str:
    """Whether the arguments passed by ** are one variable, which can be added to."""
    unpacked = [keyword for keyword in loader.node.keywords if keyword.arg is None]
    if not unpacked:
        return ""
    if len(unpacked) > 1 or not isinstance(unpacked[0].value, ast.Name):
        return "its arguments come from **"
    mentioned = {node.value for node in loader.names.of_kind(ast.Constant)}
    filling = [*loader.names.calls.get("dict", ()), *loader.names.calls.get("update", ())]
    keys = {item.arg for call in filling for item in call.keywords}
    if {"sampler", "batch_sampler"} & (mentioned | keys):
        return "its arguments come from **, and a sampler may be among them"
    return ""


def sampler_edits(facts: Facts, loader: Loader) -> list[Edit]:
    """A sampler above the loader, and in it in place of shuffle. Raises CannotEdit."""
    names, source = loader.names, loader.names.source
    hvd = horovod_name(facts, names)
    phase = phase_trained(facts, loader)
    if phase is not None:
        return _of_phase(facts, loader, phase)
    if facts.options.target == "hvdkit":
        return edits.wrap(source, loader.node, f"{hvd}.distribute(", ")")
    if is_of_graph(loader):
        return _beside_loader(loader, drawn_from(facts, loader), hvd, [], [])
    assert loader.dataset is not None
    empty = empty_sampler(facts, loader)
    if empty is not None:
        return [edits.replace(source, empty, _sampler(source.segment(loader.dataset), hvd, "True"))]
    plain = plain_sampler(facts, loader)
    if plain is not None:
        shuffle = str(RANDOM in names.qualified(plain.func))
        return [edits.replace(source, plain, _sampler(source.segment(plain.args[0]), hvd, shuffle))]
    picking = picking_sampler(facts, loader)
    if picking is not None:
        return _picked_share(loader, picking, hvd)
    weighted = weighted_sampler(facts, loader)
    if weighted is not None:
        return _weighted_share(names, weighted, hvd)
    statement, stem, own_line = _target(loader)
    made: list[Edit] = []
    dataset = source.segment(loader.dataset)
    lines: list[str] = []
    if not isinstance(loader.dataset, (ast.Name, ast.Attribute)):
        if not own_line:
            raise edits.CannotEdit("its data set is created inside it, in a larger expression")
        if "#" in dataset:
            raise edits.CannotEdit("there is a comment inside its data set")
        name = _beside(names, stem, "dataset")
        lines.append(f"{name} = {_moved_out(names, statement, loader.dataset)}")
        made.append(edits.replace(source, loader.dataset, name))
        dataset = name
    return _beside_loader(loader, dataset, hvd, lines, made)


def _of_phase(facts: Facts, loader: Loader, phase: Phase) -> list[Edit]:
    """A sampler for the loader of one phase, where a call makes those of all."""
    source, hvd = loader.names.source, horovod_name(facts, loader.names)
    dataset, written = loader.dataset, keyword(loader.node, "shuffle")
    if dataset is None or any(isinstance(part, ast.Call) for part in ast.walk(dataset)):
        raise edits.CannotEdit("its data set is created inside it, for each phase")
    taken = {item.arg for item in loader.node.keywords} & {None, "sampler", "batch_sampler"}
    if loader.shuffle is not written or taken:
        raise edits.CannotEdit(
            "its arguments come by position, or from **, or have a sampler, for each phase"
        )
    asked = "False" if written is None else source.segment(written)
    only_then = written is not None and _is_test(loader.names, written, phase)
    if facts.options.target == "hvdkit":
        whole = source.segment(loader.node)
        return [
            edits.replace(source, loader.node, f"{hvd}.distribute({whole}) if {phase.trains} else {whole}")
        ]
    sampler = _sampler(source.segment(dataset), hvd, "True" if only_then else asked)
    given = f"sampler={sampler} if {phase.trains} else None"
    if written is None:
        return [edits.add_arguments(source, loader.node, [given])]
    if not only_then and asked != "False":  # a loader with a sampler takes no shuffle=True
        others = phase.evaluates if asked == "True" else f"({asked}) and {phase.evaluates}"
        given = f"shuffle={others}, {given}"
    place = next(item for item in loader.node.keywords if item.value is written)
    return [edits.replace(source, place, given)]


def _is_test(names: Names, shuffle: ast.expr, phase: Phase) -> bool:
    """Whether a loader shuffles in the phase that trains, and in no other."""
    if isinstance(shuffle, ast.IfExp):
        ways = [getattr(way, "value", None) for way in (shuffle.body, shuffle.orelse)]
        return ways == [True, False] and _is_test(names, shuffle.test, phase)
    if phase.value is True:
        return isinstance(shuffle, ast.Name) and shuffle.id == phase.variable
    return compared(names, shuffle, phase.variable) == phase.value


def _beside_loader(loader: Loader, dataset: str, hvd: str, lines: list[str], made: list[Edit]) -> list[Edit]:
    """A sampler of a data set, above the loader below other lines, or in the loader where it has no name."""
    names, source = loader.names, loader.names.source
    statement, stem, own_line = _target(loader)
    sampler = _sampler(dataset, hvd, _shuffle(loader))
    if own_line and stem:
        variable = _beside(names, stem, "sampler")
        lines += _assigned(names, statement, variable, sampler)
        sampler = variable
    if lines:
        made.append(edits.before(source, statement, lines))
    return [*made, *_given(loader, sampler)]


def _target(loader: Loader) -> tuple[ast.stmt, str, bool]:
    """A loader's statement, the name that it gives to the loader, and whether lines may stand above it."""
    statement = loader.names.statement(loader.node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    stem = getattr(target, "id", "") or getattr(target, "attr", "")
    return statement, stem, isinstance(statement, ast.Assign) and not _in_part(loader.names, loader.node)


def _sampler(dataset: str, hvd: str, shuffle: str) -> str:
    return f"DistributedSampler({dataset}, num_replicas={hvd}.size(), rank={hvd}.rank(), shuffle={shuffle})"


def empty_sampler(facts: Facts, loader: Loader) -> ast.expr | None:
    """The None of `sampler = None` above a loader with `shuffle=(sampler is None), sampler=sampler`.

    A sampler that takes its place says for itself that the loader shuffles no more.
    """
    names, taken, asked = loader.names, loader.sampler, loader.shuffle
    if not isinstance(taken, ast.Name) or not isinstance(loader.dataset, ast.Name):
        return None
    bound = names.bindings(taken.id, taken)
    empty = (
        bound[0].value if len(bound) == 1 and isinstance(names.parents[bound[0].node], ast.Assign) else None
    )
    if not (isinstance(empty, ast.Constant) and empty.value is None and isinstance(asked, ast.Compare)):
        return None
    if ast.unparse(asked) != f"{taken.id} is None":
        return None
    others = (o.sampler for o in every_loader(facts) if o is not loader and o.names is names)
    if any(isinstance(o, ast.Name) and names.bindings(o.id, o) == bound for o in others):
        return None
    statement, block = names.statement(empty), edits.block(names, names.statement(loader.node))
    data = names.bindings(loader.dataset.id, loader.dataset)
    known = all(statement.lineno > getattr(binding.node, "lineno", 0) for binding in data)
    return empty if statement in block and known else None


def in_groups(facts: Facts, loader: Loader) -> bool:
    """Whether a batch sampler of the project's own groups what a sampler draws that can be replaced."""
    return grouped(facts, loader) is not None and plain_sampler(facts, loader) is not None


def plain_sampler(facts: Facts, loader: Loader) -> ast.Call | None:
    """The `RandomSampler(data)` or `SequentialSampler(data)` of this loader alone, in its own file."""
    return _of_one_argument(_own_sampler(facts, loader, RANDOM, SEQUENTIAL))


def picking_sampler(facts: Facts, loader: Loader) -> ast.Call | None:
    """The `SubsetRandomSampler(indices)` of this loader alone, in its own file."""
    return _of_one_argument(_own_sampler(facts, loader, PICKED))


def _of_one_argument(call: ast.Call | None) -> ast.Call | None:
    """A call that has one argument, given by position."""
    return call if call is not None and not call.keywords and len(call.args) == 1 else None


def _own_sampler(facts: Facts, loader: Loader, *classes: str) -> ast.Call | None:
    """The call in a loader's file that makes its sampler, of some classes; None if others draw by it, too."""
    found = frozenset(value for value in _samples(facts, loader) if not value.is_none)
    if len(found) != 1 or any(
        o.node is not loader.node and _samples(facts, o) & found for o in every_loader(facts)
    ):
        return None
    (value,) = found
    call = value.node
    if value.names is not loader.names or not isinstance(call, ast.Call):
        return None
    return call if set(classes) & set(loader.names.qualified(call.func)) else None


def weighted_sampler(facts: Facts, loader: Loader) -> ast.Call | None:
    """The `WeightedRandomSampler(weights, n)` of this loader alone that may draw a sample twice."""
    call = _own_sampler(facts, loader, WEIGHTED)
    if call is None:
        return None
    again = given(call, 2, "replacement")
    if again is not None and not is_on(again):
        return None  # what one rank has drawn, no other may
    known = given(call, 1, "num_samples") is not None and given(call, 3, "generator") is None
    return call if known and "torch" in loader.names.module.names else None


def _weighted_share(names: Names, sampler: ast.Call, hvd: str) -> list[Edit]:
    """Each rank draws its share of as many: draws with replacement do not depend on each other."""
    source, count = names.source, given(sampler, 1, "num_samples")
    assert count is not None
    simple = isinstance(count, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    text = source.segment(count)
    seed = f"torch.Generator().manual_seed(torch.initial_seed() + {hvd}.rank())"
    return [
        edits.replace(source, count, f"{text if simple else f'({text})'} // {hvd}.size()"),
        edits.add_arguments(source, sampler, [f"generator={seed}"]),
    ]


def _picked_share(loader: Loader, sampler: ast.Call, hvd: str) -> list[Edit]:
    """The samples that are picked become the data set, of which each rank draws its share in each epoch."""
    source, data = loader.names.source, loader.dataset
    if data is None or loader.sampler is None:
        raise edits.CannotEdit("its data set was not found")
    picked = source.segment(sampler.args[0])
    if loader.sampler is sampler and not isinstance(sampler.args[0], (ast.Name, ast.Attribute)):
        raise edits.CannotEdit("its sampler is created inside it")
    # A DistributedSampler keeps what it divides, so the expression is evaluated once.
    of = picked if loader.sampler is sampler else f"{source.segment(loader.sampler)}.dataset"
    return [
        edits.replace(source, sampler, _sampler(picked, hvd, "True")),
        edits.replace(source, data, f"Subset({source.segment(data)}, {of})"),
    ]


def _samples(facts: Facts, loader: Loader) -> frozenset[Value]:
    """What a loader's sampler may be, also the one that its batch sampler groups."""
    inner = grouped(facts, loader)
    return facts.flow.values(loader.names, loader.sampler) | (
        facts.flow.values(*inner) if inner else frozenset()
    )


def _assigned(names: Names, statement: ast.stmt, variable: str, sampler: str) -> list[str]:
    """The sampler in a variable, over three lines where one would be long."""
    line = f"{variable} = {sampler}"
    if len(names.source.indent(statement.lineno)) + len(line) <= WIDE:
        return [line]
    head, _, arguments = sampler.partition("(")
    return [f"{variable} = {head}(", f"\t{arguments[:-1]}", ")"]


def _shuffle(loader: Loader) -> str:
    """The expression that says whether the loader shuffled."""
    unpacked = next((k.value for k in loader.node.keywords if k.arg is None), None)
    written = keyword(loader.node, "shuffle")
    source = loader.names.source
    if written is None and loader.shuffle in loader.node.args:
        written = loader.shuffle
    if written is not None:
        return source.segment(written)
    return f'{source.segment(unpacked)}.get("shuffle", False)' if unpacked is not None else "False"


def _given(loader: Loader, sampler: str) -> list[Edit]:
    """The sampler in place of shuffle."""
    source, keywords = loader.names.source, loader.node.keywords
    written = next((item for item in keywords if item.arg == "shuffle"), None)
    none = next((item for item in keywords if item.arg == "sampler"), None)
    if none is not None:  # sampler=None, or it would have one
        off = [edits.replace(source, written.value, "False")] if written is not None else []
        return [*off, edits.replace(source, none.value, sampler)]
    if written is not None:
        return [edits.replace(source, written, f"sampler={sampler}")]
    if loader.shuffle is not None and loader.shuffle is loader.node.args[-1]:
        return [edits.replace(source, loader.shuffle, f"sampler={sampler}")]
    if loader.shuffle in loader.node.args:
        raise edits.CannotEdit("shuffle and more are passed by position")
    unpacked = next((item for item in keywords if item.arg is None), None)
    if unpacked is None:
        return [edits.add_arguments(source, loader.node, [f"sampler={sampler}"])]
    given = source.segment(unpacked.value)
    return [edits.replace(source, unpacked.value, f'{{**{given}, "shuffle": False, "sampler": {sampler}}}')]


def _in_part(names: Names, node: ast.AST) -> bool:
    """Whether a node is run at another time than its statement, or not always: in a lambda, after a test."""
    return any(isinstance(parent, (ast.Lambda, ast.IfExp, ast.BoolOp)) for parent in names.ancestors(node))


def _moved_out(names: Names, statement: ast.stmt, dataset: ast.expr) -> str:
    """A data set on a line of its own: lines below its first move out, as far as its statement."""
    source = names.source
    text = source.segment(dataset)
    indent, deeper = source.indent(statement.lineno), source.indent(dataset.lineno)
    if dataset.lineno == statement.lineno or not deeper.startswith(indent) or "'''" in text or '"""' in text:
        return text
    return text.replace(f"{source.newline}{deeper}", source.newline)


def _beside(names: Names, loader: str, what: str) -> str:
    """A free name for the sampler or data set that goes with a loader's name."""
    return fresh(names, re.sub("(data_?)?loader", what, loader) if "loader" in loader else f"{loader}_{what}")
