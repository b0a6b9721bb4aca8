"""Where a mistake fits, and what it does there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.source import Edits, Sites, Source, keyword, name_of


def argument(names: tuple[str, ...], word: str, becomes: str) -> Sites:
    """An argument of some calls becomes something that is made of it, `$`."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            value = keyword(call, word)
            if value is not None:
                yield [source.put(value, becomes.replace("$", source.of(value)))]

    return sites


def more(names: tuple[str, ...], word: str, text: str) -> Sites:
    """Some calls get an argument that they lack."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            if keyword(call, word) is None:
                yield [source.argument(call, text)]

    return sites


def dropped(*names: str) -> Sites:
    """Statements that only call one of these do nothing."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            if isinstance(source.parents[call], ast.Expr):
                yield [source.put(source.parents[call], "pass")]

    return sites


def written_as(*pairs: tuple[str, str], inside: tuple[str, ...] = ()) -> Sites:
    """An expression that is written like the first becomes the second. inside: calls that it has to be in."""

    def sites(source: Source) -> Iterator[Edits]:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.expr):
                continue
            for old, new in pairs:
                if source.of(node) != old:
                    continue
                around = {name_of(n.func) for n in source.within(node) if isinstance(n, ast.Call)}
                if not inside or around & set(inside):
                    yield [source.put(node, new)]

    return sites


def first_argument(becomes: str, *names: str) -> Sites:
    """Some calls of Horovod become something that is made of what they are given, `$`."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            if call.args and source.of(call.func).startswith("hvd."):
                yield [source.put(call, becomes.replace("$", source.of(call.args[0])))]

    return sites


def backward(source: Source) -> Iterator[Edits]:
    for call in source.calls("backward"):
        if isinstance(call.func, ast.Attribute):
            loss = call.func.value
            yield [source.put(loss, f"({source.of(loss)} / hvd.size())")]


def epochs(source: Source) -> Iterator[Edits]:
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.For) and "epoch" in source.of(node.target)):
            continue
        if isinstance(node.iter, ast.Call) and name_of(node.iter.func) == "range":
            last = node.iter.args[min(1, len(node.iter.args) - 1)]
            yield [source.put(last, f"-(-({source.of(last)}) // hvd.size())")]


def clip_before(source: Source) -> Iterator[Edits]:
    synchronized = [c for c in source.calls("synchronize") if isinstance(source.parents[c], ast.Expr)]
    if synchronized and any(source.calls("clip_grad_norm_", "clip_grad_value_")):
        edits = [source.put(source.parents[call], "pass") for call in synchronized]
        yield (
            edits
            + [source.put(call, "contextlib.nullcontext()") for call in source.calls("skip_synchronize")]
            + [source.top("import contextlib")]
        )


def clip_more(source: Source) -> Iterator[Edits]:
    for call in source.calls("clip_grad_norm_"):
        if len(call.args) > 1:
            yield [source.put(call.args[1], f"{source.of(call.args[1])} / hvd.size()")]


def is_rank_0(source: Source, node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and source.of(node) == "hvd.rank() == 0"


def guard(becomes: str) -> Sites:
    """The test of a block that rank 0 alone runs."""

    def sites(source: Source) -> Iterator[Edits]:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.If) and is_rank_0(source, node.test):
                yield [source.put(node.test, becomes)]

    return sites


def on_rank_0(*names: str, within: str = "") -> Sites:
    """A call that all ranks make is made by rank 0 alone."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            statement = source.parents[call]
            if isinstance(statement, ast.Expr) and within in source.of(call.func):
                yield [source.put(statement, f"(hvd.rank() == 0) and {source.of(call)}")]

    return sites


def saved(source: Source) -> Iterator[ast.Call]:
    for call in source.calls("save"):
        if source.of(call.func) == "torch.save" and call.args:
            yield call


def epoch_saved(source: Source) -> Iterator[Edits]:
    for call in saved(source):
        for node in ast.walk(call.args[0]):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values):
                    if isinstance(key, ast.Constant) and key.value == "epoch":
                        yield [source.put(value, f"({source.of(value)}) * hvd.size() + 1")]


