"""HVD815: each rank splits training from validation data by its own random numbers."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, programs, unpacks
from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import keyword
from hvdkit.migrate.facts.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

# function -> the argument that fixes its random numbers, and what to give
SPLITS = {
    "sklearn.model_selection.train_test_split": ("random_state", "random_state=0"),
    "torch.utils.data.random_split": ("generator", "generator=torch.Generator().manual_seed(0)"),
}


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        if _seeded(program) or not calls_in(facts, program, "DistributedOptimizer"):
            continue
        for site in facts.calls(*SPLITS):
            parameter, text = SPLITS[site.name]
            shuffle = keyword(site.node, "shuffle")
            if site.names not in program.files or unpacks(site.node) or shuffle is not None:
                continue
            if keyword(site.node, parameter) is not None:
                continue
            message = "each rank splits the data its own way: what one validates on, another trains on"
            if parameter == "generator" and "torch" not in site.names.module.names:
                yield facts.manual("HVD815", site.names, site.node, message, f"pass {text}")
            else:
                yield facts.suggested(
                    "HVD815",
                    site.names,
                    site.node,
                    message,
                    edits.add_arguments,
                    site.names.source,
                    site.node,
                    [text],
                )


def _seeded(program: ProgramFacts) -> bool:
    """Whether anything in the program sets a seed."""
    return any("seed" in name for names in program.files for name in names.calls)


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
        Keep(
            """\
            import horovod.torch as hvd
            import numpy
            from sklearn.model_selection import train_test_split

            hvd.init()
            numpy.random.seed(1)
            train, test = train_test_split(data)
            optimizer = hvd.DistributedOptimizer(optimizer)
            """,
            reason="a seed is set",
        ),
    ),
)
