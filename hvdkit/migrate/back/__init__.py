"""The rules of the way back, one file each: a script that uses Horovod becomes one of torch.distributed."""

from __future__ import annotations

from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.catalog.rule_files import TO_DDP, load


def all_rules() -> tuple[Rule, ...]:
    """Every rule in the order of its number."""
    return load(TO_DDP)
