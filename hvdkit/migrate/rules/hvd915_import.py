"""HVD915: an import that may mean one of several files of the project is refused: half a program would be rewritten."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

WANTED = "`{name}` may be {files}: PYTHONPATH decides which of them when the program starts"
TELL = (
    "set the same PYTHONPATH in all scripts next to the program, or run hvdkit migrate on the program with "
    "the one file that it uses"
)
IMPORTED = "a program imports `{name}`, which may be this file: {files}"


def check(facts: Facts) -> Iterator[Finding]:
    imported = {module for names in facts.files for module in facts.project.imports(names)}
    for (importer, name), candidates in sorted(facts.project.unsettled.items()):
        names = facts.project.files.get(importer)
        here = [facts.project.files[path] for path in candidates if path in facts.project.files]
        if names is None or not here:
            continue
        message = WANTED.format(name=name, files=_listed(candidates))
        yield refused("HVD915", names, _statement(names, name), message, TELL)
        for other in here:
            if other not in imported:  # another program's own file stays that program's
                message = IMPORTED.format(name=name, files=_listed(candidates))
                yield refused("HVD915", other, other.source.tree.body[0], message, TELL)


def _statement(names: Names, name: str) -> ast.AST:
    """The import of a module."""
    return next(
        (binding.node for _, binding in names.imports if binding.qualified.startswith(name)),
        names.source.tree.body[0],
    )


def _listed(candidates: Sequence[Path]) -> str:
    around = os.path.commonpath([path.parent for path in candidates])
    *first, last = (os.path.relpath(path, around) for path in candidates)
    return f"{', '.join(first)} or {last}"


RULE = Rule(
    id="HVD915",
    title="an import that may mean several files is refused",
    what=(
        "Refuses a program with an import that may mean several files of the project, because they have "
        "that name and define all the names imported from it, and no script next to the program sets a "
        "PYTHONPATH that selects one."
    ),
    why=(
        "Optimizers, samplers and prints in the file that the program does not use would be rewritten for "
        "it, and those in the file that it does use would not."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from solver import Solver

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            Solver(model, optimizer).train(batches)
            """,
            files=(
                ("a/solver.py", "import torch\n\nclass Solver:\n    pass\n"),
                ("b/solver.py", "import torch\n\nclass Solver:\n    pass\n"),
            ),
            reason="PYTHONPATH decides at start-up which of the two solver.py is used",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from solver import Solver

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            Solver(model, optimizer).train(batches)
            """,
            files=(
                ("a/solver.py", "import torch\n\nclass Solver:\n    pass\n"),
                ("b/solver.py", "import torch\n\nclass Solver:\n    pass\n"),
                ("run.sh", "PYTHONPATH=a python train.py\n"),
            ),
            reason="run.sh sets which one is used",
        ),
    ),
)
