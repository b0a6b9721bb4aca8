"""The rates that frameworks take where a script gives none: the tables against the frameworks themselves."""

from __future__ import annotations

import inspect

import pytest
import torch

from hvdkit.migrate.facts.optimizers.learning_rates import DEFAULTS


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_of_torch(name: str) -> None:
    optimizer = getattr(torch.optim, name.removeprefix("torch.optim."))
    assert inspect.signature(optimizer).parameters["lr"].default == DEFAULTS[name]
