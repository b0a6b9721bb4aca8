"""HVD850: the device is chosen by the rank in the job, not in the node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

DEVICES = ("torch.cuda.set_device", "torch.cuda.device", "torch.device")
MESSAGE = "devices are counted per node: on the second node this one does not exist"


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for names, node in _indices(facts):
        if names in files and rank_kinds(facts).of(names, node) == {"rank"}:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield safe(facts, "HVD850", names, node, MESSAGE, _local, names, node)
            else:
                yield manual("HVD850", names, node, MESSAGE, "use hvd.local_rank()")


def _indices(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """Expressions that number a device."""
    for site in facts.calls(*DEVICES):
        for given in site.node.args[-1:]:
            yield site.names, given
    for names, call, _ in facts.methods("cuda"):
        for given in call.args[:1]:
            yield names, given
    for site in facts.calls(
        "tensorflow.config.experimental.set_visible_devices", "tensorflow.config.set_visible_devices"
    ):
        for part in site.node.args[:1]:
            for node in ast.walk(part):
                if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.expr):
                    yield site.names, node.slice
    for names in facts.files:
        for target, binding in names.stores.get("visible_device_list", ()):
            if isinstance(binding.value, ast.Call) and binding.value.args and target is not None:
                yield names, binding.value.args[0]


def _local(names: Names, node: ast.Call) -> Edit:
    assert isinstance(node.func, ast.Attribute)
    return edits.replace(names.source, node.func, f"{names.source.segment(node.func.value)}.local_rank")


RULE = Rule(
    id="HVD850",
    title="the device is chosen by hvd.rank()",
    what=(
        'On one node this is correct. On two, the ranks of the second ask for devices that it does not have: "invalid '
        'device ordinal", or a list index out of range.'
    ),
    why="hvd.rank() counts the ranks of the job, hvd.local_rank() those of the node, as devices are counted.",
    safety="Safe: hvd.local_rank() in place of hvd.rank(); on one node they are the same number.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            torch.cuda.set_device(hvd.rank())
            device = torch.device("cuda", hvd.rank())
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            torch.cuda.set_device(hvd.local_rank())
            device = torch.device("cuda", hvd.local_rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            torch.cuda.set_device(hvd.local_rank())
            model.cuda(hvd.rank() % torch.cuda.device_count())
            """,
            reason="both are the number within the node",
        ),
    ),
)
