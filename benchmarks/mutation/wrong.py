"""Mistakes that people and codemods make when they take a script to Horovod: each wherever it fits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mutation.source import Edits, Sites, Source, keyword, name_of

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop")
SCHEDULERS = ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "OneCycleLR", "LambdaLR")


@dataclass(frozen=True)
class Mistake:
    """named: what the reason that verify gives must match, unless it gives the line."""

    name: str
    what: str
    named: str
    sites: Sites


def _keyword(names: tuple[str, ...], word: str, becomes: str) -> Sites:
    """An argument of some calls becomes something that is made of it, `$`."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            value = keyword(call, word)
            if value is not None:
                yield [source.put(value, becomes.replace("$", source.of(value)))]

    return sites


def _more(names: tuple[str, ...], word: str, text: str) -> Sites:
    """Some calls get an argument that they lack."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            if keyword(call, word) is None:
                yield [source.argument(call, text)]

    return sites


def _dropped(*names: str) -> Sites:
    """Statements that only call one of these do nothing."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            if isinstance(source.parents[call], ast.Expr):
                yield [source.put(source.parents[call], "pass")]

    return sites


def _text(*pairs: tuple[str, str], inside: tuple[str, ...] = ()) -> Sites:
    """An expression that is written like the first becomes the second. inside: calls that it has to be in."""

    def sites(source: Source) -> Iterator[Edits]:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.expr):
                continue
            for old, new in pairs:
                around = [name_of(n.func) for n in source.within(node) if isinstance(n, ast.Call)]
                if source.of(node) == old and (not inside or set(around) & set(inside)):
                    yield [source.put(node, new)]

    return sites


