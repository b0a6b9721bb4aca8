"""The rules, one file each, found by their file names (hvd101_init.py holds HVD101)."""

from __future__ import annotations

from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.catalog.rule_files import load
from hvdkit.source.project.files import Project

# The series that look at programs of other frameworks than PyTorch, and what such a program mentions.
FRAMEWORKS = {"HVD7": ("tensorflow", "keras")}


def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number, which is the order in which their insertions are stacked."""
    return load("migrate")


def rules_for(project: Project) -> tuple[Rule, ...]:
    """The rules that can find something in a project; of the others not even the files are loaded."""
    return load("migrate", *(series for series, words in FRAMEWORKS.items() if not project.mentions(*words)))
