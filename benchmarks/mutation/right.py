"""Migrations written another way: each keeps what the script means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mutation.source import Edits, Sites, Source, keyword, name_of
from mutation.wrong import OPTIMIZERS


@dataclass(frozen=True)
class Refactoring:
    """exact: it computes what the script did, to the bit; else something that is as right."""

    name: str
    what: str
    sites: Sites
    exact: bool = True


def _guards(source: Source) -> list[ast.If]:
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.If) and source.of(node.test) == "hvd.rank() == 0"
    ]


def _guard(becomes: str, top: str = "") -> Sites:
    def sites(source: Source) -> Iterator[Edits]:
        edits = [source.put(node.test, becomes) for node in _guards(source)]
        if edits:
            yield [*edits, *([source.top(top)] if top else [])]

    return sites


def _inverted(source: Source) -> Iterator[Edits]:
    for node in _guards(source):
        if not node.orelse:
            indent = " " * node.col_offset
            first = source.start(node)
            yield (
                [
                    source.put(node.test, "hvd.rank() != 0"),
                    type(source.put(node, ""))(
                        source.end(node.test) + 1,
                        source.end(node.test) + 1,
                        f"\n{indent}    pass\n{indent}else:",
                    ),
                ]
                if source.raw[first : first + 2] == b"if"
                else []
            )


def _renamed(source: Source) -> Iterator[Edits]:
    for name in ("optimizer", "model", "train_loader", "loader", "sampler", "opt"):
        nodes = [n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == name]
        taken = any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(source.tree))
        if nodes and not taken:
            yield [source.put(node, f"the_{name}") for node in nodes]


AVERAGE = """
def average_gradients(optimizer):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad.copy_(hvd.allreduce(parameter.grad))
"""


def _by_hand(source: Source) -> Iterator[Edits]:
    """Each gradient is averaged by the script, where Horovod's optimizer was waited for, or at the step."""
    wrapped = list(source.calls("DistributedOptimizer"))
    if len(wrapped) != 1 or wrapped[0].keywords[1:] or "GradScaler" in source.text:
        return
    edits = [source.put(wrapped[0], source.of(wrapped[0].args[0])), source.top(AVERAGE.strip())]
    if any(_is_trained_alone(source)):
        return
    waits = [call for call in source.calls("synchronize") if isinstance(source.parents[call], ast.Expr)]
    steps = [c for c in source.calls("step") if name_of(getattr(c.func, "value", c)) in ("optimizer", "opt")]
    accumulates = any(
        isinstance(node, ast.Mod) for node in ast.walk(source.tree)
    )  # a gradient that is averaged at each batch is averaged again with the next
    if accumulates or not steps:
        return
    if waits:
        edits += [source.put(call, _averaging(source, call)) for call in waits]
        edits += [source.put(call, "contextlib.nullcontext()") for call in source.calls("skip_synchronize")]
        edits += [source.top("import contextlib")]
    else:
        edits += [source.before(source.statement(call), _averaging(source, call)) for call in steps]
    yield edits


def _is_trained_alone(source: Source) -> Iterator[ast.AST]:
    """Arguments that Horovod's optimizer has and a loop has not."""
    for call in source.calls("DistributedOptimizer"):
        yield from (word for word in call.keywords if word.arg not in ("named_parameters",))