def _first_argument(becomes: str, *names: str) -> Sites:
    """Some calls of Horovod become something that is made of what they are given, `$`."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            if call.args and source.of(call.func).startswith("hvd."):
                yield [source.put(call, becomes.replace("$", source.of(call.args[0])))]

    return sites


def _backward(source: Source) -> Iterator[Edits]:
    for call in source.calls("backward"):
        if isinstance(call.func, ast.Attribute):
            loss = call.func.value
            yield [source.put(loss, f"({source.of(loss)} / hvd.size())")]


def _epochs(source: Source) -> Iterator[Edits]:
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.For) and "epoch" in source.of(node.target)):
            continue
        if isinstance(node.iter, ast.Call) and name_of(node.iter.func) == "range":
            last = node.iter.args[min(1, len(node.iter.args) - 1)]
            yield [source.put(last, f"-(-({source.of(last)}) // hvd.size())")]


def _clip_before(source: Source) -> Iterator[Edits]:
    synchronized = [c for c in source.calls("synchronize") if isinstance(source.parents[c], ast.Expr)]
    if synchronized and any(source.calls("clip_grad_norm_", "clip_grad_value_")):
        edits = [source.put(source.parents[call], "pass") for call in synchronized]
        yield (
            edits
            + [source.put(call, "contextlib.nullcontext()") for call in source.calls("skip_synchronize")]
            + [source.top("import contextlib")]
        )


def _clip_more(source: Source) -> Iterator[Edits]:
    for call in source.calls("clip_grad_norm_"):
        if len(call.args) > 1:
            yield [source.put(call.args[1], f"{source.of(call.args[1])} / hvd.size()")]


def _is_rank_0(source: Source, node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and source.of(node) == "hvd.rank() == 0"


def _guard(becomes: str) -> Sites:
    """The test of a block that rank 0 alone runs."""

    def sites(source: Source) -> Iterator[Edits]:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.If) and _is_rank_0(source, node.test):
                yield [source.put(node.test, becomes)]

    return sites


def _on_rank_0(*names: str, within: str = "") -> Sites:
    """A call that all ranks make is made by rank 0 alone."""

    def sites(source: Source) -> Iterator[Edits]:
        for call in source.calls(*names):
            statement = source.parents[call]
            if isinstance(statement, ast.Expr) and within in source.of(call.func):
                yield [source.put(statement, f"(hvd.rank() == 0) and {source.of(call)}")]

    return sites


def _saved(source: Source) -> Iterator[ast.Call]:
    for call in source.calls("save"):
        if source.of(call.func) == "torch.save" and call.args:
            yield call


def _epoch_saved(source: Source) -> Iterator[Edits]:
    for call in _saved(source):
        for node in ast.walk(call.args[0]):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values):
                    if isinstance(key, ast.Constant) and key.value == "epoch":
                        yield [source.put(value, f"({source.of(value)}) * hvd.size() + 1")]


def _key_lost(source: Source) -> Iterator[Edits]:
    for call in _saved(source):
        if isinstance(call.args[0], ast.Dict) and len(call.args[0].keys) > 1:
            saved = call.args[0]
            for lost in range(len(saved.keys)):
                kept = [
                    f"{source.of(key)}: {source.of(value)}"
                    for place, (key, value) in enumerate(zip(saved.keys, saved.values))
                    if place != lost and key is not None
                ]
                yield [source.put(saved, "{" + ", ".join(kept) + "}")]


def _never_saved(source: Source) -> Iterator[Edits]:
    for call in _saved(source):
        if isinstance(source.parents[call], ast.Expr):
            yield [source.put(source.parents[call], "pass")]


def _no_sampler(source: Source) -> Iterator[Edits]:
    for call in source.calls("DataLoader"):
        sampler = keyword(call, "sampler")
        if sampler is None or keyword(call, "shuffle") is not None:
            continue
        word = next(word for word in call.keywords if word.arg == "sampler")
        yield [
            source.put(word, "shuffle=True"),
            *(source.put(source.parents[c], "pass") for c in source.calls("set_epoch")),
        ]


def _evaluates_share(source: Source) -> Iterator[Edits]:
    for call in source.calls("DataLoader"):
        words = {word.arg for word in call.keywords}
        if call.args and words <= {"batch_size", "num_workers"} and len(call.args) < 3:
            data = source.of(call.args[0])
            sampler = f"DistributedSampler({data}, hvd.size(), hvd.rank(), shuffle=False)"
            yield [
                source.argument(call, f"sampler={sampler}"),
                source.top("from torch.utils.data import DistributedSampler"),
            ]


def _not_wrapped(source: Source) -> Iterator[Edits]:
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


def _stops_later(source: Source) -> Iterator[Edits]:
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


def _slices(source: Source) -> Iterator[Edits]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Slice) and node.step is not None and source.of(node.step) == "hvd.size()":
            yield [source.put(node.step, "2 * hvd.size()")]
            if node.lower is not None:
                yield [source.put(node.lower, "0")]


def _statistics(source: Source) -> Iterator[Edits]:
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


def _average_of_weights(source: Source) -> Iterator[Edits]:
    """How fast a running average follows."""
    for call in source.calls("lerp_", "mul_"):
        if call.args and isinstance(call.args[-1], ast.Constant) and isinstance(call.args[-1].value, float):
            yield [source.put(call.args[-1], f"{source.of(call.args[-1])} ** hvd.size()")]
            if isinstance(source.parents[call], ast.Expr):
                yield [source.put(source.parents[call], "pass")]


def _accumulated(source: Source) -> Iterator[Edits]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and "+ 1" in source.of(node.left):
            yield [source.put(node.right, f"({source.of(node.right)} * hvd.size())")]


def _loss_not_divided(source: Source) -> Iterator[Edits]:
    for call in source.calls("backward"):
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        for node in ast.walk(held) if held is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                yield [source.put(node, source.of(node.left))]


AVERAGED = "average|sum|scale|allreduce|reduc"
SHARED = "sampl|share|shard|batch"
RATE = "rate|schedule"
WRITTEN = "writ|wrote|saved|file|not in it|printed|HVD60|content"
NUMBER = "metric|evaluat|printed|number|decision|reduc|content|ReduceLROnPlateau|HVD870|HVD50"

MISTAKES = (
    Mistake("sum", "gradients are summed", AVERAGED, _more(("DistributedOptimizer",), "op", "op=hvd.Sum")),
    Mistake("loss-by-size", "the loss is divided by the ranks as well", "twice|divided", _backward),
    Mistake("not-wrapped", "the optimizer is not Horovod's", "wrap|average", _not_wrapped),
    Mistake("no-broadcast", "weights are not sent", "broadcast", _dropped("broadcast_parameters")),
    Mistake(
        "buffers-not-sent",
        "parameters are sent and buffers are not",
        "broadcast|buffer",
        _text(("model.state_dict()", "model.named_parameters()"), inside=("broadcast_parameters",)),
    ),
    Mistake(
        "optimizer-not-sent",
        "what rank 0 has loaded is not sent",
        "broadcast|state|load",
        _dropped("broadcast_optimizer_state"),
    ),
    Mistake(
        "decay-by-size",
        "weight decay times the number of ranks",
        "setting|weight.decay",
        _keyword(OPTIMIZERS, "weight_decay", "($) * hvd.size()"),
    ),
    Mistake(
        "decay-added",
        "weight decay that the original has not",
        "setting|weight.decay",
        _more(OPTIMIZERS, "weight_decay", "weight_decay=0.01"),
    ),
    Mistake(
        "momentum-by-size",
        "momentum divided by the number of ranks",
        "setting|momentum",
        _keyword(OPTIMIZERS, "momentum", "($) / hvd.size()"),
    ),
    Mistake(
        "rate-by-square",
        "the rate is scaled twice",
        RATE,
        _keyword(OPTIMIZERS, "lr", "($) * hvd.size() ** 2"),
    ),
    Mistake(
        "rate-of-rank-0",
        "rank 0 alone scales its rate",
        RATE,
        _keyword(OPTIMIZERS, "lr", "($) * (hvd.size() if hvd.rank() == 0 else 1)"),
    ),
    Mistake(
        "gamma-by-size",
        "a schedule's factor is taken to the power of the ranks",
        RATE,
        _keyword(SCHEDULERS, "gamma", "($) ** hvd.size()"),
    ),
    Mistake(
        "schedule-by-size",
        "a schedule's length is multiplied",
        RATE,
        _keyword(SCHEDULERS, "step_size", "($) * hvd.size()"),
    ),
    Mistake(
        "cycle-by-size",
        "a cycle is as long as all ranks' steps together",
        RATE,
        _keyword(SCHEDULERS, "total_steps", "($) * hvd.size()"),
    ),
    Mistake(
        "schedule-on-rank-0", "rank 0 alone steps the scheduler", RATE, _on_rank_0("step", within="sched")
    ),
    Mistake("epochs-by-size", "the number of epochs is divided", "steps|epoch", _epochs),
    Mistake("epoch-saved", "the checkpoint has another epoch", WRITTEN, _epoch_saved),
    Mistake("key-lost", "the checkpoint lacks something", WRITTEN, _key_lost),
    Mistake("never-saved", "no rank writes the file", WRITTEN, _never_saved),
    Mistake("written-by-none", "the guard is never true", WRITTEN, _guard("hvd.rank() == hvd.size()")),
    Mistake("written-by-all", "the guard is gone", WRITTEN, _guard("True")),
    Mistake(
        "written-by-hosts",
        "the guard asks for the local rank",
        WRITTEN + "|local",
        _guard("hvd.local_rank() == 0"),
    ),
    Mistake(
        "metric-op",
        "a sum is taken for an average, or an average for a sum",
        NUMBER,
        _text(
            ("hvd.Sum", "hvd.Average"),
            ("hvd.Average", "hvd.Sum"),
            ("hvd.Max", "hvd.Sum"),
            inside=("allreduce", "allreduce_"),
        ),
    ),
    Mistake("metric-own", "a metric is each rank's own", NUMBER, _first_argument("$", "allreduce")),
    Mistake(
        "metric-sent",
        "rank 0 sends its metric instead of reducing it",
        NUMBER,
        _first_argument("hvd.broadcast($, root_rank=0)", "allreduce"),
    ),
    Mistake(
        "own-decision",
        "each rank decides by what it has found itself",
        NUMBER + "|steps|end",
        _first_argument("$", "broadcast_object"),
    ),
    Mistake("evaluates-share", "an evaluation is shared out and not reduced", NUMBER, _evaluates_share),
    Mistake(
        "share-total",
        "a metric is divided by the share's size",
        NUMBER,
        _text(
            ("len(loader.dataset)", "len(loader.sampler)"),
            ("len(val_loader.dataset)", "len(val_loader.sampler)"),
        ),
    ),
    Mistake("no-sampler", "every rank trains on all samples", SHARED, _no_sampler),
    Mistake(
        "sampler-rank",
        "every rank has the first one's share",
        SHARED,
        _keyword(("DistributedSampler",), "rank", "0"),
    ),
    Mistake(
        "sampler-local-rank",
        "the sampler is given the local rank",
        SHARED + "|local",
        _keyword(("DistributedSampler",), "rank", "hvd.local_rank()"),
    ),
    Mistake(
        "sampler-half",
        "half of the samples are never drawn",
        SHARED + "|left out",
        _keyword(("DistributedSampler",), "num_replicas", "2 * ($)"),
    ),
    Mistake(
        "sampler-seed",
        "each rank shuffles by a seed of its own",
        SHARED,
        _more(("DistributedSampler",), "seed", "seed=hvd.rank()"),
    ),
    Mistake(
        "unshuffled",
        "the sampler no longer shuffles",
        "shuffle|order|" + SHARED,
        _more(("DistributedSampler",), "shuffle", "shuffle=False"),
    ),
    Mistake("no-set-epoch", "every epoch has the order of the first", "epoch|order", _dropped("set_epoch")),
    Mistake(
        "constant-epoch",
        "set_epoch is given one number",
        "epoch|order",
        _text(("epoch", "0"), ("self.epoch", "0"), inside=("set_epoch",)),
    ),
    Mistake(
        "clip-before-average",
        "gradients are clipped while they are reduced",
        "clip|synchronize",
        _clip_before,
    ),
    Mistake("clip-by-size", "gradients are clipped to less", "clip|gradient", _clip_more),
    Mistake("accumulates-more", "more batches are accumulated", "step|gradient", _accumulated),
    Mistake(
        "accumulated-not-divided",
        "the accumulated loss is not divided",
        "gradient|loss|divi",
        _loss_not_divided,
    ),
    Mistake("not-cleared", "gradients are not cleared", "gradient|loss|clear", _dropped("zero_grad")),
    Mistake("stops-later", "patience is multiplied by the ranks", "step|epoch|end", _stops_later),
    Mistake(
        "average-of-weights",
        "a running average has another decay, or none",
        "untrained|average|module|content",
        _average_of_weights,
    ),
    Mistake("half-the-share", "a slice skips half of it, or has all ranks begin alike", SHARED, _slices),
    Mistake(
        "own-statistics",
        "what is counted in all data is counted in the share",
        "statistic|loss|setting|buffer|same|sampl|normalis",
        _statistics,
    ),
)
