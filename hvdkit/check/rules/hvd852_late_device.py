"""HVD852: the device is chosen after something was moved to one."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.check.order import always_before
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for site in facts.calls("torch.cuda.set_device"):
        if site.names not in files:
            continue
        for names, call, _ in facts.methods("cuda"):
            same = names is site.names and not call.args and not call.keywords
            if same and always_before(names, call, site.node):
                message = "this goes to the first GPU on every rank: the device is chosen further below"
                advice = "call torch.cuda.set_device(hvd.local_rank()) right after hvd.init()"
                yield manual("HVD852", names, call, message, advice)


RULE = Rule(
    id="HVD852",
    title="the device is chosen too late",
    what=(
        "Every rank puts a context, and everything moved so far, on the node's first GPU, which runs out of "
        "memory; the model and its input are on different devices."
    ),
    why='"cuda" is the device that is current when the line runs.',
    safety="Nothing is edited: the line has to move up, above the first use of CUDA.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2).cuda()
            torch.cuda.set_device(hvd.local_rank())
            """,
            reason="the model is on the first GPU already",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            torch.cuda.set_device(hvd.local_rank())
            model = torch.nn.Linear(2, 2).cuda()
            """,
            reason="the device is chosen first",
        ),
    ),
)
