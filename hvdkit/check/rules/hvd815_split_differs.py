"""HVD815: each rank splits training from validation data by its own random numbers."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, programs
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.random_splits import can_write, unseeded_splits
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        if not calls_in(facts, program, "DistributedOptimizer"):
            continue
        for site, text in unseeded_splits(facts, program):
            message = "each rank splits the data its own way: what one validates on, another trains on"
            if can_write(site, text):
                make = (edits.add_arguments, site.names.source, site.node, [text])
                yield suggested(facts, "HVD815", site.names, site.node, message, *make)
            else:
                yield manual("HVD815", site.names, site.node, message, f"pass {text}")


RULE = Rule(
    id="HVD815",
    title="each rank splits the data its own way",
    what=(
        "Every rank draws another validation set. What one rank holds back the others train on, so the "
        "validation score is that of data the model has seen."
    ),
    why="the split is random, and without a seed each process has its own random numbers.",
    safety="Suggested: a fixed seed for the split. A program that sets any seed is left alone.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from sklearn.model_selection import train_test_split

            hvd.init()
            train, test = train_test_split(data, test_size=0.2)
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            """\
            import horovod.torch as hvd
            from sklearn.model_selection import train_test_split

            hvd.init()
            train, test = train_test_split(data, test_size=0.2, random_state=0)
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from sklearn.model_selection import train_test_split

            hvd.init()
            train, test = train_test_split(data, random_state=42)
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            reason="the split is the same on every rank",
        ),
    ),
)
