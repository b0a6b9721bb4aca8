"""HVD894: the learning-rate callbacks without initial_lr."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import called
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import unpacks

KINDS = ("callbacks.LearningRateWarmupCallback", "callbacks.LearningRateScheduleCallback")


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, *KINDS, modules=words.HOROVOD_TENSORFLOW):
        given = site.node.args or any(keyword.arg == "initial_lr" for keyword in site.node.keywords)
        if not given and not unpacks(site.node):
            message = "this callback needs initial_lr since Horovod 0.21: TypeError"
            advice = "give it initial_lr=, the rate of the optimizer"
            yield manual("HVD894", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD894",
    title="a learning-rate callback without initial_lr",
    what="It raises TypeError: \"missing 1 required positional argument: 'initial_lr'\".",
    why="up to 0.20 the callback read the optimizer's rate; since 0.21 it must be passed, so that a resume cannot change it.",
    safety="Nothing is edited: the rate is the one that the optimizer was created with, hvd.size() included.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.keras as hvd

            hvd.init()
            warmup = hvd.callbacks.LearningRateWarmupCallback(warmup_epochs=5, verbose=1)
            """,
            reason="the rate is missing",
            reported=True,
        ),
        Keep(
            """\
            import horovod.keras as hvd

            hvd.init()
            warmup = hvd.callbacks.LearningRateWarmupCallback(initial_lr=0.1, warmup_epochs=5)
            schedule = hvd.callbacks.LearningRateScheduleCallback(**options)
            """,
            reason="it is passed, or may be",
        ),
    ),
)