def _averaging(source: Source, call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    return f"average_gradients({source.of(call.func.value)})"


def _broadcast_by_hand(source: Source) -> Iterator[Edits]:
    for call in source.calls("broadcast_parameters"):
        if source.of(call.args[0]).endswith("state_dict()"):
            loop = f"[hvd.broadcast_(t, 0) for t in {source.of(call.args[0])}.values()]"
            yield [source.put(call, loop)]


def _own_sampler(source: Source) -> Iterator[Edits]:
    calls = list(source.calls("DistributedSampler"))
    if calls and all(isinstance(call.func, ast.Name) for call in calls):
        edits = [source.put(call.func, "Share") for call in calls]
        yield [*edits, source.top("class Share(DistributedSampler):\n    pass\n")]


OTHER_ORDER = """
class Share(torch.utils.data.Sampler):
    def __init__(self, data, num_replicas, rank, **more):
        self.data, self.size, self.rank, self.epoch = data, num_replicas, rank, 0
        self.shuffle = more.get("shuffle", True)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return -(-len(self.data) // self.size)

    def __iter__(self):
        order = list(range(len(self.data)))
        if self.shuffle:
            generator = torch.Generator().manual_seed(90 + self.epoch)
            order = torch.randperm(len(order), generator=generator).tolist()
        order += order[: len(self) * self.size - len(order)]
        return iter(order[self.rank :: self.size])
"""


def _other_order(source: Source) -> Iterator[Edits]:
    calls = [c for c in source.calls("DistributedSampler") if keyword(c, "rank") is not None]
    if calls and len(calls) == len(list(source.calls("DistributedSampler"))):
        if all(keyword(call, "num_replicas") is not None for call in calls):
            yield [*(source.put(c.func, "Share") for c in calls), source.top(OTHER_ORDER.strip() + "\n")]


def _reduced_otherwise(source: Source) -> Iterator[Edits]:
    for call in source.calls("allreduce"):
        operation = keyword(call, "op")
        if operation is None or not source.of(call.func).startswith("hvd."):
            continue
        given = source.of(call.args[0])
        if source.of(operation) == "hvd.Sum":
            yield [
                source.put(call, f"hvd.allgather(({given}).reshape(1, -1)).sum(0).reshape(({given}).shape)")
            ]
        if source.of(operation) == "hvd.Average":
            yield [source.put(call, f"(hvd.allreduce({given}, op=hvd.Sum) / hvd.size())")]
        yield [source.put(call, f"hvd.synchronize(hvd.allreduce_async({given}, op={source.of(operation)}))")]


def _spelled_out(source: Source) -> Iterator[Edits]:
    for call in source.calls("DistributedOptimizer"):
        if keyword(call, "op") is None:
            yield [source.argument(call, "op=hvd.Average")]
            yield [source.argument(call, "compression=hvd.Compression.none")]
            yield [source.argument(call, "op=hvd.Average, gradient_predivide_factor=2.0")]


def _later_epochs(source: Source) -> Iterator[Edits]:
    for call in source.calls("set_epoch"):
        if len(call.args) == 1:
            yield [source.put(call.args[0], f"1000 + {source.of(call.args[0])}")]


def _seeded_otherwise(source: Source) -> Iterator[Edits]:
    for call in source.calls("DistributedSampler"):
        if keyword(call, "seed") is None:
            yield [source.argument(call, "seed=5")]


def _saved_by_helper(source: Source) -> Iterator[Edits]:
    helper = "def save_on_root(*what):\n    if hvd.rank() == 0:\n        torch.save(*what)\n"
    calls = [c for c in source.calls("save") if source.of(c.func) == "torch.save" and not c.keywords]
    if calls:
        yield [*(source.put(call.func, "save_on_root") for call in calls), source.top(helper)]


def _rate_toggled(source: Source) -> Iterator[Edits]:
    for call in source.calls(*OPTIMIZERS):
        rates = [word.value for word in call.keywords if word.arg == "lr"]
        if (
            len(rates) == 1
            and len(list(source.calls(*OPTIMIZERS))) == 1
            and "lr" not in _groups(source, call)
        ):
            rate = source.of(rates[0])
            shown = rate.replace(" * hvd.size()", "") if "hvd.size()" in rate else f"({rate}) * hvd.size()"
            yield [source.put(rates[0], shown)]


def _groups(source: Source, call: ast.Call) -> set[str]:
    """Rates that groups have of their own."""
    return set(re.findall(r"[\"'](lr)[\"']", source.of(call)))


def _small_model(source: Source) -> Iterator[Edits]:
    """Rank 0 has a small model more, which no one trains."""
    for call in source.calls("DistributedOptimizer"):
        line = "probe = torch.nn.Linear(2, 2) if hvd.rank() == 0 else None"
        yield [source.after(source.statement(call), line)]


def _told_more(source: Source) -> Iterator[Edits]:
    for call in source.calls("set_epoch"):
        line = 'print(f"rank {hvd.rank()} of {hvd.size()} begins an epoch")'
        yield [source.after(source.statement(call), line)]


def _places_in_names(source: Source) -> Iterator[Edits]:
    """Rank and size come from a function of the script's."""
    nodes = [c for c in source.calls("rank", "size") if source.of(c) in ("hvd.rank()", "hvd.size()")]
    if nodes:
        helper = "def world():\n    return {'rank': hvd.rank(), 'size': hvd.size()}\n"
        edits = [source.put(call, f"world()[{name_of(call.func)!r}]") for call in nodes]
        yield [*edits, source.top(helper)]


def _evaluated_by_one(source: Source) -> Iterator[Edits]:
    """Rank 0 evaluates, and sends what it has found."""
    if "allreduce" in source.text or "allgather" in source.text:
        return
    for call in source.calls("validate", "evaluate"):
        if isinstance(source.parents[call], ast.Assign):
            found = f"{source.of(call)} if hvd.rank() == 0 else None"
            yield [source.put(call, f"hvd.broadcast_object({found}, root_rank=0)")]


REFACTORINGS = (
    Refactoring("as-it-is", "the migration itself", lambda source: iter([[]])),
    Refactoring("guard-not", "guards ask `not hvd.rank()`", _guard("not hvd.rank()")),
    Refactoring(
        "guard-function",
        "guards ask a function",
        _guard("is_main()", "def is_main():\n    return hvd.rank() == 0\n"),
    ),
    Refactoring("guard-inverted", "the guarded block is in the else", _inverted),
    Refactoring("renamed", "a variable has another name", _renamed),
    Refactoring("by-hand", "each gradient is averaged by the script", _by_hand),
    Refactoring("sent-by-hand", "each tensor is sent by the script", _broadcast_by_hand),
    Refactoring("sampler-class", "the sampler is a class of the script's", _own_sampler),
    Refactoring("sampler-order", "a sampler of the script's, with an order of its own", _other_order, False),
    Refactoring(
        "reduced-otherwise", "a metric is gathered, divided or reduced asynchronously", _reduced_otherwise
    ),
    Refactoring("spelled-out", "what Horovod does anyway is asked for", _spelled_out),
    Refactoring("later-epochs", "set_epoch is given other numbers", _later_epochs, False),
    Refactoring("seeded-otherwise", "the sampler has another seed", _seeded_otherwise, False),
    Refactoring("saved-by-helper", "a function of the script's saves on rank 0", _saved_by_helper),
    Refactoring("rate-toggled", "the rate is scaled, or is no longer", _rate_toggled, False),
    Refactoring("small-model", "rank 0 has one small model more", _small_model, False),
    Refactoring("told-more", "each rank prints a line more", _told_more, False),
    Refactoring("world-function", "rank and size come from a function", _places_in_names),
    Refactoring("evaluated-by-one", "rank 0 evaluates and sends the number", _evaluated_by_one, False),
)