def key_lost(source: Source) -> Iterator[Edits]:
    for call in saved(source):
        if isinstance(call.args[0], ast.Dict) and len(call.args[0].keys) > 1:
            given = call.args[0]
            for lost in range(len(given.keys)):
                kept = [
                    f"{source.of(key)}: {source.of(value)}"
                    for place, (key, value) in enumerate(zip(given.keys, given.values))
                    if place != lost and key is not None
                ]
                yield [source.put(given, "{" + ", ".join(kept) + "}")]


def never_saved(source: Source) -> Iterator[Edits]:
    for call in saved(source):
        if isinstance(source.parents[call], ast.Expr):
            yield [source.put(source.parents[call], "pass")]


def no_sampler(source: Source) -> Iterator[Edits]:
    for call in source.calls("DataLoader"):
        sampler = keyword(call, "sampler")
        if sampler is None or keyword(call, "shuffle") is not None:
            continue
        word = next(word for word in call.keywords if word.arg == "sampler")
        yield [
            source.put(word, "shuffle=True"),
            *(source.put(source.parents[c], "pass") for c in source.calls("set_epoch")),
        ]


def evaluates_share(source: Source) -> Iterator[Edits]:
    for call in source.calls("DataLoader"):
        words = {word.arg for word in call.keywords}
        if call.args and words <= {"batch_size", "num_workers"} and len(call.args) < 3:
            data = source.of(call.args[0])
            sampler = f"DistributedSampler({data}, hvd.size(), hvd.rank(), shuffle=False)"
            yield [
                source.argument(call, f"sampler={sampler}"),
                source.top("from torch.utils.data import DistributedSampler"),
            ]


def not_wrapped(source: Source) -> Iterator[Edits]:
    wrapped = list(source.calls("DistributedOptimizer"))
    for call in wrapped:
        if any(source.calls("synchronize")) and len(wrapped) > 1:
            continue
        yield [
            source.put(call, source.of(call.args[0])),
            *(source.put(source.parents[c], "pass") for c in source.calls("synchronize")),
            *(source.put(c, "contextlib.nullcontext()") for c in source.calls("skip_synchronize")),
            source.top("import contextlib"),
        ]


def stops_later(source: Source) -> Iterator[Edits]:
    """What is counted before an end, and compared with a number or an option."""
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], (ast.GtE, ast.Eq))
            and len(node.ops) == 1
        ):
            counted = source.of(node.left)
            if any(word in counted for word in ("bad", "worse", "wait", "count", "patience", "stale")):
                bound = node.comparators[0]
                yield [source.put(bound, f"({source.of(bound)}) * hvd.size()")]


def slices(source: Source) -> Iterator[Edits]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Slice) and node.step is not None and source.of(node.step) == "hvd.size()":
            yield [source.put(node.step, "2 * hvd.size()")]
            if node.lower is not None:
                yield [source.put(node.lower, "0")]


def statistics(source: Source) -> Iterator[Edits]:
    """A number of the whole data set is made of the rank's own part."""
    for call in source.calls("bincount"):
        if call.args:
            yield [source.put(call.args[0], f"{source.of(call.args[0])}[hvd.rank() :: hvd.size()]")]
    for call in source.calls("mean", "std"):
        if isinstance(call.func, ast.Attribute) and not any(
            isinstance(one, (ast.For, ast.While)) for one in source.within(call)
        ):
            data = call.func.value
            yield [source.put(data, f"{source.of(data)}[hvd.rank() :: hvd.size()]")]


def average_of_weights(source: Source) -> Iterator[Edits]:
    """How fast a running average follows."""
    for call in source.calls("lerp_", "mul_"):
        if call.args and isinstance(call.args[-1], ast.Constant) and isinstance(call.args[-1].value, float):
            yield [source.put(call.args[-1], f"{source.of(call.args[-1])} ** hvd.size()")]
            if isinstance(source.parents[call], ast.Expr):
                yield [source.put(source.parents[call], "pass")]


def accumulated(source: Source) -> Iterator[Edits]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and "+ 1" in source.of(node.left):
            yield [source.put(node.right, f"({source.of(node.right)} * hvd.size())")]


def loss_not_divided(source: Source) -> Iterator[Edits]:
    for call in source.calls("backward"):
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        for node in ast.walk(held) if held is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                yield [source.put(node, source.of(node.left))]
