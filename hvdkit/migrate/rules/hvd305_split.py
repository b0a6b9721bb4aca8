"""HVD305: a split, an order or a sample that is drawn once is the same on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, restored
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.folder_orders import folder_orders, sortable
from hvdkit.migrate.facts.data.made_from import Samples, dataset_sources
from hvdkit.migrate.facts.data.picks import picks_behind
from hvdkit.migrate.facts.data.random_splits import (
    LIBRARY,
    LIBRARY_OF,
    can_write,
    seeded_on_demand,
    unseeded_picks,
    unseeded_shuffles,
    unseeded_splits,
)
from hvdkit.migrate.facts.data.set_orders import set_orders
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.keras.vocabulary import KINDS
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.facts.tensorflow.samples import pipeline_sources
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.drawn_alike import drawn_alike, drawn_by_rank_0, seeded_there, split_by_rank_0


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs_of(facts):
        if program.kind in ("single", "ddp") and training_paths(facts, program):
            yield from _program(facts, program, list(dataset_sources(facts, program)))
        elif program.kind in KINDS:
            yield from _program(facts, program, list(pipeline_sources(facts, program)))


def _program(facts: Facts, program: ProgramFacts, samples: Samples) -> Iterator[Finding]:
    fixed: set[ast.AST] = set()
    for site, text in unseeded_splits(facts, program):
        fixed.add(site.node)
        yield _split(facts, program, site, text)
    message = (
        "each rank would shuffle the data differently: one rank would test on samples that another trains on"
    )
    for names, call in unseeded_shuffles(facts, program):
        line = "torch.manual_seed(0)"
        if "torch" in names.module.names:
            statement = names.statement(call)
            make_line = (edits.before, names.source, statement, [line])
            yield restored(facts, "HVD305", names, call, message, *make_line)
        else:
            yield manual("HVD305", names, call, message, f"call {line} above it")
    for site in unseeded_picks(facts, program):
        fixed.add(site.node)
        message = "each rank would draw this separately: what is split or computed with it differs"
        make_pick = drawn_alike
        if LIBRARY_OF[site.name] in seeded_on_demand(facts, program):
            message += ", unless it is started with a seed"
            make_pick = drawn_by_rank_0
        yield restored(facts, "HVD305", site.names, site.node, message, make_pick, facts, site)
    for site in picks_behind(facts, program, samples)[0]:
        if site.node not in fixed:
            message = "each rank would draw this separately: the samples that are divided differ"
            yield restored(facts, "HVD305", site.names, site.node, message, seeded_there, site)
    for names, each in set_orders(facts, program):
        message = "the order of a set of strings differs from rank to rank, and so does any numbering by it"
        sort = (edits.wrap, names.source, each, "sorted(", ")")
        yield restored(facts, "HVD305", names, each, message, *sort)
    for names, call in folder_orders(facts, program, samples):
        message = "hosts list a folder in different orders, so the samples that are divided differ"
        sort = (edits.wrap, names.source, call, "sorted(", ")")
        if sortable(names, call):
            yield restored(facts, "HVD305", names, call, message, *sort)
        else:
            advice = (
                "sort what it gives: `for root, folders, files in sorted(os.walk(...))`, then `sorted(files)`"
            )
            yield manual("HVD305", names, call, message, advice)


def _split(facts: Facts, program: ProgramFacts, site: Site, text: str) -> Finding:
    message = "each rank would split the data differently: one rank would validate on samples that another trains on"
    if LIBRARY[site.name] in seeded_on_demand(facts, program):
        message += ", unless it is started with a seed"
        return restored(facts, "HVD305", site.names, site.node, message, split_by_rank_0, facts, site)
    if can_write(site, text):
        make = (edits.add_arguments, site.names.source, site.node, [text])
        return restored(facts, "HVD305", site.names, site.node, message, *make)
    return manual("HVD305", site.names, site.node, message, f"pass {text}")


RULE = Rule(
    id="HVD305",
    title="what is picked by random numbers is the same on every rank",
    what=(
        "Gives train_test_split and random_split a fixed seed where their library has none in the program, "
        "and sets one above the shuffle() of a dataset of PyTorch Geometric and above its random splits of "
        "a graph. What random, numpy or torch.randperm pick or order once, outside loops, is drawn from its "
        "own seeded generator; so is what is compared with random numbers, as in `rand(len(data)) < 0.8`. "
        "Rows that pandas or scikit-learn sample get a random_state, and what a loop draws for the samples a "
        "seed above the loop. Where an option may set a seed, rank 0 draws and broadcasts the result. A set "
        "that is listed or numbered once is sorted, and so are the files of a folder that become samples."
    ),
    why=(
        "Each rank is a process with its own random numbers: it would hold out different samples than the "
        "others, and the validation score would be on data the model has seen. A mean or a name computed "
        "from such a sample would differ, too."
    ),
    safety=(
        "Safe for a single-process script: what differed from run to run is now the same in every run. "
        "Needed for a distributed script, whose ranks already drew different samples."
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
        ),
    ),
    keeps=(
        Keep(
            """\
            import numpy as np
            import torch
            from sklearn.model_selection import train_test_split

            np.random.seed(1)
            train, test = train_test_split(data)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
            """,
            reason="a seed is set for what draws the split",
        ),
    ),
)
