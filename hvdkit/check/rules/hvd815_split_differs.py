"""HVD815: each rank splits, orders or picks the data by its own random numbers."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, programs
from hvdkit.check.orders import disordered_shards, picked_apart
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.random_splits import PICKS, can_write, unseeded_splits
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.drawn_alike import drawn_alike

OVERLAP = "shares cut from this overlap, and leave some of the data out"


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        if not calls_in(facts, program, "DistributedOptimizer", "DistributedGradientTape"):
            continue
        for site, text in unseeded_splits(facts, program):
            message = (
                "each rank splits the data differently: one rank validates on samples that another trains on"
            )
            if can_write(site, text):
                make = (edits.add_arguments, site.names.source, site.node, [text])
                yield suggested(facts, "HVD815", site.names, site.node, message, *make)
            else:
                yield manual("HVD815", site.names, site.node, message, f"pass {text}")
        draws, sets = picked_apart(facts, program)
        for names, node in sets:
            message = f"each rank lists this set in a different order: {OVERLAP}"
            sort = (edits.wrap, names.source, node, "sorted(", ")")
            yield suggested(facts, "HVD815", names, node, message, *sort)
        for site in draws:
            message = f"each rank draws a different order or sample here: {OVERLAP}"
            if site.name in PICKS:
                yield suggested(facts, "HVD815", site.names, site.node, message, drawn_alike, facts, site)
            else:
                yield manual("HVD815", site.names, site.node, message, "give it the same seed on every rank")
        for names, call, why in disordered_shards(facts, program):
            message = f"{why}: {OVERLAP}"
            yield manual("HVD815", names, call, message, "shard first, and shuffle each rank's share")


RULE = Rule(
    id="HVD815",
    title="each rank splits or orders the data differently",
    what=(
        "Every rank draws a different validation set. The others train on what one rank holds out, so "
        "the validation score is on data the model has seen. Shares that are cut from such an order overlap."
    ),
    why="the split or order is random, and without a common seed each process has its own random numbers.",
    safety="Suggested: a fixed seed for it. A program that seeds the library identically on all ranks is left alone.",
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
