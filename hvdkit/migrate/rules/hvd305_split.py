"""HVD305: a random split of the data is the same on every rank."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, restored
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.random_splits import (
    GENERATOR,
    can_write,
    unseeded_orders,
    unseeded_shuffles,
    unseeded_splits,
)
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs_of(facts):
        if program.kind not in ("single", "ddp") or not training_paths(facts, program):
            continue
        for site, text in unseeded_splits(facts, program):
            message = "each rank would split the data its own way: what one validates on, another trains on"
            if can_write(site, text):
                make = (edits.add_arguments, site.names.source, site.node, [text])
                yield restored(facts, "HVD305", site.names, site.node, message, *make)
            else:
                yield manual("HVD305", site.names, site.node, message, f"pass {text}")
        message = "each rank would shuffle the data its own way: what one tests on, another trains on"
        for names, call in unseeded_shuffles(facts, program):
            line = "torch.manual_seed(0)"
            if "torch" in names.module.names:
                statement = names.statement(call)
                make_line = (edits.before, names.source, statement, [line])
                yield restored(facts, "HVD305", names, call, message, *make_line)
            else:
                yield manual("HVD305", names, call, message, f"call {line} above it")
        for site in unseeded_orders(facts, program):
            on_device = any(keyword.arg == "device" for keyword in site.node.keywords)
            if site.name == "torch.randperm" and not on_device and can_write(site, GENERATOR):
                make = (edits.add_arguments, site.names.source, site.node, [GENERATOR])
                yield restored(facts, "HVD305", site.names, site.node, message, *make)
            else:
                advice = "draw it by a generator that has the same seed on all ranks"
                yield manual("HVD305", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD305",
    title="a random split is the same on every rank",
    what=(
        "Gives train_test_split and random_split a fixed seed in a program that sets none, and sets one above the "
        "shuffle() of a dataset of PyTorch Geometric, and above its random splits of a graph. A torch.randperm() that is cut in two gets one as well."
    ),
    why=(
        "Each rank is a process with random numbers of its own: it would hold back other samples than the rest, "
        "and the validation score would be that of data the model has seen."
    ),
    safety=(
        "Needed: the split was another one in each run, and is the same in all of them then. A program that "
        "sets any seed is left alone."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from sklearn.model_selection import train_test_split

            train, test = train_test_split(data, test_size=0.1)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import torch
            from sklearn.model_selection import train_test_split

            train, test = train_test_split(data, test_size=0.1, random_state=0)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from sklearn.model_selection import train_test_split

            torch.manual_seed(1)
            train, test = train_test_split(data)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
            """,
            reason="a seed is set",
        ),
    ),
)
