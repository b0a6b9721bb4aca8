"""What a program makes with sparse gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.source.index.names import Names


def sparse_gradients(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call]]:
    """What a program makes with sparse gradients, which are no plain tensors."""
    for names in program.files:
        for call in names.of_kind(ast.Call):
            if is_on(keyword(call, "sparse")) and runs_in(facts, program, names, call):
                yield names, call
